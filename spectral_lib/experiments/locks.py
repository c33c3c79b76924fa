"""One run at a time in a folder. A lock ends with the process that holds it, however it ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spectral_lib.experiments.state import TrainingError
from spectral_lib.files import TEMPORARY


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder of a run, make it if need be, and clear what killed processes left there.

    Workers outlive a parent that was killed by as long as it takes to store their states; they
    are waited for.

    Raises
    ------
    TrainingError
        Another run holds the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TrainingError(
                f"{folder}: another run is at work here; wait for it, or give another --folder"
            ) from None
        with _workers_lock(folder, fcntl.LOCK_EX):
            for left in (*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"*/{TEMPORARY}*")):
                if not left.is_dir():  # a family that was not finished is its publisher's
                    left.unlink(missing_ok=True)
        yield


@contextmanager
def working(folder: Path) -> Iterator[None]:
    """Hold the folder as one of the workers of its run."""
    with _workers_lock(folder, fcntl.LOCK_SH):
        yield


@contextmanager
def _workers_lock(folder: Path, operation: int) -> Iterator[None]:
    with (folder / "workers.lock").open("w") as lock:
        fcntl.flock(lock, operation)
        yield
