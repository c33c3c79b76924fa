"""Wait for an answer, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, ask: Callable[[], T]) -> T:
    """Return what ``ask`` does; wait ``seconds`` and no longer, whatever a server says or drips.

    HTTP libraries bound each read but not their number, and the hub's obeys any Retry-After.

    Raises
    ------
    TimeoutError
        No answer in time.
    """
    found: list[T] = []
    failure: list[BaseException] = []

    def answer() -> None:
        try:
            found.append(ask())
        except BaseException as error:  # raised again below, in the thread that asked
            failure.append(error)

    thread = threading.Thread(target=answer, daemon=True)  # not waited for at exit
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError(f"no answer within {seconds:g} s")
    if failure:
        raise failure[0]
    return found[0]
