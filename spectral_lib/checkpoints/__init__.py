"""Checkpoints: from a directory, a hub id, a packaged name or a live module to layer matrices."""

from spectral_lib.checkpoints.checkpoint import Checkpoint, LayerMatrices
from spectral_lib.checkpoints.config import ModelConfig
from spectral_lib.checkpoints.opening import open_checkpoint
from spectral_lib.checkpoints.packaged import PACKAGED

__all__ = ["PACKAGED", "Checkpoint", "LayerMatrices", "ModelConfig", "open_checkpoint"]
