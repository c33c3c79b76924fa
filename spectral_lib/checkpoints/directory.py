"""A checkpoint in a directory: config.json and one of the supported forms of weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spectral_lib.checkpoints.architectures import assemble, check_architecture
from spectral_lib.checkpoints.checkpoint import Checkpoint
from spectral_lib.checkpoints.files import label, os_reason, read_json_object
from spectral_lib.checkpoints.safetensors_file import SafetensorsFile
from spectral_lib.checkpoints.sharded import ShardedSafetensors
from spectral_lib.checkpoints.source import TensorSource, quote
from spectral_lib.checkpoints.torch_file import TorchFile
from spectral_lib.errors import CheckpointError

CONFIG = "config.json"
#: The supported forms of weights; of several in one directory the first is read.
FORMATS: dict[str, Callable[[Path], TensorSource]] = {
    "model.safetensors": SafetensorsFile.open,
    "model.safetensors.index.json": ShardedSafetensors.open,
    "pytorch_model.bin": TorchFile.open,
}
#: Endings of weights in other forms, to tell them from an empty directory.
_FOREIGN = (
    ".bin",
    ".bin.index.json",
    ".safetensors",
    ".h5",
    ".msgpack",
    ".onnx",
    ".gguf",
    ".ckpt.index",
    ".pt",
    ".pth",
)


def open_directory(path: Path, name: str) -> Checkpoint:
    """Open the checkpoint in a directory.

    Raises
    ------
    CheckpointError
        The directory is unreadable or holds no supported checkpoint, or its parts disagree.
    """
    try:
        files = {entry.name for entry in path.iterdir()}
    except OSError as error:
        raise CheckpointError(f"{label(path)}: {os_reason(error)}") from error
    if not files:
        raise CheckpointError(f"{label(path)}: the directory is empty, expected {_expected()}")
    if CONFIG not in files:
        raise CheckpointError(f"{label(path)}: no {CONFIG}, expected {_expected()}")
    raw, where = read_json_object(path / CONFIG), label(path / CONFIG)
    check_architecture(raw, where)
    weights = next((form for form in FORMATS if form in files), None)
    if weights is None:
        foreign = sorted(file for file in files if file.endswith(_FOREIGN))
        found = f"; {quote(foreign[0])} is not one of them" if foreign else ""
        raise CheckpointError(f"{label(path)}: no weights, expected {_expected()}{found}")
    return assemble(name, raw, where, FORMATS[weights](path / weights))


def _expected() -> str:
    *others, last = FORMATS
    return f"{CONFIG} with {', '.join(others)} or {last}"
