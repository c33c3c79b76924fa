"""Encoders at their initial weights, of any shape."""

from __future__ import annotations

import numpy as np

from spectral_lib.errors import DomainError
from spectral_lib.matrices import Factored, spectrum_of_dense, spectrum_of_factored, stack
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra

#: Standard deviation of BERT's initial weights (``initializer_range``).
INITIAL_SCALE = 0.02


def untrained(
    num_layers: int,
    hidden_size: int,
    num_heads: int,
    *,
    scale: float = INITIAL_SCALE,
    seed: int = 0,
) -> TransformerSpectra:
    r"""Return the spectra of an encoder whose weights are independent :math:`N(0, s^2)` entries.

    Parameters
    ----------
    num_layers, hidden_size, num_heads
        L, N, H; the feed-forward width is 4N.
    scale
        s; BERT's own is 0.02, there with its tails cut off.
    seed
        Of the generator.

    Raises
    ------
    DomainError
        A size is not an integer >= 1, H does not divide N, or s is not a finite number > 0.
    """
    sizes = (num_layers, hidden_size, num_heads)
    if any(type(size) is not int or size < 1 for size in sizes):
        raise DomainError(f"L, N and H must be integers >= 1, got {sizes}")
    if hidden_size % num_heads:
        raise DomainError(f"H must divide N, got H = {num_heads} and N = {hidden_size}")
    if not 0 < scale < np.inf:
        raise DomainError(f"scale must be a finite number > 0, got {scale}")
    rng = np.random.default_rng(seed)
    head, wide = hidden_size // num_heads, 4 * hidden_size
    shapes = {Kind.FF_IN: (hidden_size, wide), Kind.FF_OUT: (wide, hidden_size)}

    def drawn(*shape: int) -> np.ndarray:
        return scale * rng.standard_normal(shape)

    by_kind = {}
    for kind in Kind:
        if kind.per_head:
            left = drawn(num_layers, num_heads, hidden_size, head)
            right = drawn(num_layers, num_heads, head, hidden_size)
            by_kind[kind] = spectrum_of_factored(Factored(left, right))
        else:
            layers = range(num_layers)
            by_kind[kind] = stack([spectrum_of_dense(drawn(*shapes[kind]))[None] for _ in layers])
    name = f"untrained/L{num_layers}-N{hidden_size}"
    return TransformerSpectra(name, hidden_size, num_heads, "gelu", by_kind)
