"""What a file or a live module offers to the model families: named tensors, read one at a time."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spectral_lib.errors import CheckpointError, QuantizedWeightsError, one_line

#: Storage types that are numbers of the weights themselves; each is exact in float64.
FLOATS = ("F64", "F32", "F16", "BF16")
#: Storage types of at most eight bits, and torch's quantised ones: codes that stand for weights.
_CODES = re.compile(r"[IU][1-8]|F[468](_.*)?|u?int[1-8]|q.*int.*|float[468]_.*|bits.*")


@dataclass(frozen=True)
class TensorInfo:
    """Shape and storage type of a tensor, known without reading it.

    ``dtype`` is the safetensors name (``"F32"``, ``"BF16"``, ...), or torch's own name where the
    format has none.
    """

    shape: tuple[int, ...]
    dtype: str


class TensorSource(Protocol):
    """Named tensors of one checkpoint, whatever holds them."""

    @property
    def label(self) -> str:
        """What messages call the whole: a file, or the class of a live module."""

    @property
    def names(self) -> Collection[str]:
        """Names of all tensors."""

    def info(self, name: str) -> TensorInfo:
        """Return what is known of a tensor without reading it."""

    def where(self, name: str) -> str:
        """Return what messages call the holder of one tensor."""

    def read(self, name: str) -> NDArray[np.floating[Any]]:
        """Return one floating-point tensor; bfloat16 comes back as float32, exactly."""

    def sha256(self) -> str | None:
        """Return the hash of the weights, None where there is no file."""


def quote(name: object) -> str:
    """Return a name from a file, safe and short enough for a one-line message."""
    return one_line(repr(name), 120)


def widen_bfloat16(codes: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the float32 whose upper half is the bfloat16: the same number."""
    return (codes.astype(np.uint32) << 16).view(np.float32)


def require_float_matrix(source: TensorSource, name: str, shape: tuple[int, int]) -> None:
    """Check that a tensor is there, floating-point and of the expected shape; read nothing.

    Raises
    ------
    CheckpointError, QuantizedWeightsError
        What was expected and what came, with file and tensor.
    """
    if name not in source.names:
        raise CheckpointError(f"{source.label}: tensor {quote(name)} {shape} is missing")
    where, info = f"{source.where(name)}: tensor {quote(name)}", source.info(name)
    if _CODES.fullmatch(info.dtype):
        raise QuantizedWeightsError(
            f"{where} is stored as {info.dtype}, a quantised type; give the unquantised checkpoint"
        )
    if info.dtype not in FLOATS:
        raise CheckpointError(f"{where} has type {info.dtype}, expected one of {', '.join(FLOATS)}")
    if info.shape != shape:
        turned = info.shape == shape[::-1]
        hint = "; it looks transposed, a Linear weight is (out, in)" if turned else ""
        came = one_line(info.shape, 80)
        raise CheckpointError(f"{where} has shape {came}, expected {shape} by the config{hint}")


def read_finite(source: TensorSource, name: str) -> NDArray[np.floating[Any]]:
    """Read a tensor and check that every entry is finite.

    Raises
    ------
    CheckpointError
        The tensor holds NaN or infinity; the message names it and the first bad entry.
    """
    values = source.read(name)
    finite = np.isfinite(values)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise CheckpointError(
            f"{source.where(name)}: tensor {quote(name)} has {int((~finite).sum())} entries that "
            f"are not finite, the first is {float(values[first])} at {first}"
        )
    return values
