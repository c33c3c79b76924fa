r"""The allocation lemma: how to split a scale among matrices whose entropies are powers.

Minimise :math:`\sum_i a_i \epsilon_i^{-2 q_i}` under :math:`\sum_i \beta_i \epsilon_i = \epsilon`.
For one common q,

.. math::
    \epsilon_i \propto (a_i/\beta_i)^{1/(2q+1)}, \qquad
    \min = \epsilon^{-2q} \Big( \sum_i (a_i \beta_i^{2q})^{1/(2q+1)} \Big)^{2q+1} .

q = 1 gives the powers 2/3 and 3/2 of the norm-based bounds. Derived here by Lagrange's condition;
for mixed exponents its multiplier is the root of one monotone equation, solved in logs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spectral_lib.bounds.matrix_class import FloatArray, require


@dataclass(frozen=True, eq=False)
class Allocation:
    """The best split of a scale, in natural logs.

    Attributes
    ----------
    log_value
        Log of the minimum; minus infinity if no matrix costs anything.
    log_eps
        ``[J]``, logs of the minimisers: minus infinity for a matrix that costs nothing (its share
        is better spent elsewhere), infinity for one that cannot move the loss (beta = 0).
    """

    log_value: float
    log_eps: FloatArray


def allocate(
    log_a: ArrayLike, log_beta: ArrayLike, q: ArrayLike = 1.0, *, log_eps: float = 0.0
) -> Allocation:
    r"""Return the minimum of :math:`\sum_i a_i \epsilon_i^{-2q_i}` and where it is attained.

    Parameters
    ----------
    log_a, log_beta
        ``[J]``, natural logs; minus infinity is a legal zero.
    q
        Exponents > 0, one for all or one each.
    log_eps
        Log of the scale to be split.

    Raises
    ------
    DomainError
        An exponent that is not positive (its infimum is not attained), a log that is NaN or
        plus infinity.
    """
    arrays = (np.asarray(x, dtype=np.float64) for x in (log_a, log_beta, q))
    log_a, log_beta, q = np.broadcast_arrays(*arrays)
    for name, logs in (("log a", log_a), ("log beta", log_beta)):
        require(logs < np.inf, name, "a number or -inf", logs)
    require(np.isfinite(q) & (q > 0), "q", "> 0", q)
    require(np.isfinite(log_eps), "log eps", "finite", log_eps)

    shares = np.where(log_beta == -np.inf, np.inf, -np.inf)
    active = (log_a > -np.inf) & (log_beta > -np.inf)
    if not active.any():
        return Allocation(-np.inf, shares)
    a, beta, exponents = log_a[active], log_beta[active], q[active]
    # Stationarity: log eps_i = (log(2 q a / beta) - log lambda) / (2 q + 1).
    offset = np.log(2.0 * exponents) + a - beta
    power = 2.0 * exponents + 1.0
    # Some beta_i eps_i is at least eps / J and none exceeds eps: this brackets log lambda.
    at_scale = offset + power * (beta - log_eps)
    low, high = float(at_scale.max()), float((at_scale + power * np.log(at_scale.size)).max())

    def excess(log_lambda: float) -> float:
        return float(np.logaddexp.reduce(beta + (offset - log_lambda) / power)) - log_eps

    # For one exponent the root is explicit; it also stands where the bracket is a point.
    if np.ptp(power) == 0:
        log_lambda = low + float(power[0]) * excess(low)
    else:
        log_lambda = brentq(excess, low, high, xtol=1e-12, rtol=1e-14) if low < high else low
    found = (offset - log_lambda) / power
    shares[active] = found
    return Allocation(float(np.logaddexp.reduce(a - 2.0 * exponents * found)), shares)
