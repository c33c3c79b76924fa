"""Checkpoints that come with the library: models of the trained grid."""

from __future__ import annotations

from pathlib import Path

#: The trained grid as package data: manifest, spectra, losses, and the weights of two models.
GRID = Path(__file__).resolve().parents[1] / "data" / "grid"


def bundled_names() -> tuple[str, ...]:
    """Return the names of the checkpoints that come with the library, as in ``grid/L2-N32``."""
    found = (path.parent.name for path in GRID.glob("weights/*/config.json"))
    return tuple(f"grid/{name}" for name in sorted(found))


def bundled_directory(name: str) -> Path:
    """Return the directory of a checkpoint that comes with the library."""
    return GRID / "weights" / name.removeprefix("grid/")
