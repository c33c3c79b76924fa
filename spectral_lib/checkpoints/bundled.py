"""Checkpoints that come with the library: models of the trained grid."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from spectral_lib.errors import CheckpointError, one_line

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
    """Return the directory of a checkpoint that comes with the library.

    Raises
    ------
    CheckpointError
        Its files are not those that the grid's manifest names.
    """
    directory = GRID / "weights" / name.removeprefix("grid/")
    try:
        known = json.loads((GRID / "manifest.json").read_text(encoding="utf-8"))["files"]
        for file in ("config.json", "model.safetensors"):
            found = hashlib.sha256((directory / file).read_bytes()).hexdigest()
            if found != known[f"weights/{directory.name}/{file}"]:
                raise ValueError(f"the SHA-256 of {file} is not the one in manifest.json")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{one_line(directory)}: damaged ({one_line(error, 160)}); install the library again"
        ) from error
    return directory
