"""What a process is given and may lose: its standard streams, and its life."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TextIO

from spectral_lib.errors import one_line


def sound_streams() -> None:
    """Give closed streams somewhere to write, and let no character fail to be written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started this process: wants no output
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            escaping = stream.errors == "surrogateescape" and stream.encoding != "utf-8"
            if stream.errors == "strict" or escaping:
                stream.reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Send the rest of a stream nowhere: its reader went away, or its disk is full.

    The file descriptor is replaced, not the object, so that the interpreter, which flushes at
    exit, neither complains nor changes the exit code.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def note(line: str) -> None:
    """Tell on stderr how the work goes on; it does so too where nobody can be told any more."""
    try:
        print(one_line(line, limit=600), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def settle_streams() -> None:
    """Flush the standard streams, and discard what cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)


@contextmanager
def unwinding_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack, so that no temporary file stays behind.

    The exit code is the shell's, 128 plus the signal's number.
    """
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    ours: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _exit)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
