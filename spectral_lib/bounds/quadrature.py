r"""Dudley's integral of the exact entropy, certified from above.

On a panel [a, b] of u in (0, 1] Jensen's inequality and "a mean of minima is at most the minimum
of the means" give

.. math::
    \int_a^b \sqrt{\textstyle\sum_i H_i}\, du \le (b-a) \sqrt{\textstyle\sum_i \min_r
        \{ r (d+k) \bar\Lambda_i + [r<q](\log 2 + \bar V_i T_{i,r}) \}} ,

where the means of :math:`\Lambda_i` and :math:`V_i` over the panel are elementary:
:math:`\bar V = V_1/(ab)`. On the first panel, (0, u_0], the mean of V is infinite and the
full-rank member remains. So the value is an upper bound on the integral, not an estimate, up to
the rounding of float64; its excess is of second order in the panels' width.

From below: :math:`f = \sqrt{\sum H_i}` falls in u and :math:`u f` grows, hence
:math:`f \ge \max(f(b), f(a)\, a/u)` on a panel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectral_lib.bounds.covering import log_of, log_tail_price, net_price
from spectral_lib.bounds.dudley import Chain, Complexity, log_shares
from spectral_lib.bounds.exact import smallest_member
from spectral_lib.bounds.matrix_class import FloatArray, MatrixClasses, Metric, require
from spectral_lib.constants import LOW_RANK_NET

#: Upper end u_0 of the first panel, where the full-rank member stands alone.
SMALLEST_SCALE = 1e-12
#: Panels between u_0 and 1.
PANELS = 256


@dataclass(frozen=True, eq=False)
class Quadrature(Complexity):
    """A certified upper value of Dudley's integral with its lower companion.

    Attributes
    ----------
    log_lower
        Log of a certified lower value of the same integral, front factor included.
    """

    log_lower: float

    @property
    def relative_width(self) -> float:
        """Upper over lower value, minus one: what the panels leave open."""
        return float(np.expm1(self.log - self.log_lower)) if self.log > -np.inf else 0.0


def quadrature(
    classes: MatrixClasses, metric: Metric, chain: Chain, *, panels: int = PANELS
) -> Quadrature:
    r"""Return :math:`\frac{12D}{\sqrt n}\int_0^1 \sqrt{\sum_i H_i(uD/(J\beta_i))}\,du`, from above.

    Parameters
    ----------
    classes
        The matrices of the network, shape ``[J]``.
    panels
        Number of panels; the excess over the integral falls as its inverse square.
    """
    require(panels >= 1, "panels", ">= 1", panels)
    # Panels narrow towards u = 1, where the integral's mass is.
    grade = np.square(np.linspace(1.0, 0.0, panels + 1))
    nodes = np.append(0.0, SMALLEST_SCALE**grade)
    width = np.diff(nodes)
    log_inv = chain.log_inverse_scale(classes)

    price = _mean_price(classes, log_inv, nodes)
    log_v = np.full((panels + 1, classes.size), np.inf)
    log_v[1:] = log_tail_price(classes, log_inv, metric)
    log_v[1:] -= np.log(nodes[2:] * nodes[1:-1])[:, None]
    means = smallest_member(classes, price, log_v)
    total = means.sum(axis=1)
    log = chain.log_front + float(log_of(width @ np.sqrt(total)))
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(total > 0, width / np.sqrt(total), 0.0)
    log_parts = log_shares(log, log_of(weight @ means))

    lower = _from_below(nodes[1:], np.sqrt(_entropy_at(classes, metric, log_inv, nodes[1:])))
    return Quadrature(log, log_parts, chain.log_front + float(log_of(lower)))


def _mean_price(classes: MatrixClasses, log_inv: FloatArray, nodes: FloatArray) -> FloatArray:
    r"""Return the panel means of :math:`\log(1 + A/u)`, ``[panels, J]``.

    The primitive is :math:`u \log(1 + A/u) + A \log(1 + u/A) = u [g(-t) + g(t) e^{-t}]` with
    :math:`t = \log(u/A)` and :math:`g(t) = \log(1 + e^t)`; A itself may not fit a float.
    """
    log_a = np.log(LOW_RANK_NET) + log_of(classes.s) + log_inv
    # exp(-1000) is 0: beyond, A/u and its mean are 0 in float64. Below -36 only -t still changes.
    t = np.minimum(np.log(nodes[1:])[:, None] - log_a, 1000.0)
    capped = np.maximum(t, -36.0)
    primitive = nodes[1:, None] * (
        np.logaddexp(0.0, -t) + np.logaddexp(0.0, capped) * np.exp(-capped)
    )
    # The primitive grows; where A is subnormal, rounding can make it fall by its last digit.
    differences = np.maximum(np.diff(primitive, axis=0, prepend=0.0), 0.0)
    return np.asarray(differences / np.diff(nodes)[:, None], dtype=np.float64)


def _entropy_at(
    classes: MatrixClasses, metric: Metric, log_inv: FloatArray, u: FloatArray
) -> FloatArray:
    at_u = log_inv - np.log(u)[:, None]
    log_v = log_tail_price(classes, at_u, metric)
    price = net_price(classes, at_u, LOW_RANK_NET)
    return np.asarray(smallest_member(classes, price, log_v).sum(axis=1), dtype=np.float64)


def _from_below(u: FloatArray, f: FloatArray) -> float:
    """Integrate max(f(b), f(a) a / u) over each panel, and f(u_0) over the first."""
    if f[-1] == 0.0:
        return 0.0
    left, right = u[:-1], u[1:]
    cross = np.clip(f[:-1] * left / f[1:], left, right)
    body = f[:-1] * left * np.log(cross / left) + f[1:] * (right - cross)
    return float(u[0] * f[0] + body.sum())
