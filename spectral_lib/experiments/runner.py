"""Train the grid: a few workers, one model each at a time, safe to stop at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path

from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.state import (
    DamagedStateError,
    OtherRunError,
    discard,
    read_state,
    run_digest,
)
from spectral_lib.experiments.worker import Worker

#: Called with a recipe and its number of steps done.
Report = Callable[[Recipe, int], None]


def steps_done(
    folder: Path,
    recipes: Sequence[Recipe],
    tokens: str,
    say: Callable[[str], None],
    restart: bool = False,
) -> dict[Recipe, int]:
    """Return how many steps of each model are stored; discard the states that are damaged.

    Parameters
    ----------
    folder, recipes
        Where the run lives, and what it trains.
    tokens
        Digest of its text.
    say
        Called with one line for each state that is discarded.
    restart
        Whether to discard states of other recipes or of another text, rather than to refuse.

    Raises
    ------
    OtherRunError
        There is one, and ``restart`` is false. Nothing has been discarded.
    """
    done: dict[Recipe, int] = {}
    lost: dict[Recipe, str] = {}
    for recipe in recipes:
        try:
            state = read_state(folder / recipe.name, run_digest(recipe, tokens))
        except (DamagedStateError, OtherRunError) as error:
            if isinstance(error, OtherRunError) and not restart:
                raise OtherRunError(
                    f"{error}; discard them (--restart), or train in another folder (--folder)"
                ) from None
            lost[recipe], state = str(error), None
        done[recipe] = 0 if state is None else state.step
    for recipe, reason in lost.items():
        say(f"{reason}; {recipe.name} is trained from its first step")
        discard(folder / recipe.name)
    return done


def train_grid(folder: Path, recipes: Sequence[Recipe], workers: int, report: Report) -> None:
    """Train the models, each in its own folder under ``folder``, which holds the text of the run.

    Whatever ends this function early, Ctrl-C included, the workers store their states first.
    Workers whose parent was killed store and end too.

    Raises
    ------
    TrainingError
        A worker died.
    SpectralLibError, OSError, MemoryError
        A worker could not go on.
    """
    waiting = iter(recipes)
    with _crew(folder, min(workers, len(recipes))) as crew:
        busy = {worker.connection: worker for worker in crew}
        for worker in crew:
            worker.begin(next(waiting))
        while busy:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                recipe, steps = worker.recipe, worker.receive()
                assert recipe is not None
                report(recipe, steps)
                if steps == recipe.steps:
                    following = next(waiting, None)
                    if following is None:
                        del busy[worker.connection]
                    else:
                        worker.begin(following)


@contextmanager
def _crew(folder: Path, size: int) -> Iterator[list[Worker]]:
    crew: list[Worker] = []
    try:
        for _ in range(size):
            crew.append(Worker(folder))
        yield crew
    finally:
        for worker in crew:
            worker.stop()
        failures = [failure for worker in crew if (failure := worker.join())]
        if failures:  # also when interrupted: not everything is stored
            raise failures[0]
