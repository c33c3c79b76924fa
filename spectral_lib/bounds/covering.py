r"""Covering numbers of one matrix class (Theorem 4.1), in closed form.

Write :math:`\Lambda = \log(1 + 8 s B/\epsilon)` for the price of one degree of freedom of the
principal part, :math:`V = 32 B^2 K/\epsilon^2` for the price of the tail's squared Frobenius norm,
and ``q = min(d, k)``. Every function returns an upper bound, in nats, on the logarithm of the
covering number at scale ``eps`` in the given metric; ``eps`` broadcasts against the batch.

The forms with explicit constants are derived in this project; only the leading form is the
paper's (Theorem 4.1), and it is a bound up to constants and logarithms only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from spectral_lib.bounds.matrix_class import FloatArray, MatrixClasses, Metric, require
from spectral_lib.constants import (
    DUAL_SUDAKOV_OFFSET,
    DUAL_SUDAKOV_TAIL,
    FULL_RANK_NET,
    LOW_RANK_NET,
    P_MAX,
    PURE_RANK_NET,
)


def log_of(values: ArrayLike) -> FloatArray:
    """Return the natural log, with ``log 0 = -inf`` and no warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(values, dtype=np.float64)), dtype=np.float64)


def log_inverse_scale(classes: MatrixClasses, eps: ArrayLike) -> FloatArray:
    """Return ``log(B / eps)``; :class:`DomainError` unless ``eps`` is a positive number."""
    eps = np.asarray(eps, dtype=np.float64)
    require(np.isfinite(eps) & (eps > 0), "eps", "finite and > 0", eps)
    return np.asarray(np.log(classes.b) - np.log(eps), dtype=np.float64)


def net_price(classes: MatrixClasses, log_inv: FloatArray, net: float) -> FloatArray:
    r"""Return :math:`\log(1 + c\, s B/\epsilon)` from ``log(B/eps)``, safe at any scale."""
    price = np.logaddexp(0.0, np.log(net) + log_of(classes.s) + log_inv)
    return np.asarray(price, dtype=np.float64)


def log_tail_price(classes: MatrixClasses, log_inv: FloatArray, metric: Metric) -> FloatArray:
    r"""Return :math:`\log V`, :math:`V = 32 B^2 K/\epsilon^2`, from ``log(B/eps)``."""
    return np.asarray(
        np.log(DUAL_SUDAKOV_TAIL) + np.log(metric.width_squared(classes)) + 2.0 * log_inv,
        dtype=np.float64,
    )


def log_balance(p: ArrayLike) -> FloatArray:
    r"""Return :math:`\log c_p = h(p/(p+2))`, h the binary entropy in nats.

    :math:`c_p = (p/2)^{-p/(p+2)} + (p/2)^{2/(p+2)}` is the minimum of :math:`\tau^{-p} + \tau^2`;
    it is 1 at p = 0 and 2 at p = 2, and the entropy form has no 0/0 there.
    """
    p = np.asarray(p, dtype=np.float64)
    require((p >= 0) & (p <= P_MAX), "p", "in [0, 2]", p)
    x = p / (p + 2.0)
    return np.asarray(-xlogy(x, x) - xlog1py(1.0 - x, -x), dtype=np.float64)


def log_balanced_terms(
    classes: MatrixClasses, price: FloatArray, log_tail: FloatArray
) -> FloatArray:
    r"""Return the log of :math:`c_p [M (d+k) \Lambda]^{2/(p+2)} [q V]^{p/(p+2)}`.

    The minimum over tau of ``M (d+k) Lam tau^-p + q V tau^2``; ``-inf`` for a trivial class.
    """
    x = classes.p / (classes.p + 2.0)
    principal = log_of(classes.m * (classes.d + classes.k)) + log_of(price)
    tail = np.log(classes.q) + log_tail
    with np.errstate(invalid="ignore"):
        # At p = 0 the tail has weight nothing, even where its price is 0 or infinite.
        weighted = np.where(x > 0, x * tail, 0.0)
        value = log_balance(classes.p) + (1.0 - x) * principal + weighted
    return np.where(classes.trivial | (price == 0), -np.inf, value)


