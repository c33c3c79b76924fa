"""The safetensors format, read by position: a header of names, types and offsets, then bytes.

The header is checked here in full, and the tests hold the check against the reference reader.
That reader is not used for the weights: without torch it has no bfloat16, and it maps the file,
so that a file cut short by another process ends this one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.files import WeightsFile, label, parse_json_object
from spectral_lib.checkpoints.source import TensorInfo, quote, widen_bfloat16
from spectral_lib.errors import CheckpointError

#: The format's own limit on the header.
MAX_HEADER_BYTES = 100_000_000
#: numpy's limit on the axes of an array.
MAX_DIMENSIONS = 64
#: Bits per element of every type of the format.
_BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I8", "U8", "BOOL"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}
_NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


@dataclass(frozen=True)
class _Entry:
    info: TensorInfo
    start: int  #: absolute position in the file
    end: int


@dataclass(frozen=True)
class SafetensorsFile:
    """One safetensors file, its header checked, its tensors read one at a time."""

    file: WeightsFile
    entries: dict[str, _Entry]

    @classmethod
    def open(cls, path: Path) -> SafetensorsFile:
        """Read and check the header.

        Raises
        ------
        CheckpointError
            The file is truncated, or its header contradicts itself or the file.
        """
        file = WeightsFile.at(path)
        header, data_start = _read_header(file)
        metadata = header.pop("__metadata__", {})
        if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
            raise CheckpointError(
                f"{label(path)}: __metadata__ must map names to strings, got {quote(metadata)}"
            )
        size = file.size - data_start
        entries = {
            name: _entry(name, spec, data_start, size, label(path)) for name, spec in header.items()
        }
        _check_layout(entries, data_start, file)
        return cls(file, entries)

    @property
    def label(self) -> str:
        """Path of the file."""
        return label(self.file.path)

    @property
    def names(self) -> Collection[str]:
        """Names of the tensors."""
        return self.entries.keys()

    def info(self, name: str) -> TensorInfo:
        """Return shape and type from the header."""
        return self.entries[name].info

    def where(self, name: str) -> str:
        """Path of the file, whichever the tensor."""
        return self.label

    def read(self, name: str) -> NDArray[np.floating[Any]]:
        """Read one floating-point tensor; bfloat16 comes back as float32, exactly."""
        entry = self.entries[name]
        stored = np.empty(entry.info.shape, _NUMPY[entry.info.dtype])
        self.file.read_into(stored.reshape(-1).view(np.uint8).data, entry.start)
        return widen_bfloat16(stored) if entry.info.dtype == "BF16" else stored

    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return self.file.sha256()


def _read_header(file: WeightsFile) -> tuple[dict[str, Any], int]:
    where = label(file.path)
    if file.size < 8:
        raise CheckpointError(f"{where}: {file.size} bytes, too short for a safetensors file")
    prefix = bytearray(8)
    file.read_into(memoryview(prefix), 0)
    (length,) = struct.unpack("<Q", prefix)
    if length > min(file.size - 8, MAX_HEADER_BYTES):
        raise CheckpointError(
            f"{where}: the header claims {length} bytes, the file has {file.size}; "
            "it is truncated or not a safetensors file"
        )
    content = bytearray(length)
    file.read_into(memoryview(content), 8)
    if not content.startswith(b"{"):
        raise CheckpointError(f"{where}: the header is not a JSON object; not a safetensors file")
    return parse_json_object(bytes(content), f"{where}: header", strict=True), 8 + length


def _entry(name: str, spec: Any, data_start: int, size: int, where: str) -> _Entry:
    where = f"{where}: tensor {quote(name)}"
    if not isinstance(spec, dict) or not {"dtype", "shape", "data_offsets"} <= spec.keys():
        raise CheckpointError(
            f"{where} has header entry {quote(spec)}, expected dtype, shape and data_offsets"
        )
    dtype, shape, offsets = spec["dtype"], spec["shape"], spec["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise CheckpointError(f"{where} has dtype {quote(dtype)}, unknown to the format")
    if not _naturals(shape) or len(shape) > MAX_DIMENSIONS:
        raise CheckpointError(f"{where} has shape {quote(shape)}, expected a list of sizes")
    if not _naturals(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        raise CheckpointError(
            f"{where} has data_offsets {quote(offsets)}, expected two within the {size} data bytes"
        )
    bits, held = math.prod(shape) * _BITS[dtype], offsets[1] - offsets[0]
    if bits != 8 * held:
        raise CheckpointError(
            f"{where} has {held} bytes, but {dtype} {quote(tuple(shape))} takes {-(-bits // 8)}"
        )
    start, end = (data_start + offset for offset in offsets)
    return _Entry(TensorInfo(tuple(shape), dtype), start, end)


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 63 for v in value)


def _check_layout(entries: dict[str, _Entry], data_start: int, file: WeightsFile) -> None:
    position, where = data_start, label(file.path)
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].end)):
        if entry.start != position:
            what = "overlaps the tensor before it" if entry.start < position else "follows a hole"
            raise CheckpointError(
                f"{where}: tensor {quote(name)} {what} (starts at byte {entry.start}, "
                f"expected {position})"
            )
        position = entry.end
    if position != file.size:
        raise CheckpointError(
            f"{where}: the header accounts for {position} bytes, the file has {file.size}"
        )
