"""Networks of class B as the library's spectra."""

import numpy as np

from spectral_lib.matrices import spectrum_of_dense, stack
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra


def spectra_of(network):
    """The TransformerSpectra of a class B network."""

    def batch(name):
        groups = [np.atleast_3d(getattr(layer, name).T).T for layer in network.layers]
        return stack([stack([spectrum_of_dense(w) for w in group]) for group in groups])

    heads, size = network.layers[0].qk.shape[:2]
    names = ("qk", "vo", "ff_in", "ff_out")
    by_kind = dict(zip(Kind, map(batch, names), strict=True))
    return TransformerSpectra("a network", size, heads, network.activation, by_kind)
