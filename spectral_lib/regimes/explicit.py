r"""The same bounds with every constant and logarithm, as numbers: :mod:`spectral_lib.bounds`.

A network is a list of matrices, each in the class of the regime, with sensitivities
:math:`\beta_l = \lambda^{L-l}`. The forms are bounds on the Rademacher complexity of a loss in
[0, b]; none of them takes a minimum with another form, so that each member shows by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from spectral_lib.bounds import Chain, MatrixClasses, Metric, allocate, interpolated_entropy
from spectral_lib.bounds.baselines import (
    edelman_price,
    log_inverse_square_complexity,
    trauger_tewari_price,
)
from spectral_lib.bounds.covering import net_price
from spectral_lib.bounds.dudley import root_sum_square_form, sum_form
from spectral_lib.bounds.matrix_class import FloatArray
from spectral_lib.constants import LOW_RANK_NET, P_MAX
from spectral_lib.regimes.symbolic import Bound

#: Scales at which the minimum of two entropies is compared, and the smallest of them.
SCALES = 1024
SMALLEST_SCALE = 1e-8
#: Matrices whose entropies are held at a time.
BLOCK = 256
#: Networks whose integrals are kept: as many as a comparison has Schatten indices.
KEPT = 32


@dataclass(frozen=True, eq=False)
class Network:
    """Matrices of one regime.

    Attributes
    ----------
    classes
        ``[J]``: spectral norm, Schatten budget and sensitivity of each matrix.
    largest_rank
        ``[J]``: the rank that the shapes alone allow, N or N/H.
    norm_21, norm_11
        ``[J]``: bounds on the mixed norms.
    """

    classes: MatrixClasses
    largest_rank: FloatArray
    norm_21: FloatArray
    norm_11: FloatArray

    @property
    def flat(self) -> MatrixClasses:
        """The same matrices known by their shapes and spectral norms alone: p = 0."""
        zero = np.zeros_like(self.classes.p)
        return replace(self.classes, p=zero, m=self.largest_rank)

    def distinct(self) -> tuple[Network, FloatArray]:
        """Return the matrices that differ, and how often each occurs."""
        classes = self.classes
        keys = np.stack([classes.m, classes.s, classes.log_beta, self.largest_rank])
        _, first, count = np.unique(keys, axis=1, return_index=True, return_counts=True)
        part = Network(
            classes[first], self.largest_rank[first], self.norm_21[first], self.norm_11[first]
        )
        return part, count.astype(np.float64)


def log_complexity(
    bound: Bound, network: Network, *, metric: Metric, chain: Chain, vectors: float
) -> float | None:
    r"""Return the log of a bound on R_n, or ``None`` where its integral diverges.

    The paper's sum form and the root-sum-square form, the two baselines at their best allocation,
    and Dudley's integral of the full-rank entropy, of Q_p and of their minimum. Only Q_2 has no
    integral by itself: its square root behaves as 1/eps.

    Parameters
    ----------
    metric, chain, vectors
        Metric of the covers, the integral's range, and n T for the (2,1) cover.
    """
    classes = network.classes
    if bound is Bound.SUM:
        return sum_form(classes, metric, chain, minimum=False).log
    if bound is Bound.ROOT_SUM_SQUARE:
        return root_sum_square_form(classes, metric, chain, minimum=False).log
    if bound is Bound.EDELMAN:
        price = edelman_price(classes.k, vectors)
        return _baseline(network.norm_21, price, 0.0, network, chain)
    if bound is Bound.TRAUGER_TEWARI:
        price = trauger_tewari_price(classes.d, classes.k)
        # Maurey's ceiling adds at most one draw to each matrix.
        return _baseline(network.norm_11, price, float(price.sum()), network, chain)
    found = integrate(network, metric, chain)
    return {
        Bound.FULL_RANK: found.log_full_rank,
        Bound.INTERPOLATED: found.log_interpolated,
        Bound.MINIMUM: found.log_minimum,
    }[bound]


def _baseline(
    norms: FloatArray, price: FloatArray, additive: float, network: Network, chain: Chain
) -> float:
    log_a = 2.0 * np.log(norms) + np.log(price)
    log_s = 0.5 * allocate(log_a, network.classes.log_beta).log_value
    return log_inverse_square_complexity(log_s, chain, additive)


@dataclass(frozen=True)
class Integrals:
    """Dudley's integral of two entropies and of their minimum, taken matrix by matrix.

    Attributes
    ----------
    log_full_rank, log_interpolated, log_minimum
        Logs of the bounds on R_n; that of Q_p is ``None`` where its integral diverges
        or fits no float.
    share_interpolated
        Share of the minimum's integral over scales and matrices at which Q_p is the smaller.
    """

    log_full_rank: float
    log_interpolated: float | None
    log_minimum: float
    share_interpolated: float


@lru_cache(maxsize=KEPT)
def integrate(network: Network, metric: Metric, chain: Chain) -> Integrals:
    r"""Integrate :math:`\sqrt{\sum_i \min(H_i^{full}, \log 2 + \log(1+q) + Q_i)}`, from above.

    Entropies fall as the scale grows: on each panel the value at its left end is an upper bound.
    Below the smallest scale :math:`u_0` the full-rank entropy stands alone in the minimum. There
    :math:`\log(1 + A/(u_0 v)) \le \Lambda_0 + \log(1/v)` and Jensen's inequality give at most
    :math:`u_0 z \sqrt{Q_p(u_0)} (1 + z/\Lambda_0)^{1/(2z)}`, :math:`z = 1/(1 - p/2)`; full rank is
    the case p = 0.
    """
    chain = replace(chain, count=chain.count or network.classes.size)
    network, count = network.distinct()
    edges = SMALLEST_SCALE ** np.linspace(1.0, 0.0, SCALES + 1)
    width = np.diff(edges)
    # Sums over matrices at each scale: full rank, Q_p, the smaller, and Q_p where it is that.
    totals = np.zeros((4, SCALES))
    price = np.inf
    for start in range(0, count.size, BLOCK):
        part = slice(start, start + BLOCK)
        classes, flat = network.classes[part], network.flat[part]
        eps = edges[:-1, None] * classes.b * np.exp(-chain.log_inverse_scale(classes))
        full = interpolated_entropy(flat, eps, metric)  # at p = 0: the factor net of that rank
        own = interpolated_entropy(classes, eps, metric)
        entropies = (full, own, np.minimum(full, own), np.where(own < full, own, 0.0))
        with np.errstate(over="ignore"):
            totals += [entropy @ count[part] for entropy in entropies]
        price = min(price, net_price(classes, np.log(classes.b / eps[0]), LOW_RANK_NET).min())
    roots = np.sqrt(totals)

    def head(first: float, z: float) -> float:
        return float(SMALLEST_SCALE * z * first * (1.0 + z / price) ** (0.5 / z))

    rest = head(roots[0, 0], 1.0)
    minimum = width @ roots[2] + rest
    share = width @ np.divide(totals[3], roots[2], out=np.zeros(SCALES), where=roots[2] > 0)
    room = 1.0 - float(network.classes.p.max()) / P_MAX
    alone = width @ roots[1] + head(roots[1, 0], 1.0 / room) if room > 0 else np.inf
    return Integrals(
        log_full_rank=chain.log_front + float(np.log(width @ roots[0] + rest)),
        log_interpolated=chain.log_front + float(np.log(alone)) if np.isfinite(alone) else None,
        log_minimum=chain.log_front + float(np.log(minimum)),
        share_interpolated=float(share / minimum),
    )
