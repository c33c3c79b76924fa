"""What the growth of the (2,1)-norm proxy is made of, member by member."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from spectral_lib.families import Family
from spectral_lib.matrices import Array
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.proxies import edelman
from spectral_lib.transformer import TransformerSpectra

_LN10 = math.log(10)


def growth_parts(family: Family, convention: Convention = PAPER) -> pd.DataFrame:
    r"""Split log10 of the (2,1)-norm proxy E of every member into four terms.

    .. math::
        \log E = \sum_{k \ge 2} \log\lambda^{(k)} + \tfrac32 \log\xi_1
        + \tfrac32 \sum_{k \ge 2} \log\Big(1 + \frac{\xi_k}{(\lambda^{(k)})^{2/3} S_{k-1}}\Big)
        + \tfrac32 \log\Big(1 + \frac1{S_L}\Big)

    with :math:`S_k = (\lambda^{(k)})^{2/3} S_{k-1} + \xi_k`, :math:`S_0 = 0`, and xi_k the sum of
    a layer's terms without the product over later ones.

    Returns
    -------
    One row a member: ``L``, ``N``, ``proxy`` (the left-hand side), and the four terms on the right,
    ``later layers``, ``first layer``, ``accumulation``, ``one``: each computed by itself, so that
    their sum is a check. NaN where a layer passes nothing on.

    Source: derived in the book, chapter on growth.
    """
    rows = [
        {
            "model": spectra.model,
            "L": spectra.num_layers,
            "N": spectra.hidden_size,
            "proxy": edelman(spectra, convention).log / _LN10,
            **{name: value / _LN10 for name, value in _parts(spectra, convention).items()},
        }
        for spectra in family.members
    ]
    return pd.DataFrame(rows).set_index("model")


def _parts(spectra: TransformerSpectra, convention: Convention) -> dict[str, float]:
    propagation = propagate(spectra, convention)
    log_terms = edelman(spectra, convention).log_contribution
    of_layer = np.logaddexp.reduce(np.hstack([log_terms[kind] for kind in Kind]), axis=1)
    with np.errstate(invalid="ignore"):
        log_xi: Array = of_layer - 2 / 3 * propagation.log_alpha
        log_sum, accumulation = log_xi[0], 0.0
        for xi, log_lambda in zip(log_xi[1:], propagation.log_lambda[1:], strict=True):
            reached = 2 / 3 * log_lambda + log_sum
            accumulation += 1.5 * np.logaddexp(0.0, xi - reached)
            log_sum = np.logaddexp(reached, xi)
        one = 1.5 * np.logaddexp(0.0, -log_sum)
    return {
        "later layers": propagation.log_lambda[1:].sum(),
        "first layer": 1.5 * log_xi[0],
        "accumulation": accumulation,
        "one": one,
    }
