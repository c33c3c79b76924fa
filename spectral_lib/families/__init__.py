"""Families of encoders: the trained grid, the packaged checkpoints, the paper's miniatures."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from spectral_lib.checkpoints import GRID, PACKAGED
from spectral_lib.errors import DomainError, StaleFileError, one_line
from spectral_lib.families.family import Family, LossCurve
from spectral_lib.families.folder import MANIFEST, file_sha256, read_family
from spectral_lib.loading import load

__all__ = [
    "FAMILIES",
    "SWITCH",
    "Family",
    "LossCurve",
    "cache_folder",
    "chosen_family",
    "chosen_name",
    "chosen_version",
    "family_folder",
    "load_family",
]

#: Names of the families, and what each is.
FAMILIES = {
    "grid": "24 small BERTs trained here, not the paper's checkpoints",
    "miniatures": "the paper's checkpoints, fetched from a model hub",
    "packaged": "two pretrained encoders that come inside Python packages",
}

#: Environment variable that chooses the family of the book's experiments.
SWITCH = "SPECTRAL_LIB_FAMILY"


def load_family(name: str) -> Family:
    """Load a family by its name, or from the folder that holds it.

    ``"grid"`` comes with the library; ``"packaged"`` is computed from the installed weights;
    ``"miniatures"`` must have been fetched (``spectral-lib grid fetch miniatures``). Another name
    is the path of a family's folder, as ``--folder`` or ``--output`` left it.

    Raises
    ------
    DomainError
        There is no family of this name, and no such folder.
    StaleFileError
        Its files are missing or damaged.
    MissingExtraError
        The packages with the weights are not installed.
    """
    if name == "packaged":
        members = tuple(load(model) for model in PACKAGED)
        return Family(name, FAMILIES[name], members)
    folder = family_folder(name)
    if name == "miniatures" and not (folder / MANIFEST).exists():
        raise StaleFileError(
            "the paper's checkpoints are not here yet: run `spectral-lib grid fetch miniatures`"
        )
    return read_family(folder)


def chosen_family() -> Family:
    """Load the family that the environment variable SPECTRAL_LIB_FAMILY names, else the grid."""
    return load_family(chosen_name())


def chosen_name() -> str:
    """Return what SPECTRAL_LIB_FAMILY says, ``"grid"`` where it says nothing.

    The one place that reads the switch.

    Raises
    ------
    DomainError
        It names no family and no family's folder.
    """
    name = os.environ.get(SWITCH) or "grid"
    try:
        family_folder(name)
    except DomainError as error:
        raise DomainError(f"{SWITCH}: {error}") from None
    if name not in FAMILIES and not Path(name).is_absolute():  # cells run in folders of their own
        raise DomainError(f"{SWITCH}: give the absolute path of the folder, got {name}")
    return name


def chosen_version() -> str:
    """Return a text that changes whenever the chosen family does: its name and its manifest's hash.

    What was computed from a family is current as long as this text is.
    """
    name = chosen_name()
    manifest = family_folder(name) / MANIFEST
    return f"{name} {file_sha256(manifest) if manifest.is_file() else 'without a manifest'}"


def family_folder(name: str) -> Path:
    """Return the folder of a family: package data for the grid, else in the user's cache.

    Raises
    ------
    DomainError
        There is no family of this name, and no such folder.
    """
    if name == "grid":
        return GRID
    if name in FAMILIES:
        return cache_folder() / name
    with suppress(OSError, ValueError):
        if (Path(name) / MANIFEST).is_file():
            return Path(name)
    raise DomainError(
        f"there is no family {one_line(repr(name), 120)}, only {', '.join(FAMILIES)} or the folder "
        f"of a family, with its {MANIFEST}"
    )


def cache_folder() -> Path:
    """Return where the library keeps what can be computed or fetched again."""
    return user_cache_path("spectral-lib", appauthor=False)
