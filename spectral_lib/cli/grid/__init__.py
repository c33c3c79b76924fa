"""``spectral-lib grid``: train the grid, fetch the paper's checkpoints."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="grid",
    help="Train the grid of small BERTs, or fetch the paper's checkpoints.",
    no_args_is_help=True,
)
