"""Safetensors in shards: an index that says which file holds which tensor."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.files import label, read_json_object
from spectral_lib.checkpoints.safetensors_file import SafetensorsFile
from spectral_lib.checkpoints.source import TensorInfo, quote
from spectral_lib.errors import CheckpointError


@dataclass(frozen=True)
class ShardedSafetensors:
    """The shards of one index, opened and held against it."""

    index: Path
    shards: dict[str, SafetensorsFile]
    shard_of: dict[str, str]

    @classmethod
    def open(cls, index: Path) -> ShardedSafetensors:
        """Open the index and the header of every shard that it names.

        Raises
        ------
        CheckpointError
            A shard is absent or outside the directory, or lacks a tensor that it should hold.
        """
        shard_of = read_weight_map(index)
        shards = {
            name: SafetensorsFile.open(index.parent / name) for name in sorted({*shard_of.values()})
        }
        for tensor, shard in shard_of.items():
            if tensor not in shards[shard].names:
                raise CheckpointError(
                    f"{shards[shard].label}: tensor {quote(tensor)} is missing, "
                    f"{index.name} says that it is there"
                )
        return cls(index, shards, shard_of)

    @property
    def label(self) -> str:
        """Path of the index."""
        return label(self.index)

    @property
    def names(self) -> Collection[str]:
        """Names of the tensors in the index."""
        return self.shard_of.keys()

    def info(self, name: str) -> TensorInfo:
        """Return shape and type from the header of the tensor's shard."""
        return self._shard(name).info(name)

    def where(self, name: str) -> str:
        """Path of the tensor's shard."""
        return self._shard(name).label

    def read(self, name: str) -> NDArray[np.floating[Any]]:
        """Read one floating-point tensor from its shard."""
        return self._shard(name).read(name)

    def sha256(self) -> str:
        r"""Return the SHA-256 of the lines ``"<file name> <sha256>\n"``, sorted by name."""
        lines = (f"{name} {shard.sha256()}\n" for name, shard in sorted(self.shards.items()))
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def _shard(self, name: str) -> SafetensorsFile:
        return self.shards[self.shard_of[name]]


def read_weight_map(index: Path) -> dict[str, str]:
    """Return tensor name -> file name, each file name one that stays in the index's directory."""
    weight_map = read_json_object(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError(
            f"{label(index)}: weight_map must be an object of tensor names and files, "
            f"got {quote(weight_map)}"
        )
    for tensor, shard in weight_map.items():
        # A bare file name: its target may be a link into a cache, its name may not leave.
        plain = isinstance(shard, str) and shard.isprintable() and not {*shard} & {*"/\\:"}
        if not plain or shard in ("", ".", ".."):
            raise CheckpointError(
                f"{label(index)}: tensor {quote(tensor)} is said to be in {quote(shard)}, "
                "expected the name of a file in the same directory"
            )
    return weight_map
