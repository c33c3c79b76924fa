"""The BERT family: which tensors an encoder layer has, and which matrices they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.checkpoint import LayerMatrices
from spectral_lib.checkpoints.config import ModelConfig
from spectral_lib.checkpoints.source import (
    TensorSource,
    quote,
    read_finite,
    require_float_matrix,
)
from spectral_lib.errors import (
    CheckpointError,
    QuantizedWeightsError,
    UnsupportedArchitectureError,
)
from spectral_lib.matrices import Factored

MODEL_TYPE = "bert"

QUERY = "attention.self.query.weight"
KEY = "attention.self.key.weight"
VALUE = "attention.self.value.weight"
ATTENTION_OUT = "attention.output.dense.weight"
FF_IN = "intermediate.dense.weight"
FF_OUT = "output.dense.weight"

_LAYER = re.compile(r"(?P<prefix>(?:.*\.)?)encoder\.layer\.(?P<index>[^.]+)\.(?P<rest>.+)")
#: Tensors that the common quantisers put beside, or in place of, a weight.
_QUANTIZED = re.compile(
    r"(?:^|\.)(?:SCB|qweight|qzeros|scales?|g_idx|weight_(?:scale|scale_inv|zero_point|packed)"
    r"|zero_point|absmax|nested_absmax|quant_map|quant_state|_packed_params)(?:\.|$)"
)


@dataclass(frozen=True)
class BertWeights:
    """The encoder's tensors, found and checked.

    Attributes
    ----------
    prefix
        What stands before ``encoder.layer.`` in their names: ``""``, ``"bert."``, ...
    """

    source: TensorSource
    config: ModelConfig
    prefix: str

    @classmethod
    def find(cls, source: TensorSource, config: ModelConfig) -> BertWeights:
        """Find the encoder and check names, types and shapes of every layer; read no weight.

        Raises
        ------
        CheckpointError
            No encoder or several, layers missing or extra, a tensor missing or misshapen.
        """
        weights = cls(source, config, _find_prefix(source))
        weights._check_layers()
        for index in range(config.num_layers):
            for tensor, shape in weights._shapes().items():
                require_float_matrix(source, weights._name(index, tensor), shape)
        return weights

    def layer(self, index: int) -> LayerMatrices:
        """Read one layer; see :class:`LayerMatrices` for the formulas."""
        heads = (self.config.num_heads, self.config.head_size, self.config.hidden_size)
        query, key, value = (self._read(index, t).reshape(heads) for t in (QUERY, KEY, VALUE))
        out = np.ascontiguousarray(self._read(index, ATTENTION_OUT).T).reshape(heads)
        return LayerMatrices(
            qk=Factored(query.swapaxes(1, 2), key),
            vo=Factored(value.swapaxes(1, 2), out),
            ff_in=self._read(index, FF_IN).T,
            ff_out=self._read(index, FF_OUT).T,
        )

    def _read(self, index: int, tensor: str) -> NDArray[np.float64]:
        values = read_finite(self.source, self._name(index, tensor))
        return np.array(values, dtype=np.float64, order="C")  # a copy, also of float64 weights

    def _name(self, index: int, tensor: str) -> str:
        return f"{self.prefix}encoder.layer.{index}.{tensor}"

    def _shapes(self) -> dict[str, tuple[int, int]]:
        hidden, wide = self.config.hidden_size, self.config.intermediate_size
        square = dict.fromkeys((QUERY, KEY, VALUE, ATTENTION_OUT), (hidden, hidden))
        return {**square, FF_IN: (wide, hidden), FF_OUT: (hidden, wide)}

    def _check_layers(self) -> None:
        found: set[str] = set()
        for name in self.source.names:
            match = _LAYER.fullmatch(name)
            if match is None or match["prefix"] != self.prefix:
                continue
            found.add(match["index"])
            where = f"{self.source.where(name)}: tensor {quote(name)}"
            if _QUANTIZED.search(match["rest"]):
                raise QuantizedWeightsError(
                    f"{where} belongs to quantised weights; give the unquantised checkpoint"
                )
            if match["rest"].startswith("crossattention."):
                raise UnsupportedArchitectureError(
                    f"{where} is cross-attention, which is not supported; "
                    "supported: BERT encoders (self-attention only)"
                )
        expected = [str(index) for index in range(self.config.num_layers)]
        promise = f"num_hidden_layers in the config promises {self.config.num_layers}"
        missing = next((index for index in expected if index not in found), None)
        if missing is not None:
            raise CheckpointError(f"{self.source.label}: layer {missing} is missing, {promise}")
        extra = sorted(found.difference(expected))
        if extra:
            raise CheckpointError(
                f"{self.source.label}: layer {quote(extra[0])} is extra, {promise}"
            )


def refuse_decoder(raw: Mapping[str, Any], where: str) -> None:
    """Raise UnsupportedArchitectureError for a BERT that is configured as a decoder."""
    for key in ("is_decoder", "add_cross_attention"):
        if raw.get(key):
            raise UnsupportedArchitectureError(
                f"{where}: {key} is set, decoders are not supported; supported: BERT encoders"
            )


def _find_prefix(source: TensorSource) -> str:
    matches = (_LAYER.fullmatch(name) for name in source.names)
    prefixes = sorted({m["prefix"] for m in matches if m and m["rest"].startswith("attention.")})
    if not prefixes:
        example = quote(min(source.names)) if source.names else "no tensor at all"
        raise CheckpointError(
            f"{source.label}: no BERT encoder inside, expected tensors such as "
            f"'encoder.layer.0.{QUERY}' after any prefix, got {example}"
        )
    if len(prefixes) > 1:
        raise UnsupportedArchitectureError(
            f"{source.label}: several encoders inside ({quote(prefixes[0])}, "
            f"{quote(prefixes[1])}, ...), which is not supported; supported: one BERT encoder"
        )
    return prefixes[0]
