r"""From entropies to the Rademacher complexity: the two closed forms of Theorem 3.1.

Dudley's entropy integral, for a loss in [0, b] centred at b/2, so that D = b/2:

.. math::
    R_n \le \frac{12}{\sqrt n} \int_0^D \sqrt{\textstyle\sum_i H_i(\epsilon/(J\beta_i))}\, d\epsilon
        = \frac{12 D}{\sqrt n} \int_0^1 \sqrt{\textstyle\sum_i H_i(uD/(J\beta_i))}\, du .

Both forms put the balanced entropy in place of ``H_i`` and use
:math:`\log(1 + A/u) \le \log(1 + A) + \log(1/u)`. The leading form is the paper's; the explicit
forms are derived here, and both dominate the quadrature of the exact entropy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectral_lib.bounds.covering import (
    log_balanced_terms,
    log_tail_price,
    net_price,
)
from spectral_lib.bounds.matrix_class import FloatArray, MatrixClasses, Metric, require
from spectral_lib.constants import CENTERED_RANGE, DUAL_SUDAKOV_OFFSET, DUDLEY, LOW_RANK_NET


@dataclass(frozen=True, eq=False)
class Complexity:
    """An upper bound on the Rademacher complexity, in natural logs.

    Attributes
    ----------
    log
        Log of the bound; minus infinity if no matrix can move the loss.
    log_parts
        ``[J]``: logs of what each matrix adds; the parts sum to the bound.
    """

    log: float
    log_parts: FloatArray


@dataclass(frozen=True)
class Chain:
    """What the entropy integral is taken over.

    Parameters
    ----------
    samples
        n, the number of independent samples (not of tokens).
    loss_range
        b, for a loss in [0, b].
    count
        J, the number of matrices that share the scale; ``None`` for as many as are given.
    """

    samples: float
    loss_range: float
    count: int | None = None

    def __post_init__(self) -> None:
        require(np.isfinite(self.samples) and self.samples >= 1, "samples n", ">= 1", self.samples)
        require(
            np.isfinite(self.loss_range) and self.loss_range > 0,
            "loss range",
            "finite and > 0",
            self.loss_range,
        )
        require(self.count is None or self.count >= 1, "count", ">= 1", self.count)

    @property
    def log_front(self) -> float:
        r"""Log of :math:`12 D / \sqrt n`, D = b/2."""
        return float(np.log(DUDLEY) + self.log_radius - 0.5 * np.log(self.samples))

    @property
    def log_radius(self) -> float:
        """Log of D = b/2; the product itself may leave the range of float64."""
        return float(np.log(CENTERED_RANGE) + np.log(self.loss_range))

    def log_inverse_scale(self, classes: MatrixClasses) -> FloatArray:
        r"""Return :math:`\log(B_i J \beta_i / D)`: log(B/eps_i) at the largest scale, u = 1."""
        shares = classes.size if self.count is None else self.count
        log_shares = np.log(classes.b) + np.log(shares)
        return np.asarray(log_shares + classes.log_beta - self.log_radius)


def sum_terms(classes: MatrixClasses, metric: Metric, chain: Chain) -> FloatArray:
    r"""Return the log of each matrix's term of the sum form, without the log 2.

    .. math:: \tfrac{p+2}{2} \sqrt{c_p}\, \big[M (d+k) (\Lambda + \tfrac{p+2}{2})\big]^{1/(p+2)}
        \Big[\sqrt{32 q K}\, \tfrac{B J \beta}{D}\Big]^{p/(p+2)},
        \qquad \Lambda = \log(1 + 8 s B J \beta / D),

    since :math:`\int_0^1 u^{-p/(p+2)} du = (p+2)/2`, with Jensen for the logarithm.
    """
    log_inv = chain.log_inverse_scale(classes)
    stretch = (classes.p + 2.0) / 2.0
    price = net_price(classes, log_inv, LOW_RANK_NET) + stretch
    log_terms = log_balanced_terms(classes, price, log_tail_price(classes, log_inv, metric))
    return np.where(classes.log_beta > -np.inf, np.log(stretch) + 0.5 * log_terms, -np.inf)


def sum_form(
    classes: MatrixClasses, metric: Metric, chain: Chain, *, minimum: bool = True
) -> Complexity:
    r"""Return :math:`\frac{12D}{\sqrt n} \{\sqrt{\#\{p_i > 0\} \log 2} + \sum_i t_i\}`.

    The explicit sum form, with the terms ``t_i`` of :func:`sum_terms`: the paper's leading form
    :math:`\sum_i S_p^{1/(p+2)} (\gamma\alpha L)^{p/(p+2)} N^{(p+1)/(p+2)}` with its constants.

    Parameters
    ----------
    classes
        The matrices of the network, shape ``[J]``.
    minimum
        Put the full-rank term in place of a matrix's own wherever it is smaller.
    """
    log_terms = sum_terms(classes, metric, chain)
    tailed = (classes.p > 0) & (log_terms > -np.inf)
    if minimum:
        full = sum_terms(classes.full_rank(), metric, chain)
        tailed &= log_terms < full
        log_terms = np.minimum(log_terms, full)
    tails = int(np.count_nonzero(tailed))
    # The joint sqrt(# log 2), shared out evenly so that the parts sum to the whole.
    share = 0.5 * np.log(DUAL_SUDAKOV_OFFSET / max(tails, 1))
    log_parts = chain.log_front + np.where(tailed, np.logaddexp(log_terms, share), log_terms)
    return Complexity(float(np.logaddexp.reduce(log_parts)), log_parts)


def root_sum_square_terms(
    classes: MatrixClasses, metric: Metric, chain: Chain, c: float
) -> FloatArray:
    r"""Return the log of each matrix's term under the root, its log 2 included.

    .. math:: z\, c_p \big[M (d+k) (\Lambda + z)\big]^{2/(p+2)}
        \Big[32\, q K \big(\tfrac{B J \beta}{D}\big)^2\Big]^{p/(p+2)} + [p>0] \frac{\log 2}{1+c},
        \qquad z = \frac{1}{1 + c - 2p/(p+2)} .
    """
    log_inv = chain.log_inverse_scale(classes)
    room = 1.0 + c - 2.0 * classes.p / (classes.p + 2.0)
    converges = room > 0  # not at c = 0, p = 2
    z = 1.0 / np.where(converges, room, 1.0)
    price = net_price(classes, log_inv, LOW_RANK_NET) + z
    log_terms = np.log(z) + log_balanced_terms(
        classes, price, log_tail_price(classes, log_inv, metric)
    )
    offset = np.where(classes.p > 0, np.log(DUAL_SUDAKOV_OFFSET) - np.log1p(c), -np.inf)
    moves = (classes.log_beta > -np.inf) & ~classes.trivial
    found = np.where(converges, np.logaddexp(log_terms, offset), np.inf)
    return np.where(moves, found, -np.inf)


def root_sum_square_form(
    classes: MatrixClasses, metric: Metric, chain: Chain, *, minimum: bool = True
) -> Complexity:
    r"""Return :math:`\frac{12 D}{\sqrt{n(1-c)}} \{\sum_i t_i\}^{1/2}` (derived here).

    Cauchy-Schwarz with weight :math:`u^{-c}` and the terms of :func:`root_sum_square_terms`.
    Without ``minimum``, c is the largest ``p_i/(p_i+2)``. With it, c runs over 0 and all
    ``p_i/(p_i+2)``; a matrix takes its full-rank term where that is smaller, or where its own
    exponent exceeds c; the smallest bound is returned.
    """
    exponents = classes.p / (classes.p + 2.0)
    if not minimum:
        largest = float(exponents.max())
        terms = root_sum_square_terms(classes, metric, chain, largest)
        return root_of_terms(terms, chain, largest)
    flat = classes.full_rank()
    found: list[Complexity] = []
    for c in sorted({0.0, *exponents.ravel().tolist()}):
        own = root_sum_square_terms(classes, metric, chain, c)
        full = root_sum_square_terms(flat, metric, chain, c)
        terms = np.where(exponents <= c, np.minimum(own, full), full)
        found.append(root_of_terms(terms, chain, c))
    return min(found, key=lambda complexity: complexity.log)


def root_of_terms(log_terms: FloatArray, chain: Chain, c: float) -> Complexity:
    """Return the bound from the terms under the root; each gets its share of the root."""
    log_sum = float(np.logaddexp.reduce(log_terms))
    log = chain.log_front - 0.5 * float(np.log1p(-c)) + 0.5 * log_sum
    return Complexity(log, log_shares(log, log_terms))


def log_shares(log_total: float, log_terms: FloatArray) -> FloatArray:
    """Return the logs of parts of the total that are proportional to the terms."""
    if log_total == -np.inf:
        return np.full_like(log_terms, -np.inf)
    return np.asarray(log_total + log_terms - np.logaddexp.reduce(log_terms), dtype=np.float64)
