"""Families of encoders: the trained grid, the packaged checkpoints, the paper's miniatures."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from platformdirs import user_cache_path

from spectral_lib.checkpoints import PACKAGED
from spectral_lib.errors import DomainError
from spectral_lib.families.family import Family, LossCurve
from spectral_lib.families.folder import read_family
from spectral_lib.loading import load

__all__ = ["FAMILIES", "Family", "LossCurve", "cache_folder", "chosen_family", "load_family"]

#: Names of the families, and what each is.
FAMILIES = {
    "grid": "24 small BERTs trained here, not the paper's checkpoints",
    "miniatures": "the paper's checkpoints, fetched from a model hub",
    "packaged": "two pretrained encoders that come inside Python packages",
}

#: Environment variable that chooses the family of the book's experiments.
SWITCH = "SPECTRAL_LIB_FAMILY"


def load_family(name: str) -> Family:
    """Load a family by its name.

    ``"grid"`` comes with the library; ``"packaged"`` is computed from the installed weights;
    ``"miniatures"`` must have been fetched (``spectral-lib grid fetch miniatures``).

    Raises
    ------
    DomainError
        There is no family of this name.
    StaleFileError
        Its files are missing or damaged.
    MissingExtraError
        The packages with the weights are not installed.
    """
    if name == "packaged":
        members = tuple(load(model) for model in PACKAGED)
        return Family(name, FAMILIES[name], members)
    if name in FAMILIES:
        return read_family(family_folder(name))
    raise DomainError(f"there is no family {name!r}, only {', '.join(FAMILIES)}")


def chosen_family() -> Family:
    """Load the family that the environment variable SPECTRAL_LIB_FAMILY names, else the grid.

    The one place that reads the switch.
    """
    return load_family(os.environ.get(SWITCH) or "grid")


def family_folder(name: str) -> Path:
    """Return the folder of a stored family: package data for the grid, else the user's cache."""
    if name == "grid":
        return Path(str(files("spectral_lib") / "data" / "grid"))
    return cache_folder() / name


def cache_folder() -> Path:
    """Return where the library keeps what can be computed or fetched again."""
    return user_cache_path("spectral-lib", appauthor=False)