def balanced_entropy(classes: MatrixClasses, eps: ArrayLike, metric: Metric) -> FloatArray:
    r"""Return :math:`c_p [M(d+k)\Lambda]^{2/(p+2)} [qV]^{p/(p+2)} + \log 2\,[p>0]`, in nats.

    The closed form of Theorem 4.1 with explicit constants (derived here): principal part with
    :math:`r \le M/\tau^p` singular values above tau, tail with squared Frobenius norm at most
    :math:`q \tau^2`, tau balanced. It can exceed :func:`full_rank_entropy` by many orders.
    """
    log_inv = log_inverse_scale(classes, eps)
    price = net_price(classes, log_inv, LOW_RANK_NET)
    log_value = log_balanced_terms(classes, price, log_tail_price(classes, log_inv, metric))
    with np.errstate(over="ignore"):
        value = np.exp(log_value)
    return np.where(classes.trivial, 0.0, value + np.where(classes.p > 0, DUAL_SUDAKOV_OFFSET, 0.0))


def optimal_split(classes: MatrixClasses, eps: ArrayLike, metric: Metric) -> FloatArray:
    r"""Return the balanced split :math:`\tau = (p M (d+k) \Lambda / (2 q V))^{1/(p+2)}`.

    Singular values above tau go to the principal part. At p = 0 it is 0: nothing is left out.
    """
    log_inv = log_inverse_scale(classes, eps)
    principal = log_of(classes.m * (classes.d + classes.k)) + log_of(
        net_price(classes, log_inv, LOW_RANK_NET)
    )
    tail = np.log(classes.q) + log_tail_price(classes, log_inv, metric)
    return np.exp((log_of(classes.p / 2.0) + principal - tail) / (classes.p + 2.0))


def leading_entropy(
    classes: MatrixClasses, eps: ArrayLike, width: ArrayLike | None = None
) -> FloatArray:
    r"""Return :math:`M^{2/(p+2)} (B/\epsilon)^{2p/(p+2)} N^{2(p+1)/(p+2)}`, no bound.

    Theorem 4.1 of the paper, up to constants and logarithms; ``width`` is its N (by default the
    larger dimension of each matrix).
    """
    size = np.asarray(np.maximum(classes.d, classes.k) if width is None else width, dtype=float)
    require(size >= 1, "width", ">= 1", size)
    log_inv = log_inverse_scale(classes, eps)
    x = classes.p / (classes.p + 2.0)
    log_value = (1.0 - x) * log_of(classes.m) + 2.0 * x * log_inv + (1.0 + x) * np.log(size)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_value), dtype=np.float64)


def log_interpolated(classes: MatrixClasses, eps: ArrayLike, metric: Metric) -> FloatArray:
    r"""Return :math:`\log Q_p`, :math:`Q_p = M ((d+k)\Lambda)^{1-p/2} V^{p/2}` (derived here).

    The balanced form divided by ``c_p`` is :math:`Q_p^{2/(p+2)} (q(d+k)\Lambda)^{p/(p+2)}`, a
    geometric mean of ``Q_p`` and the full-rank entropy.
    """
    log_inv = log_inverse_scale(classes, eps)
    degree = np.log(classes.d + classes.k) + log_of(net_price(classes, log_inv, LOW_RANK_NET))
    half = classes.p / 2.0
    value = log_of(classes.m) + half * log_tail_price(classes, log_inv, metric)
    return np.asarray(
        # At p = 2 the principal part has weight nothing, whatever its price.
        value + np.where(half < 1.0, (1.0 - half) * degree, 0.0),
        dtype=np.float64,
    )


def interpolated_entropy(classes: MatrixClasses, eps: ArrayLike, metric: Metric) -> FloatArray:
    r"""Return :math:`\log 2 + \log(1+q) + Q_p`, and :math:`Q_0` alone at p = 0 (derived here).

    With :math:`\tau^2 = (d+k)\Lambda/V` a matrix costs
    :math:`(d+k)\Lambda \sum_j \min(1, (\sigma_j/\tau)^2) \le Q_p`; the number of singular values
    above tau is not known in advance, hence the union over its ``1 + q`` values.
    """
    with np.errstate(over="ignore"):
        value = np.exp(log_interpolated(classes, eps, metric))
    extra = np.where(classes.p > 0, DUAL_SUDAKOV_OFFSET + np.log1p(classes.q), 0.0)
    return np.where(classes.trivial, 0.0, value + extra)


