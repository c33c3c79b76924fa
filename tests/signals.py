"""Signals of the processes that tests start."""

from __future__ import annotations

import signal
from collections.abc import Callable


def sound(number: int = signal.SIGINT) -> Callable[[], None]:
    """Return what gives a new process the handler of a shell's foreground job.

    For ``preexec_fn``. Tests that are run in the background inherit an ignored Ctrl-C.
    """
    handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL

    def restore() -> None:
        signal.signal(number, handler)

    return restore
