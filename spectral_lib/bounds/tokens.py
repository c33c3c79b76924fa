r"""How four covers of one matrix class depend on the number of token vectors.

The class is the Frobenius ball :math:`\{W \in \mathbb{R}^{d \times k} : \|W\|_F \le F\}`, met by
:math:`\mu = nT` vectors of norm at most B. By Cauchy and Schwarz it lies in the (2,1) ball of
radius :math:`\sqrt k F` and in the (1,1) ball of radius :math:`\sqrt{dk} F`, so that each argument
covers it, with a bound of one shape:

.. math:: \log N(\epsilon) \le \pi \Big(\frac{FB}{\epsilon}\Big)^2 + \text{const},

and the *price* :math:`\pi` is all that differs. The finite covers and packings that are
constructed in the book have their sizes here, as logarithms.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp

from spectral_lib.bounds.baselines import edelman_price, trauger_tewari_price
from spectral_lib.bounds.matrix_class import (
    FloatArray,
    MatrixClasses,
    OperatorMetric,
    SampleMetric,
    require,
)
from spectral_lib.constants import COLUMN_STEPS, DUAL_SUDAKOV, MAUREY_ORIGIN, MAUREY_SIGNS
from spectral_lib.errors import DomainError

#: The arguments: column by column along the data; draws of unit matrices; Gaussian measure in the
#: sample seminorm; Gaussian measure in operator norm.
Argument = Literal["columns", "sampling", "gaussian", "operator"]


def frobenius_price(argument: Argument, d: int, k: int, vectors: ArrayLike) -> FloatArray:
    r"""Return the price :math:`\pi` of the Frobenius ball, in nats per :math:`(FB/\epsilon)^2`.

    ====================  ==========================================================
    ``columns``           :math:`k (\sqrt{\log(k+1)} + 2 \sqrt{\log(2\mu+1)})^2`
    ``sampling``          :math:`dk \log(2dk+1)`, paid for whole draws
    ``gaussian``          :math:`8 (\sqrt k + \sqrt{2 \log \mu})^2`, plus log 2 once
    ``operator``          :math:`8 (\sqrt d + \sqrt k)^2`, plus log 2 once
    ====================  ==========================================================

    Parameters
    ----------
    argument
        How the ball is covered.
    d, k
        Shape of the matrices.
    vectors
        Numbers of token vectors :math:`\mu = nT \ge 1`, any shape; the result has this shape.

    Source: the first two after Edelman et al. (2022) and Trauger and Tewari (2024); constants and
    the last two derived here.

    Raises
    ------
    DomainError
        A size below 1, or an unknown argument.
    """
    mu = np.asarray(vectors, dtype=np.float64)
    require(np.isfinite(mu) & (mu >= 1), "mu", ">= 1", mu)
    ball = MatrixClasses.of(d, k, s=1.0, p=2.0, m=1.0)
    flat = np.ones_like(mu)
    if argument == "columns":
        prices = [edelman_price(k, count) for count in mu.ravel().tolist()]
        return np.asarray(k * np.reshape(prices, mu.shape), dtype=np.float64)
    if argument == "sampling":
        return d * k * trauger_tewari_price(d, k) * flat
    if argument == "gaussian":
        widths = [SampleMetric(count).width_squared(ball) for count in mu.ravel().tolist()]
        return DUAL_SUDAKOV * np.reshape(widths, mu.shape)
    if argument == "operator":
        return DUAL_SUDAKOV * OperatorMetric().width_squared(ball) * flat
    raise DomainError(f"argument must be one of {get_args(Argument)}, got {argument!r}")


def log_break_even(ratio: ArrayLike, d: ArrayLike, k: ArrayLike) -> FloatArray:
    r"""Return :math:`\log \mu` at which the (1,1) and the (2,1) cover of a matrix cost the same.

    .. math:: \sqrt{\log(k+1)} + 2\sqrt{\log(2\mu+1)} = \rho \sqrt{\log(2dk+1)},
        \qquad \rho = \|W\|_{1,1} / \|W\|_{2,1} \in [1, \sqrt d] .

    With more token vectors the (1,1) cover is the cheaper one. Zero where it is for every number.

    Parameters
    ----------
    ratio
        rho, any shape; 1 if every column has one entry, sqrt(d) if all moduli are equal.

    Source: derived here.
    """
    rho, d, k = (np.asarray(x, dtype=np.float64) for x in (ratio, d, k))
    require(np.isfinite(rho) & (rho > 0), "ratio", "finite and > 0", rho)
    left = rho * np.sqrt(trauger_tewari_price(d, k)) - np.sqrt(np.log(k + 1.0))
    exponent = np.square(np.maximum(left, 0.0)) / COLUMN_STEPS  # log(2 mu + 1)
    with np.errstate(divide="ignore"):
        log_mu = exponent + np.log1p(-np.exp(-exponent)) - np.log(2.0)
    return np.asarray(np.maximum(log_mu, 0.0), dtype=np.float64)


def log_binomial(n: ArrayLike, j: ArrayLike) -> FloatArray:
    r"""Return :math:`\log \binom{n}{j}`, minus infinity for j > n."""
    n, j = np.asarray(n, dtype=np.float64), np.asarray(j, dtype=np.float64)
    inside = np.minimum(j, n)
    value = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    return np.where(j <= n, value, -np.inf)


def log_step_cover(vectors: ArrayLike, steps: int) -> FloatArray:
    r"""Return the log of :math:`\#\{z \in \mathbb{Z}^\mu : \|z\|_1 \le m\}`.

    .. math:: \sum_{i=0}^{m} 2^i \binom{\mu}{i} \binom{m}{i}

    counts the end points of m perceptron steps along orthonormal inputs: choose the i inputs that
    occur, their signs, and i partial sums of the moduli among 1, ..., m.

    Parameters
    ----------
    vectors
        Numbers of inputs mu, any shape.
    steps
        m >= 0.
    """
    mu = np.asarray(vectors, dtype=np.float64)
    require(mu >= 1, "mu", ">= 1", mu)
    require(steps >= 0, "steps", ">= 0", steps)
    i = np.arange(steps + 1.0)
    terms = i * np.log(2.0) + log_binomial(mu[..., None], i) + log_binomial(steps, i)
    return np.asarray(logsumexp(terms, axis=-1), dtype=np.float64)


def log_sparse_packing(vectors: ArrayLike, entries: int) -> FloatArray:
    r"""Return :math:`\log\big(2^m \binom{\mu}{m}\big)`: vectors with m entries of equal modulus.

    Two of them differ in an entry by at least that modulus.
    """
    require(entries >= 0, "entries", ">= 0", entries)
    return np.asarray(entries * np.log(2.0) + log_binomial(vectors, entries), dtype=np.float64)


def log_average_cover(d: int, k: int, draws: int) -> float:
    r"""Return :math:`\log \binom{2dk + \nu}{\nu}`: averages of nu vertices of the (1,1) ball.

    The vertices are :math:`\pm R e_i e_j^T` and 0; the order of the draws does not matter.
    """
    require(draws >= 0, "draws", ">= 0", draws)
    vertices = MAUREY_SIGNS * d * k + MAUREY_ORIGIN
    return float(log_binomial(vertices - 1.0 + draws, draws))


def frobenius_lower_bound(k: int, vectors: ArrayLike, radius: float) -> FloatArray:
    r"""Return :math:`m \max(k \log 2, \log(2\mu/m))` with :math:`m = \lfloor r^2/16 \rfloor`.

    A lower bound of :math:`\log N(\epsilon)` for the Frobenius ball on mu >= m orthogonal inputs
    of norm B, with :math:`r = FB/\epsilon`; for fewer inputs m = mu. So k and :math:`\log \mu`
    add.

    Source: derived here.
    """
    mu = np.asarray(vectors, dtype=np.float64)
    require(mu >= 1, "mu", ">= 1", mu)
    require(np.isfinite(radius) and radius >= 0, "radius", "finite and >= 0", radius)
    m = np.minimum(np.floor(radius**2 / 16.0), mu)
    log_ratio = np.log(2.0 * mu / np.maximum(m, 1.0))
    return np.asarray(m * np.maximum(k * np.log(2.0), log_ratio), dtype=np.float64)
