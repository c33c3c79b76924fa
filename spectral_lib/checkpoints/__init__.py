"""Checkpoints: from a directory, a hub id, a known name or a live module to layer matrices."""

from spectral_lib.checkpoints.bundled import GRID, bundled_names
from spectral_lib.checkpoints.checkpoint import Checkpoint, LayerMatrices
from spectral_lib.checkpoints.config import ModelConfig
from spectral_lib.checkpoints.opening import open_checkpoint
from spectral_lib.checkpoints.packaged import PACKAGED

__all__ = [
    "GRID",
    "PACKAGED",
    "Checkpoint",
    "LayerMatrices",
    "ModelConfig",
    "bundled_names",
    "open_checkpoint",
]
