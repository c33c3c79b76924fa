"""A checkpoint opened: its sizes, and its weight matrices one layer at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectral_lib.checkpoints.config import ModelConfig
from spectral_lib.checkpoints.source import TensorSource
from spectral_lib.matrices import Factored


@dataclass(frozen=True, eq=False)
class LayerMatrices:
    r"""Weight matrices of one layer, as maps x -> x W of row vectors, in float64.

    With Linear weights :math:`W_\bullet` stored (out, in) and head h owning rows
    :math:`h d, \dots, (h + 1) d - 1` of Q, K, V and the same columns of O, d = N/H:

    .. math::
        QK^h = W_{Q,h}^T W_{K,h}, \quad VO^h = W_{V,h}^T (W_{O})_{:,h}^T, \quad
        in = W_{in}^T, \quad out = W_{out}^T.

    Biases and the factor 1/sqrt(d) of the attention scores are left out, as in the paper's
    scripts. The arrays may be transposed views: each matrix is contiguous in memory, by rows or
    by columns.

    Attributes
    ----------
    qk, vo
        Batches over heads: factors ``(H, N, d)`` and ``(H, d, N)``.
    ff_in
        ``(N, I)``.
    ff_out
        ``(I, N)``.
    """

    qk: Factored
    vo: Factored
    ff_in: NDArray[np.float64]
    ff_out: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model whose layout was checked and whose weights are read when asked for.

    Attributes
    ----------
    name
        The directory, packaged name or hub id that was opened; the class of a live module.
    config
        Sizes of the encoder.
    source
        The tensors behind it.
    read_layer
        Reads the matrices of the layer with a given index, from 0.
    """

    name: str
    config: ModelConfig
    source: TensorSource
    read_layer: Callable[[int], LayerMatrices]

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self.config.num_layers

    @property
    def hidden_size(self) -> int:
        """N, the hidden size."""
        return self.config.hidden_size

    @property
    def num_heads(self) -> int:
        """H, the number of attention heads."""
        return self.config.num_heads

    @property
    def intermediate_size(self) -> int:
        """I, the width of the feed-forward block."""
        return self.config.intermediate_size

    @property
    def activation(self) -> str:
        """Name of the activation between the feed-forward matrices (``hidden_act``)."""
        return self.config.activation

    def layers(self) -> Iterator[LayerMatrices]:
        """Yield the layers from the first to the last, each read only when it is reached.

        Raises
        ------
        CheckpointError
            A weight is not finite, or the file changed since it was opened.
        """
        for index in range(self.num_layers):
            yield self.read_layer(index)

    def sha256(self) -> str | None:
        r"""Return the SHA-256 of the weights file, computed now.

        Of a sharded checkpoint it is the SHA-256 of the lines ``"<file name> <sha256>\n"`` of its
        shards, sorted by name; a live module has none.
        """
        return self.source.sha256()
