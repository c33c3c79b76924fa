"""``spectral-lib grid``: train the grid, fetch the paper's checkpoints."""

from __future__ import annotations

import typer

from spectral_lib.cli.grid.fetch import fetch
from spectral_lib.cli.grid.train import train

app = typer.Typer(
    name="grid", help="Train the grid of small BERTs, or fetch the paper's checkpoints."
)
app.command()(train)
app.command()(fetch)
