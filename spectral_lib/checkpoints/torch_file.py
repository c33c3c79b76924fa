"""``pytorch_model.bin``: a state dict that torch pickled.

Files in torch's zip format are mapped into memory, so that only the tensors that are read take
room. The older format, a plain pickle, cannot be: torch loads such a file whole. Either way
``weights_only=True`` refuses every pickle that would run code.
"""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.files import WeightsFile, label
from spectral_lib.checkpoints.source import TensorInfo, quote
from spectral_lib.checkpoints.torch_tensors import TorchTensors
from spectral_lib.errors import CheckpointError, MissingExtraError, one_line


@dataclass(frozen=True)
class TorchFile:
    """One loaded torch file."""

    file: WeightsFile
    content: TorchTensors

    @classmethod
    def open(cls, path: Path) -> TorchFile:
        """Load the state dict, mapped where the format allows.

        Raises
        ------
        MissingExtraError
            torch is not installed.
        CheckpointError
            The file is damaged, is no dictionary of tensors, or would run code.
        """
        file = WeightsFile.at(path)
        return cls(file, TorchTensors(label(path), _load(file)))

    @property
    def label(self) -> str:
        """Path of the file."""
        return self.content.label

    @property
    def names(self) -> Collection[str]:
        """Names of the tensors."""
        return self.content.names

    def info(self, name: str) -> TensorInfo:
        """Return shape and type of a tensor."""
        return self.content.info(name)

    def where(self, name: str) -> str:
        """Path of the file, whichever the tensor."""
        return self.label

    def read(self, name: str) -> NDArray[np.floating[Any]]:
        """Return one tensor, after a check that the mapped file is still the same."""
        self.file.check_unchanged()
        return self.content.read(name)

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return self.file.sha256()


def _load(file: WeightsFile) -> Mapping[str, Any]:
    where = label(file.path)
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(
            f"{where}: reading a .bin checkpoint needs torch: pip install 'spectral-lib[torch]', "
            "or convert it to model.safetensors"
        ) from error
    if not file.size:
        raise CheckpointError(f"{where}: the file is empty")
    try:
        mapped = zipfile.is_zipfile(file.path)
        with warnings.catch_warnings(action="ignore"):  # of what is refused or checked below
            loaded = torch.load(file.path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # whatever a damaged or hostile pickle makes torch raise
        # Torch wraps the reason in advice to trust the file, which is not ours to give.
        context = error.__context__ if isinstance(error, pickle.UnpicklingError) else None
        reason = one_line(context or error, 160).partition(" Please use")[0]
        raise CheckpointError(
            f"{where}: damaged, or not a file of tensors only: {reason}"
        ) from error
    if not isinstance(loaded, Mapping):
        raise CheckpointError(
            f"{where}: holds a {type(loaded).__name__}, expected a dictionary of tensors"
        )
    for name, value in loaded.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise CheckpointError(
                f"{where}: entry {quote(name)} is a {type(value).__name__}, expected a flat "
                "dictionary from names to tensors; save model.state_dict()"
            )
    return loaded
