"""Torch tensors by name, as a source of weights: of a loaded file or of a live module."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.source import TensorInfo, quote, widen_bfloat16
from spectral_lib.errors import CheckpointError, one_line

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}


@dataclass(frozen=True)
class TorchTensors:
    """Tensors of a state dict; one is converted only when it is read.

    Attributes
    ----------
    label
        What messages call the whole.
    tensors
        The state dict; what is no tensor in it is an error only if it is asked for.
    """

    label: str
    tensors: Mapping[str, Any]

    @property
    def names(self) -> Collection[str]:
        """Names of the entries."""
        return self.tensors.keys()

    def where(self, name: str) -> str:
        """Return the label, whichever the tensor."""
        return self.label

    def info(self, name: str) -> TensorInfo:
        """Return shape and type.

        Raises
        ------
        CheckpointError
            The entry is no tensor, has no data (meta device), or is sparse.
        """
        tensor, where = self.tensors[name], f"{self.label}: entry {quote(name)}"
        if not hasattr(tensor, "dtype") or not hasattr(tensor, "is_sparse"):
            raise CheckpointError(f"{where} is a {type(tensor).__name__}, expected a tensor")
        if tensor.is_meta:
            raise CheckpointError(
                f"{where} is on the meta device and has no values; load the weights first"
            )
        if str(tensor.layout) != "torch.strided":
            raise CheckpointError(f"{where} has layout {tensor.layout}, expected a dense tensor")
        dtype = str(tensor.dtype).removeprefix("torch.")
        return TensorInfo(tuple(tensor.shape), _DTYPES.get(dtype, dtype))

    def read(self, name: str) -> NDArray[np.floating[Any]]:
        """Return one tensor as an array; bfloat16 comes back as float32, exactly."""
        import torch

        try:
            tensor = self.tensors[name].detach().cpu()
            if tensor.dtype == torch.bfloat16:
                codes = tensor.contiguous().view(torch.int16).numpy().view(np.uint16)
                return widen_bfloat16(codes)
            array: NDArray[np.floating[Any]] = tensor.numpy()
        except (RuntimeError, TypeError) as error:  # tensor subclasses: distributed, fake, ...
            raise CheckpointError(
                f"{self.label}: entry {quote(name)} of type {type(self.tensors[name]).__name__} "
                f"cannot be read as an array: {one_line(error, 120)}"
            ) from error
        return array

    def sha256(self) -> str | None:
        """Return None: values in memory have no file."""
        return None
