"""``spectral-lib grid train``: train the grid, or go on training it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectral_lib.cli.streams import note


def train(
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where the states live; the user's cache if not given.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Models trained at the same time, one thread each.")
    ] = 2,
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Train these alone, as in L2-N32,L4-N64, and publish nothing.", show_default=False
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Steps of each model, for a rehearsal.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where the finished family goes; a folder beside the states if not given.",
            show_default=False,
        ),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Extract the text again; discard states of another recipe or text."
        ),
    ] = False,
) -> None:
    """Train the 24 small BERTs, about 100 minutes on two cores, and publish them as a family.

    Stop it at any moment with Ctrl-C; the same command goes on.
    """
    from spectral_lib.cli.grid.display import progress
    from spectral_lib.errors import DomainError
    from spectral_lib.experiments import recipe
    from spectral_lib.experiments.locks import alone
    from spectral_lib.experiments.placing import check_family_output
    from spectral_lib.experiments.preparation import prepare, require_packages
    from spectral_lib.experiments.publication import publish
    from spectral_lib.experiments.runner import steps_done, train_grid
    from spectral_lib.families import cache_folder

    whole = recipe.grid()
    if steps is not None:
        whole = tuple(recipe.rehearsal(one, steps) for one in whole)
    names = [name for value in models or [] for name in value.replace(",", " ").split()]
    if models and not names:  # not the whole grid, which an empty variable would cost hours
        raise DomainError("--models names no model, expected names as in L2-N32,L4-N64")
    chosen = recipe.select(whole, names)
    if folder is None:
        # A rehearsal does not get in the way of the real run.
        folder = cache_folder() / ("grid" if whole == recipe.grid() else f"grid-{steps}-steps")
    output = output or folder / "family"
    check_family_output(output, folder)
    require_packages()

    with alone(folder):
        prepared = prepare(folder, whole[0].vocabulary, note, again=restart)
        done = steps_done(folder, chosen, prepared.tokens.digest, note, restart)
        left = [one for one in chosen if done[one] < one.steps]
        note(f"{len(left)} of {len(chosen)} models to train; states in {folder}")
        try:
            with progress(done) as report:
                train_grid(folder, left, workers, report)
        except KeyboardInterrupt:
            note("Interrupted; the states are stored: the same command goes on.")
            raise typer.Exit(130) from None
        if set(chosen) < set(whole):
            note("Trained. A part of the grid is not published.")
            return
        publish(folder, whole, prepared, output)
        note(f"The family: {output}")
