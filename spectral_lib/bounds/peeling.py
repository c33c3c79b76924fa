r"""Peeling: one event covers every choice made after seeing the weights.

A bound for each member of a countable family of classes, at confidence :math:`\delta w` with
weights w that sum to one, holds for all members at once. The member is then chosen freely. Three
choices are made for each matrix: the level of its spectral norm, p, and the level of its Schatten
budget; the confidence term grows by ``sum log(1/w)``.

Norms lie on the grid :math:`\rho^j, j \in \mathbb{Z}`, with weight 1/(2 (|j|+1)(|j|+2)); a zero
matrix has a level of its own, with weight 1/4. Both halves, {1, rho, rho^2, ...} and {zero,
1/rho, 1/rho^2, ...}, sum to 1/2 by telescoping: 1/((j+1)(j+2)) = 1/(j+1) - 1/(j+2).
Budgets lie on :math:`M_0 2^j, j \ge 0`, with weight 1/((2m+1)(j+1)(j+2)), 2m + 1 values of p.
:math:`M_0 = C^p` may depend on the norm's level C, since the two are peeled together; it is 1 at
p = 0, and :math:`C^p \le \rho^p S_p(W)` makes M at most twice the observed value (or nearly so).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spectral_lib.bounds.matrix_class import FloatArray, IntArray, require
from spectral_lib.constants import (
    NORM_LEVEL_MASS,
    NORMS_PER_LAYER_A,
    NORMS_PER_LAYER_B,
    P_MAX,
    RADIUS_LEVEL_MASS,
    RADIUS_RATIO,
    ZERO_LEVEL_MASS,
)

_LOG_RATIO = float(np.log(RADIUS_RATIO))


@dataclass(frozen=True, eq=False)
class Levels:
    """Observed values rounded up to a grid.

    Attributes
    ----------
    level
        Index j on the grid (0 for a zero norm).
    log_radius
        Log of the grid value, at least the observed one; minus infinity for a zero norm.
    log_cost
        log(1/w), what the choice adds to the confidence term.
    """

    level: IntArray
    log_radius: FloatArray
    log_cost: FloatArray


def norm_ratio(num_layers: int, *, norms_per_layer: float = NORMS_PER_LAYER_B) -> float:
    r"""Return :math:`\rho = 1 + 1/(4L)` (class B), or 1 + 1/(3L) (class A, three norms a layer).

    alpha and gamma together contain each layer's norms at most once: they grow by less than e.
    """
    require(num_layers >= 1, "L", ">= 1", num_layers)
    allowed = (NORMS_PER_LAYER_A, NORMS_PER_LAYER_B)
    require(norms_per_layer in allowed, "norms per layer", "3 or 4", norms_per_layer)
    return 1.0 + 1.0 / (norms_per_layer * num_layers)


def norm_levels(log_norm: ArrayLike, ratio: float) -> Levels:
    r"""Round norms up to :math:`\rho^j`; a norm of zero (log ``-inf``) keeps its own level."""
    require(np.isfinite(ratio) and ratio > 1, "ratio", "> 1", ratio)
    log_norm = np.asarray(log_norm, dtype=np.float64)
    require(log_norm < np.inf, "log norm", "a number or -inf", log_norm)
    zero = log_norm == -np.inf
    level = _ceil_level(np.where(zero, 0.0, log_norm), np.log(ratio))
    size = np.abs(level)
    mass = NORM_LEVEL_MASS + ZERO_LEVEL_MASS
    return Levels(
        level=level,
        log_radius=np.where(zero, -np.inf, level * np.log(ratio)),
        log_cost=np.log(mass) + np.log(size + 1.0) + np.log(size + 2.0),
    )


def radius_levels(log_schatten: ArrayLike, log_norm: ArrayLike, p: ArrayLike, m: int) -> Levels:
    r"""Round Schatten quantities up to :math:`C^p 2^j`, j >= 0; the cost counts the choice of p.

    Parameters
    ----------
    log_schatten
        log S_p(W); ``-inf`` for a zero matrix.
    log_norm
        log C, the norm's radius (already rounded up).
    p
        Exponents on the grid {0, 1/m, ..., 2}.
    m
        The grid has 2m + 1 points.
    """
    require(m >= 1, "m", "an integer >= 1", m)
    p = np.asarray(p, dtype=np.float64)
    require((p >= 0) & (p <= P_MAX), "p", "in [0, 2]", p)
    zero = np.asarray(log_schatten) == -np.inf
    log_s, log_c = (np.where(zero, 0.0, x) for x in (log_schatten, log_norm))
    base = p * log_c
    # S_0 is an integer and its log is rounded: a rank of 32 must not move up to 64.
    rank = np.rint(np.exp(np.where(p == 0, log_s, 0.0)))
    steps = np.where(p == 0, np.ceil(np.log2(rank)), _ceil_level(log_s - base, _LOG_RATIO))
    level = np.maximum(steps, 0.0).astype(np.int64)
    mass = RADIUS_LEVEL_MASS * (P_MAX * m + 1.0)
    return Levels(
        level=level,
        log_radius=np.where(zero, -np.inf, base + level * _LOG_RATIO),
        log_cost=np.log(mass) + np.log(level + 1.0) + np.log(level + 2.0),
    )


def _ceil_level(log_value: FloatArray, log_ratio: float) -> IntArray:
    """Return the least integer j with ``j log_ratio >= log_value`` in float64."""
    level = np.ceil(log_value / log_ratio)
    # The quotient is rounded: correct it by one step either way.
    level += level * log_ratio < log_value
    level -= (level - 1) * log_ratio >= log_value
    return np.asarray(level.astype(np.int64))
