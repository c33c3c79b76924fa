"""Checkpoints that come with the library: models of the trained grid."""

from __future__ import annotations

import re
from pathlib import Path

#: The trained grid as package data: manifest, spectra, losses, and the weights of two models.
GRID = Path(__file__).resolve().parents[1] / "data" / "grid"


def bundled_names() -> tuple[str, ...]:
    """Return the names of the checkpoints that come with the library, as in ``grid/L2-N32``."""
    found = (path.parent.name for path in GRID.glob("weights/*/config.json"))
    return tuple(f"grid/{name}" for name in sorted(found))


def names_a_grid_model(name: str) -> bool:
    """Return whether a name is one that the grid gives its models, with weights here or not."""
    return re.fullmatch(r"grid/L\d+-N\d+", name, re.ASCII | re.IGNORECASE) is not None


def bundled_directory(name: str) -> Path:
    """Return the directory of a checkpoint that comes with the library."""
    return GRID / "weights" / name.removeprefix("grid/")
