r"""How a perturbed weight matrix reaches the output: lambda, alpha and gamma in natural logs.

The BERT-adapted class (class B of the book, derived here; the formulas are the paper's scripts'):
with spectral norms :math:`C` of the matrices of layer l,

.. math::
    \lambda_l = L_\phi C_{in} C_{out} \sum_h C_V^h (1 + 2 \kappa C_{QK}^h), \qquad
    \alpha^{(l)} = \prod_{k > l} \lambda_k .
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spectral_lib.constants import SCORE_OCCURRENCES
from spectral_lib.matrices import Array
from spectral_lib.notation import Convention, Kind
from spectral_lib.transformer import TransformerSpectra


@dataclass(frozen=True, eq=False)
class Propagation:
    """Natural logs of the propagation constants; minus infinity where a matrix is zero.

    A zero matrix cuts every path through it: a zero FF_OUT in layer l makes lambda of that layer
    zero, hence alpha zero in all earlier layers and gamma zero for the other matrices of its own.

    Attributes
    ----------
    log_lambda
        ``[L]``, Lipschitz constant of each layer in the largest row norm.
    log_alpha
        ``[L]``, product of lambda over the later layers; the last entry is 0.
    log_gamma
        For each kind ``[L, G]``: sensitivity of the layer's output to that matrix.
    """

    log_lambda: Array
    log_alpha: Array
    log_gamma: dict[Kind, Array]

    def log_scale(self, kind: Kind, count: int) -> Array:
        r"""Return :math:`\log(\gamma \alpha \cdot count)`, ``[L, G]``."""
        return self.log_gamma[kind] + self.log_alpha[:, None] + math.log(count)


def propagate(spectra: TransformerSpectra, convention: Convention) -> Propagation:
    r"""Return lambda, alpha and gamma of every layer and matrix.

    .. math::
        \gamma_{QK}^h = \kappa C_V^h C_{out} C_{in}, \quad \gamma_V^h = C_{out} C_{in}, \quad
        \gamma_{in} = C_{out}, \quad \gamma_{out} = 1,

    each times :math:`L_\phi` if ``convention.l_phi_in_gamma``; and :math:`\gamma_{out}` times
    :math:`C_{in}` unless ``convention.pi_before_phi``.
    """
    log_phi = math.log(convention.lipschitz(spectra.activation))
    log_qk, log_v, log_in, log_out = (spectra[kind].log_spectral_norm for kind in Kind)
    log_kappa = math.log(convention.kappa)
    log_head = log_v + np.logaddexp(0.0, math.log(SCORE_OCCURRENCES) + log_kappa + log_qk)
    log_lambda = log_phi + (log_in + log_out)[:, 0] + np.logaddexp.reduce(log_head, axis=1)
    later = np.cumsum(log_lambda[::-1])[::-1]
    log_alpha = np.append(later[1:], 0.0)
    in_gamma = log_phi if convention.l_phi_in_gamma else 0.0
    behind_in = in_gamma + log_out
    ahead_of_out = np.zeros_like(log_in) if convention.pi_before_phi else log_in
    return Propagation(
        log_lambda=log_lambda,
        log_alpha=log_alpha,
        log_gamma={
            Kind.QK: log_kappa + log_v + behind_in + log_in,
            Kind.VO: np.broadcast_to(behind_in + log_in, log_v.shape),
            Kind.FF_IN: behind_in,
            Kind.FF_OUT: in_gamma + ahead_of_out,
        },
    )