def full_rank_entropy(classes: MatrixClasses, eps: ArrayLike) -> FloatArray:
    r"""Return :math:`q (d+k) \Lambda`: the factor net with every singular value in it.

    The trivial member of the exact entropy: only ``||W||_2 <= s`` is used.
    """
    price = net_price(classes, log_inverse_scale(classes, eps), LOW_RANK_NET)
    return np.asarray(classes.q * (classes.d + classes.k) * price, dtype=np.float64)


def volumetric_entropy(classes: MatrixClasses, eps: ArrayLike) -> FloatArray:
    r"""Return :math:`d k \log(1 + 2 s B/\epsilon)`, the net of the operator-norm ball itself.

    Always below :func:`full_rank_entropy`: no factors, no split scale (exact dimensions).
    """
    price = net_price(classes, log_inverse_scale(classes, eps), FULL_RANK_NET)
    return np.asarray(classes.d * classes.k * price, dtype=np.float64)


def pure_rank_entropy(classes: MatrixClasses, eps: ArrayLike, rank: ArrayLike) -> FloatArray:
    r"""Return :math:`r (d+k) \log(1 + 4 s B/\epsilon)` for matrices of rank at most r.

    The factor net at the whole of eps: without a tail nothing is kept back for it.
    """
    rank = np.asarray(rank, dtype=np.float64)
    require((rank >= 0) & (rank == np.floor(rank)), "rank", "an integer >= 0", rank)
    price = net_price(classes, log_inverse_scale(classes, eps), PURE_RANK_NET)
    return np.asarray(np.minimum(rank, classes.q) * (classes.d + classes.k) * price)


def profile_entropy(
    profile: ArrayLike,
    eps: ArrayLike,
    metric: Metric,
    *,
    d: int,
    k: int,
    b: float = 1.0,
) -> FloatArray:
    r"""Return :math:`\log 2 + (d+k)\Lambda \sum_j \min(1, (s_j/\tau)^2)`, in nats.

    With :math:`\tau^2 = (d+k)\Lambda/V`, the truncation profile (derived here) covers
    :math:`\{W : \sigma_j(W) \le s_j\ \forall j\}`.
    Since :math:`\min(1, t^2) \le t^p`, the sum is at most ``Q_p`` for every p at once. Without a
    tail (every ``s_j`` above tau) the log 2 falls away.

    Parameters
    ----------
    profile
        :math:`s_1 \ge s_2 \ge \dots \ge 0`, shape ``[q]``, q = min(d, k).
    eps
        Scale, any shape; the result has this shape.
    """
    bounds = np.asarray(profile, dtype=np.float64)
    require(np.isfinite(bounds) & (bounds >= 0), "profile", "finite and >= 0", bounds)
    require(np.diff(bounds) <= 0, "profile", "in descending order", bounds)
    require(bounds.shape == (min(d, k),), "profile", f"of shape ({min(d, k)},)", bounds.shape)
    eps = np.asarray(eps, dtype=np.float64)
    if bounds[0] == 0:
        return np.zeros(eps.shape)
    ball = MatrixClasses.of(d, k, s=bounds[0], p=2.0, m=0.0, b=b)
    log_inv = log_inverse_scale(ball, eps)
    price = (d + k) * net_price(ball, log_inv, LOW_RANK_NET)
    log_tau = 0.5 * (log_of(price) - log_tail_price(ball, log_inv, metric))
    relative = 2.0 * (log_of(bounds) - log_tau[..., None])
    # With every s_j above tau there is no tail to cover.
    tailless = (relative > 0).all(axis=-1)
    weight = np.exp(np.minimum(relative, 0.0)).sum(axis=-1)
    return np.asarray(
        price * weight + np.where(tailless, 0.0, DUAL_SUDAKOV_OFFSET), dtype=np.float64
    )
