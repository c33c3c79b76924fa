"""``spectral-lib grid fetch``: the paper's checkpoints, reduced to their spectra."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spectral_lib.cli.streams import note

if TYPE_CHECKING:
    from spectral_lib.families.fetching import Watch


class Fetched(StrEnum):
    """The families that come from a hub."""

    MINIATURES = "miniatures"


def fetch(
    family: Annotated[Fetched, typer.Argument(help="The family to fetch.", show_default=False)],
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this model, as in L-2_H-128_A-2; may be given several times.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[bool, typer.Option(help="Keep the checkpoints; else they are deleted.")] = (
        False
    ),
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where the family is stored; its usual place if not given.", show_default=False
        ),
    ] = None,
) -> None:
    """Fetch the paper's 24 checkpoints one at a time, and store their spectra.

    What is stored is not fetched again; after an interruption the same command goes on.
    """
    from spectral_lib.errors import HubError
    from spectral_lib.families import family_folder
    from spectral_lib.families.miniatures import MINIATURES, miniature

    place = family_folder(family) if folder is None else folder
    chosen = tuple(dict.fromkeys(map(miniature, models))) if models else MINIATURES
    try:
        failures = fetch_into(place, chosen, keep=keep)
    except KeyboardInterrupt:
        note("Interrupted: the same command goes on from here.")
        raise
    print(f"{len(chosen) - len(failures)} of {len(chosen)} models are in {place}")
    if failures:
        raise HubError(without(failures))


def fetch_into(folder: Path, models: tuple[str, ...], *, keep: bool = False) -> dict[str, str]:
    """Fetch the models, showing the progress; return why some could not be had."""
    from spectral_lib.families.fetching import fetch_miniatures

    with _progress() as watch:
        return fetch_miniatures(folder, models, keep=keep, watch=watch)


def without(failures: dict[str, str]) -> str:
    """Say in one line which models are missing, and why the first of them is."""
    from spectral_lib.families.miniatures import short_name

    names = ", ".join(map(short_name, failures))
    return f"{len(failures)} missing: {names}; {next(iter(failures.values()))}"


@contextmanager
def _progress() -> Iterator[Watch]:
    """Yield a watch that draws two bars on a terminal, and else writes a line a model."""
    from spectral_lib.families.fetching import DOWNLOAD, STORED
    from spectral_lib.families.miniatures import short_name

    if not sys.stderr.isatty():

        def write(model: str, what: str, done: int, total: int) -> None:
            if what == STORED:
                note(f"{short_name(model)} is stored ({done} of {total})")

        yield write
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bars:
        whole = bars.add_task("models", total=None, count="")
        one = bars.add_task("", total=None, count="")
        current = ("", "")

        def draw(model: str, what: str, done: int, total: int) -> None:
            nonlocal current
            if what == STORED:
                bars.update(whole, completed=done, total=total, count=f"{done}/{total}")
                return
            if (model, what) != current:  # another thing to do: its speed is its own
                current = (model, what)
                bars.reset(one, description=f"{short_name(model)}: {what}", total=total, count="")
            megabytes = f"{done / 1e6:.1f}/{total / 1e6:.1f} MB"
            count = megabytes if what == DOWNLOAD else f"{done}/{total} layers"
            bars.update(one, completed=done, count=count)

        yield draw
