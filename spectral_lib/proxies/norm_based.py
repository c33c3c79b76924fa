"""The proxies of earlier work, which fix their norm in advance."""

from __future__ import annotations

import math

import numpy as np

from spectral_lib.matrices import Array
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.proxies.proxy import Proxy, log_total
from spectral_lib.transformer import TransformerSpectra


def edelman(spectra: TransformerSpectra, convention: Convention = PAPER) -> Proxy:
    r"""Return the proxy of Edelman et al. (2022), with (2,1) norms.

    .. math::
        \Big(1 + \sum_{W} \big(\alpha \gamma' \|W\|_{2,1}\big)^{2/3}\Big)^{3/2}

    with :math:`\gamma'` equal to gamma except that the factor kappa of the QK term is replaced by
    ``convention.edelman_qk_factor`` (1 in the paper's scripts).

    Source: Edelman et al. (2022); evaluated as in the paper's scripts, whose xi collects the
    terms of one layer.
    """
    return _norm_based(spectra, convention, {kind: spectra[kind].norm_21 for kind in Kind})


def trauger_tewari(spectra: TransformerSpectra, convention: Convention = PAPER) -> Proxy:
    r"""Return the same proxy with the (1,1) norms of Trauger and Tewari (2024).

    .. math::
        \Big(1 + \sum_{W} \big(\alpha \gamma' \|W\|_{1,1}\big)^{2/3}\Big)^{3/2}

    Source: Trauger and Tewari (2024) for the covering; the assembly is that of :func:`edelman`.
    The paper's scripts tabulate the norm and do not evaluate this proxy.
    """
    return _norm_based(spectra, convention, {kind: spectra[kind].norm_11 for kind in Kind})


def _norm_based(
    spectra: TransformerSpectra, convention: Convention, norms: dict[Kind, Array]
) -> Proxy:
    propagation = propagate(spectra, convention)
    log_terms = {}
    for kind, norm in norms.items():
        with np.errstate(divide="ignore"):
            log_weight = propagation.log_scale(kind, 1) + np.log(norm)
        if kind is Kind.QK:
            log_factor = math.log(convention.edelman_qk_factor) - math.log(convention.kappa)
            log_weight = log_weight + log_factor
        log_terms[kind] = 2 / 3 * log_weight
    log = 1.5 * np.logaddexp(0.0, log_total(log_terms))
    return Proxy(float(log), convention, log_terms)
