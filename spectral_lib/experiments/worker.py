"""A process that trains one model after another, and stores its state whenever it must end."""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from spectral_lib.errors import SpectralLibError, one_line
from spectral_lib.experiments.locks import working
from spectral_lib.experiments.preparation import read_prepared
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.state import TrainingError

#: Steps between two reports.
REPORT_EVERY = 5

#: They ask a worker to store and stop; Ctrl-C and a closed terminal reach all processes at once.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Worker:
    """The parent's end of a worker.

    The two talk over a pipe of their own: no lock is shared, so that a worker that is killed
    at any moment can hold up nobody. A closed pipe tells either that the other is gone.
    """

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs, folder), daemon=True)
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # until it has its handlers
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self.recipe: Recipe | None = None

    def begin(self, recipe: Recipe) -> None:
        """Give the worker a model to train."""
        self.recipe = recipe
        with suppress(OSError):  # it died: the next receive says so
            self.connection.send(recipe)

    def receive(self) -> int:
        """Return the next number of steps that are done.

        Raises
        ------
        SpectralLibError, OSError, MemoryError
            What ended the training, in one line.
        """
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            raise TrainingError(self._epitaph()) from None
        if isinstance(message, Exception):
            raise message
        return int(message)

    def stop(self) -> None:
        """Ask the worker to store its state and end; nothing where it has."""
        with suppress(OSError):
            self.connection.send(None)

    def join(self) -> Exception | None:
        """Wait until the worker has ended; return why its last state could not be stored."""
        failure = None
        with self.connection, suppress(EOFError, OSError):
            while True:
                message = self.connection.recv()
                failure = message if isinstance(message, Exception) else failure
        self.process.join()
        return failure

    def _epitaph(self) -> str:
        name = self.recipe.name if self.recipe else "no model"
        code = self.process.exitcode
        if code == -signal.SIGKILL:
            how = "was killed, as the system does when memory runs out"
        elif code == 0:
            how = "was asked to stop"
        elif code is not None and code < 0:
            how = f"was ended by signal {-code}"
        else:
            how = f"ended with status {code}"
        return f"the process that trained {name} {how}; run the command again to go on"


def work(connection: Connection, folder: Path) -> None:
    """Train the models that come through the connection, until none comes any more."""
    asked: list[int] = []
    for number in STOPPING:
        signal.signal(number, lambda received, frame: asked.append(received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    with connection, working(folder), suppress(EOFError, OSError):  # the parent may be gone
        try:
            _train_all(connection, folder, asked)
        except (SpectralLibError, OSError, MemoryError) as error:
            connection.send(error)
        except (RuntimeError, ImportError) as error:  # torch: out of memory, or does not load
            connection.send(TrainingError(f"torch cannot go on: {one_line(error)}"))


def _train_all(connection: Connection, folder: Path, asked: list[int]) -> None:
    tokens = read_prepared(folder).tokens
    from spectral_lib.experiments.training import train

    while not asked and (recipe := connection.recv()) is not None:

        def watch(step: int, last: int = recipe.steps) -> bool:
            if step % REPORT_EVERY == 0 and step < last:
                with suppress(OSError):
                    connection.send(step)
            return bool(asked) or connection.poll()

        if train(recipe, tokens, folder / recipe.name, watch).step < recipe.steps:
            return
        connection.send(recipe.steps)
