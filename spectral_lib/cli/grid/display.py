"""How far a training run is: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spectral_lib.cli.streams import note

if TYPE_CHECKING:
    from spectral_lib.experiments.recipe import Recipe
    from spectral_lib.experiments.runner import Report

#: Plain lines a model.
LINES = 10


@contextmanager
def progress(done: Mapping[Recipe, int]) -> Iterator[Report]:
    """Yield what shows on stderr that a model has done so many steps.

    Parameters
    ----------
    done
        All models of the run, and their steps done before it.
    """
    if sys.stderr.isatty():
        with _bars(done) as report:
            yield report
    else:
        yield _lines(dict(done))


def _lines(done: dict[Recipe, int]) -> Report:
    def report(recipe: Recipe, steps: int) -> None:
        if steps * LINES // recipe.steps > done[recipe] * LINES // recipe.steps:
            note(f"{recipe.name}: {steps} of {recipe.steps} steps")
        done[recipe] = steps

    return report


@contextmanager
def _bars(done: Mapping[Recipe, int]) -> Iterator[Report]:
    """Show one line a running model, and one for the whole, weighted by what a step costs."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    costs = {recipe: recipe.cost * steps / recipe.steps for recipe, steps in done.items()}
    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]:<16}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=300) as bars:
        whole = bars.add_task("grid", total=math.fsum(recipe.cost for recipe in done), note="")
        bars.update(whole, completed=math.fsum(costs.values()))
        running: dict[Recipe, TaskID] = {}

        def report(recipe: Recipe, steps: int) -> None:
            if recipe not in running:
                running[recipe] = bars.add_task(recipe.name, total=recipe.steps, note="")
            costs[recipe] = recipe.cost * steps / recipe.steps
            finished = len([one for one, spent in costs.items() if spent >= one.cost])
            note = f"{finished}/{len(costs)} models"
            bars.update(whole, completed=math.fsum(costs.values()), note=note)
            bars.update(running[recipe], completed=steps, note=f"{steps}/{recipe.steps} steps")
            if steps == recipe.steps:
                bars.remove_task(running.pop(recipe))

        yield report
