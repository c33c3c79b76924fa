"""Random encoders as spectra, built without any checkpoint."""

import numpy as np

from spectral_lib.matrices import Factored, spectrum_of_dense, spectrum_of_factored, stack
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra


def encoder(seed=0, *, layers=2, heads=2, hidden=8, inner=16, scale=1.0, zero=()):
    """Return spectra of Gaussian weights with spectral norms near ``scale``.

    ``zero`` names the kinds whose first layer is zero.
    """
    rng = np.random.default_rng(seed)
    size = hidden // heads
    by_kind = {}
    for kind in Kind:
        found = []
        for layer in range(layers):
            off = kind in zero and layer == 0
            if kind.per_head:
                left = rng.normal(size=(heads, hidden, size)) / hidden**0.5
                right = rng.normal(size=(heads, size, hidden)) / hidden**0.5
                left = left * (0 if off else scale)
                found.append(spectrum_of_factored(Factored(left, right)))
            else:
                shape = (hidden, inner) if kind is Kind.FF_IN else (inner, hidden)
                matrix = rng.normal(size=shape) / (hidden**0.5 + inner**0.5)
                found.append(stack([spectrum_of_dense(matrix * (0 if off else scale))]))
        by_kind[kind] = stack(found)
    return TransformerSpectra(
        model="random", hidden_size=hidden, num_heads=heads, activation="gelu", by_kind=by_kind
    )
