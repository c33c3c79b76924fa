"""Which architecture a checkpoint is of, and who lays out its matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spectral_lib.checkpoints import bert
from spectral_lib.checkpoints.checkpoint import Checkpoint
from spectral_lib.checkpoints.config import read_sizes, refuse_quantized
from spectral_lib.checkpoints.source import TensorSource, quote
from spectral_lib.errors import UnsupportedArchitectureError

SUPPORTED = "supported: bert (BertModel and the models with a BertModel inside, encoders only)"


def check_architecture(raw: Mapping[str, Any], where: str) -> None:
    """Refuse, by its configuration alone, a model that the library has no layout for.

    A configuration without ``model_type`` (early BERT checkpoints, among them Google's small ones)
    is judged by ``architectures``, and without that too by the tensor names, when they are read.

    Raises
    ------
    QuantizedWeightsError, UnsupportedArchitectureError
        The configuration announces quantised weights, or another architecture.
    """
    refuse_quantized(raw, where)
    declared = raw.get("model_type")
    if declared is None:
        classes = raw.get("architectures") or []
        classes = classes if isinstance(classes, list) else [classes]
        foreign = [name for name in classes if not str(name).startswith("Bert")]
        if foreign:
            raise UnsupportedArchitectureError(
                f"{where}: architecture {quote(foreign[0])} is not supported; {SUPPORTED}"
            )
    elif declared != bert.MODEL_TYPE:
        raise UnsupportedArchitectureError(
            f"{where}: model_type {quote(declared)} is not supported; {SUPPORTED}"
        )
    bert.refuse_decoder(raw, where)


def assemble(name: str, raw: Mapping[str, Any], where: str, source: TensorSource) -> Checkpoint:
    """Check the tensors against the configuration and return the checkpoint.

    Raises
    ------
    CheckpointError
        Of one of its kinds, when configuration or tensors are not those of a supported model.
    """
    check_architecture(raw, where)
    config = read_sizes(raw, where)
    weights = bert.BertWeights.find(source, config)
    family = weights.prefix.removesuffix(".").rpartition(".")[2]
    if raw.get("model_type") is None and family not in ("", bert.MODEL_TYPE):
        raise UnsupportedArchitectureError(
            f"{where}: no model_type, and the tensors are those of {quote(family)}; {SUPPORTED}"
        )
    return Checkpoint(name, config, source, weights.layer)
