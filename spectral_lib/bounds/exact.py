r"""The exact entropy of a matrix class: the best integer rank for the principal part.

.. math::
    H(\epsilon) = \min_{0 \le r \le q} \; r (d+k) \Lambda + [r < q] \left( \log 2
        + V \min(M \tau_r^{2-p}, (q-r) \tau_r^2) \right), \qquad
    \tau_r = \min(s, (M/(r+1))^{1/p}),

with :math:`\Lambda`, :math:`V` as in :mod:`spectral_lib.bounds.covering`. The member r = q is the
full-rank entropy; at p = 0 the rank is r = floor(M) and there is no tail.

The squared tail norm :math:`T_r` depends on the class only. Up to the last r with
:math:`\tau_r = s` it is concave in r, so an end is best; above, it is
:math:`\min(r+1, q-r) (M/(r+1))^{2/p}`, convex on either side of r = (q-1)/2, so the sign of a
forward difference finds the best r by bisection in a table of the differences: O(q) once for a
class and O(log q) for each of its scales, in blocks of bounded size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spectral_lib.bounds.covering import log_inverse_scale, log_of, log_tail_price, net_price
from spectral_lib.bounds.matrix_class import FloatArray, IntArray, MatrixClasses, Metric, require
from spectral_lib.constants import DUAL_SUDAKOV_OFFSET, LOW_RANK_NET

#: Elements of a working array: they stay in cache, and a large batch stays within memory.
BLOCK_ELEMENTS = 1 << 16


def log_tail(classes: MatrixClasses, r: IntArray) -> FloatArray:
    r"""Return the log of :math:`T_r = \tau_r^2 \min(M \tau_r^{-p}, q - r)`, for p > 0 and r < q.

    ``T_r`` bounds the squared Frobenius norm of ``W`` without its r largest singular values.
    """
    log_m = log_of(classes.m)
    log_tau = np.minimum(log_of(classes.s), (log_m - np.log(r + 1.0)) / classes.p)
    count = np.minimum(log_m - classes.p * log_tau, np.log(classes.q - r))
    return np.asarray(2.0 * log_tau + count, dtype=np.float64)


def _log_steps(classes: MatrixClasses) -> FloatArray:
    """Return ``log(T_r - T_{r+1})`` for 0 <= r < q - 1, ``[J, max q]``; -inf beyond."""
    r = np.arange(classes.q.max())
    table = log_tail(classes[:, None], np.minimum(r, classes.q[:, None] - 1))
    return table[:, :-1] + log_of(-np.expm1(np.minimum(np.diff(table), 0.0)))


def _best_in(steps: FloatArray, low: IntArray, high: IntArray, log_slope: FloatArray) -> IntArray:
    """Return the smallest r in [low, high] whose step up does not pay, by bisection.

    A step from r to r + 1 pays while ``T_r - T_{r+1}`` exceeds ``exp(log_slope)``, the price of
    a singular value in units of the tail's; ``T`` is convex between ``low`` and ``high``.
    """
    low, high = low.copy(), high.copy()
    columns = np.arange(len(steps))
    while (open_ := low < high).any():
        r = (low + high) // 2
        pays = steps[columns, np.minimum(r, steps.shape[1] - 1)] > log_slope
        high = np.where(open_ & ~pays, r, high)
        low = np.where(open_ & pays, r + 1, low)
    return low


def _smallest_member(classes: MatrixClasses, price: FloatArray, log_v: FloatArray) -> FloatArray:
    """Return the minimum over r for classes with p > 0, M > 0 and s > 0."""
    degree = (classes.d + classes.k) * price
    with np.errstate(invalid="ignore"):
        log_slope = log_of(degree) - log_v
    last = np.broadcast_to(classes.q - 1, log_slope.shape)
    # r < plateau have tau_r = s. The cap keeps M / s^p within the integers.
    ratio = np.minimum(log_of(classes.m) - classes.p * log_of(classes.s), np.log(classes.q + 1.0))
    plateau = np.broadcast_to(np.floor(np.exp(ratio)).astype(np.int64), log_slope.shape)
    middle = np.broadcast_to((classes.q - 1) // 2, log_slope.shape)
    start = np.minimum(plateau, last)
    steps = _log_steps(classes)
    ranks = [
        np.zeros_like(last),
        np.clip(plateau - 1, 0, last),
        _best_in(steps, start, np.maximum(middle, start), log_slope),
        _best_in(steps, np.minimum(np.maximum(middle + 1, start), last), last, log_slope),
    ]
    best = classes.q * degree
    for r in ranks:
        with np.errstate(over="ignore"):
            member = r * degree + DUAL_SUDAKOV_OFFSET + np.exp(log_v + log_tail(classes, r))
        best = np.minimum(best, member)
    return np.asarray(best, dtype=np.float64)


def smallest_member(classes: MatrixClasses, price: FloatArray, log_v: FloatArray) -> FloatArray:
    r"""Return :math:`\min_r` for given prices ``Lam`` and ``log V`` (which may be infinite).

    Parameters
    ----------
    classes
        A batch of shape ``[J]``.
    price, log_v
        ``Lam`` and ``log V`` of each class, shape ``[E, J]`` or ``[J]``.
    """
    rank = np.minimum(np.floor(classes.m), classes.q)
    result = np.where(classes.trivial, 0.0, rank * (classes.d + classes.k) * price)
    tailed = (classes.p > 0) & ~classes.trivial
    # A block's working arrays hold (scales x classes) and (ranks x classes) elements.
    block = max(1, BLOCK_ELEMENTS // max(len(price), int(classes.q.max())))
    chosen = np.flatnonzero(tailed)
    for start in range(0, chosen.size, block):
        part = chosen[start : start + block]
        result[..., part] = _smallest_member(classes[part], price[..., part], log_v[..., part])
    return result


def exact_entropy(classes: MatrixClasses, eps: ArrayLike, metric: Metric) -> FloatArray:
    r"""Return the exact entropy :math:`H(\epsilon)` of each class at its own scale, in nats.

    The formula is the module's; it is derived here with all constants, and bounds what
    Theorem 4.1 of the paper bounds to leading order.

    Parameters
    ----------
    classes
        A batch of shape ``[J]`` (or ``[]``).
    eps
        Scale in the metric, ``[]``, ``[J]`` or ``[E, J]`` (``[E, 1]`` for common scales).
    metric
        :class:`SampleMetric` or :class:`OperatorMetric`.

    Raises
    ------
    DomainError
        If ``eps <= 0``.
    """
    log_inv = log_inverse_scale(classes, eps)
    return _entropy(classes, log_inv, metric)


def network_entropy(
    classes: MatrixClasses, eps: ArrayLike, metric: Metric, *, count: int | None = None
) -> FloatArray:
    r"""Return :math:`\sum_i H_i(\epsilon / (J \beta_i))`, the entropy of the composed network.

    The telescoping over matrices gives each a share ``eps/J`` of the loss's scale, whatever its
    ``log_beta`` (up to 1e4 and beyond); covers are uniform over inputs, so entropies add.

    Parameters
    ----------
    classes
        The network's matrices, shape ``[J]``.
    eps
        Scale of the loss, shape ``[E]`` or ``[]``; the result has this shape.
    count
        J, by default the number of classes.
    """
    eps = np.asarray(eps, dtype=np.float64)
    shares = classes.size if count is None else count
    require(shares >= 1, "count", ">= 1", shares)
    log_inv = log_inverse_scale(classes, eps[..., None]) + np.log(shares) + classes.log_beta
    return np.asarray(_entropy(classes, log_inv, metric).sum(axis=-1), dtype=np.float64)


def _entropy(classes: MatrixClasses, log_inv: FloatArray, metric: Metric) -> FloatArray:
    shape = log_inv.shape
    if not classes.shape:
        classes, log_inv = classes[None], log_inv[..., None]
    price = net_price(classes, log_inv, LOW_RANK_NET)
    log_v = log_tail_price(classes, log_inv, metric)
    return smallest_member(classes, price, log_v).reshape(shape)
