"""The sizes that a model's configuration promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spectral_lib.checkpoints.source import quote
from spectral_lib.errors import CheckpointError, QuantizedWeightsError

#: Above any Transformer there is; a larger size in a configuration is a mistake, not a model.
MAX_SIZE = 1_000_000


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of an encoder: L layers, hidden size N, H heads, feed-forward size I, activation."""

    num_layers: int
    hidden_size: int
    num_heads: int
    intermediate_size: int
    activation: str

    @property
    def head_size(self) -> int:
        """``N / H``."""
        return self.hidden_size // self.num_heads


def read_sizes(raw: Mapping[str, Any], where: str) -> ModelConfig:
    """Return the sizes of a BERT-style configuration.

    Raises
    ------
    CheckpointError
        A size is missing or no sensible integer, or the heads do not divide the hidden size.
    """
    hidden, heads = _size(raw, "hidden_size", where), _size(raw, "num_attention_heads", where)
    if hidden % heads:
        raise CheckpointError(
            f"{where}: num_attention_heads {heads} must divide hidden_size {hidden}"
        )
    activation = raw.get("hidden_act", "gelu")
    if callable(activation):  # a live module may carry the function itself
        activation = getattr(activation, "__name__", type(activation).__name__)
    if not isinstance(activation, str):
        raise CheckpointError(f"{where}: hidden_act must be a name, got {quote(activation)}")
    return ModelConfig(
        num_layers=_size(raw, "num_hidden_layers", where),
        hidden_size=hidden,
        num_heads=heads,
        intermediate_size=_size(raw, "intermediate_size", where),
        activation=activation,
    )


def _size(raw: Mapping[str, Any], key: str, where: str) -> int:
    if key not in raw:
        raise CheckpointError(f"{where}: {key} is missing, expected a positive integer")
    value = raw[key]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_SIZE:
        raise CheckpointError(
            f"{where}: {key} must be an integer from 1 to {MAX_SIZE}, got {quote(value)}"
        )
    return value


def refuse_quantized(raw: Mapping[str, Any], where: str) -> None:
    """Raise QuantizedWeightsError when the configuration says that the weights are codes."""
    quantization = raw.get("quantization_config")
    if quantization:
        method = quantization.get("quant_method") if isinstance(quantization, Mapping) else None
        raise QuantizedWeightsError(
            f"{where}: quantization_config says that the weights are quantised"
            f"{f' ({quote(method)})' if method else ''}; give the unquantised checkpoint"
        )
