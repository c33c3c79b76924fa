r"""The phase diagram of p*: which Schatten index a spectrum prefers at which scale.

A matrix of rank r with singular values :math:`\sigma_j` contributes
:math:`F(p) = S_p^{1/(p+2)} t^{p/(p+2)} N^{(p+1)/(p+2)}` at the scale :math:`t = \gamma\alpha L`.
With :math:`G(p) = \log S_p`, the derivative of :math:`\log F` has the sign of
:math:`(p+2) G'(p) - G(p) + \log N + 2 \log t`, which never falls in p, as G is convex. So p is the
minimiser exactly at the scale

.. math:: \log t_p = \tfrac12 \big[ G(p) - (p+2)\, G'(p) - \log N \big],

which never grows in p: :math:`p^* = 0` for :math:`t \ge t_0`, :math:`p^* = 2` for
:math:`t \le t_2`, and p* lies strictly between for :math:`t_2 < t < t_0`. Derived here; at p = 0 it
is the rank threshold. The level lines are exact, and no minimisation is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectral_lib.constants import P_MAX
from spectral_lib.errors import DomainError

FloatArray = NDArray[np.float64]

#: Halvings of [0, 2]: p* to the last bit.
_HALVINGS = 52


def log_level(log_values: ArrayLike, hidden: float, p: ArrayLike) -> FloatArray:
    r"""Return :math:`\log t_p`, the scale at which p is the minimiser.

    Parameters
    ----------
    log_values
        ``[..., q]``, logs of singular values; minus infinity for those that do not count.
    hidden
        N.
    p
        ``[...]`` or ``[]``, in [0, 2].

    Raises
    ------
    DomainError
        p outside [0, 2], N below 1, or a zero matrix.
    """
    logs, index = np.asarray(log_values, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if not ((index >= 0) & (index <= P_MAX)).all():
        raise DomainError(f"p must be in [0, {P_MAX:g}], got {index}")
    if not (np.isfinite(hidden) and hidden >= 1):
        raise DomainError(f"hidden must be a finite number >= 1, got {hidden}")
    counted = np.isfinite(logs)
    if not counted.any(axis=-1).all():
        raise DomainError("every matrix must have a singular value > 0, got a zero matrix")
    finite = np.where(counted, logs, 0.0)
    powers = np.where(counted, index[..., None] * finite, -np.inf)
    log_schatten = np.logaddexp.reduce(powers, axis=-1)
    weights = np.exp(powers - log_schatten[..., None])
    slope = (weights * finite).sum(axis=-1)
    return np.asarray(0.5 * (log_schatten - (index + 2.0) * slope - np.log(hidden)))


def p_star(log_values: ArrayLike, hidden: float, log_scale: ArrayLike) -> FloatArray:
    """Return the minimiser over the continuum [0, 2], the smallest of a tie.

    Parameters
    ----------
    log_values
        ``[..., q]``, logs of singular values.
    log_scale
        ``[...]``, log of gamma alpha times the count; broadcasts against the batch.
    """
    logs, scale = np.asarray(log_values, float), np.asarray(log_scale, float)
    shape = np.broadcast_shapes(logs.shape[:-1], scale.shape)
    low, high = np.zeros(shape), np.full(shape, P_MAX)
    above = scale >= log_level(logs, hidden, 0.0)
    below = scale < log_level(logs, hidden, P_MAX)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        right = scale < log_level(logs, hidden, middle)
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    return np.where(above, 0.0, np.where(below, P_MAX, 0.5 * (low + high)))


@dataclass(frozen=True, eq=False)
class PhaseDiagram:
    r"""p* of the power law :math:`\sigma_j = s j^{-a}`, j <= rank, over scale and decay.

    Attributes
    ----------
    log_scale
        ``[S]``, logs of :math:`s \gamma \alpha L`: the norm and the scale enter as one number.
    decay
        ``[A]``, decay exponents a.
    p_star
        ``[A, S]``.
    log_upper, log_lower
        ``[A]``: p* = 0 at and above the first, p* = 2 at and below the second.
    hidden, rank
        N, and how many singular values there are.
    """

    log_scale: FloatArray
    decay: FloatArray
    p_star: FloatArray
    log_upper: FloatArray
    log_lower: FloatArray
    hidden: int
    rank: int


def power_law(decay: ArrayLike, rank: int) -> FloatArray:
    r"""Return :math:`\log j^{-a}` for j = 1, ..., rank, shape ``[..., rank]``."""
    exponents = np.asarray(decay, dtype=np.float64)
    return np.asarray(-exponents[..., None] * np.log(np.arange(1.0, rank + 1.0)))


def phase_diagram(
    hidden: int,
    log_scale: ArrayLike,
    decay: ArrayLike,
    *,
    rank: int | None = None,
    levels: int = 257,
) -> PhaseDiagram:
    """Return p* on a grid; between the ``levels`` exact level lines it is interpolated.

    Raises
    ------
    DomainError
        Sizes below 1, or a negative decay.
    """
    count = hidden if rank is None else rank
    scale, exponents = np.asarray(log_scale, dtype=float), np.asarray(decay, dtype=float)
    if not 1 <= count <= hidden:
        raise DomainError(f"rank must be an integer from 1 to hidden = {hidden}, got {rank}")
    if not (np.isfinite(exponents) & (exponents >= 0)).all():
        raise DomainError(f"decay must be finite and >= 0, got {exponents.min()}")
    index = np.linspace(0.0, P_MAX, levels)
    found = np.empty((exponents.size, scale.size))
    ends = np.empty((2, exponents.size))
    for row, spectrum in enumerate(power_law(exponents, count)):
        level = log_level(np.broadcast_to(spectrum, (levels, count)), hidden, index)
        found[row] = np.interp(scale, level[::-1], index[::-1], left=P_MAX, right=0.0)
        # A flat spectrum has one level for every p: a jump, and 0 is the smallest of the tie.
        found[row] = np.where(scale >= level[0], 0.0, found[row])
        ends[:, row] = level[0], level[-1]
    return PhaseDiagram(scale, exponents, found, ends[0], ends[1], hidden, count)
