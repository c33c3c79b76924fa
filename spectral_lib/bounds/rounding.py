r"""Rounding p up to the grid :math:`P_m = \{0, 1/m, \ldots, 2\}`, and what it costs.

For :math:`p \le p' \le p + 1/m` and :math:`s = \|W\|_2` (the norm itself, so that
:math:`S_p \ge s^p`), the terms :math:`S_p^{1/(p+2)} (\gamma\alpha J)^{p/(p+2)} N^{(p+1)/(p+2)}`
satisfy

.. math::
    \frac{term(p')}{term(p)} \le (s\,\gamma\alpha J)^{2\Delta/((p+2)(p'+2))}
        N^{\Delta/((p+2)(p'+2))} \le \max(1, s\,\gamma\alpha J)^{1/(2m)} N^{1/(4m)},
        \qquad \Delta = p' - p,

by :math:`S_{p'} \le s^{\Delta} S_p` and :math:`S_p \ge s^p`. With
:math:`m = \lceil L + \log N \rceil` a scale exponential in L costs a constant factor.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from spectral_lib.bounds.matrix_class import FloatArray, require
from spectral_lib.constants import P_MAX, ROUNDING_SCALE_EXPONENT, ROUNDING_SIZE_EXPONENT


def grid_size(num_layers: int, hidden_size: int) -> int:
    r"""Return :math:`m = \lceil L + \log N \rceil`; the grid has 2m + 1 points."""
    require(num_layers >= 1, "L", ">= 1", num_layers)
    require(hidden_size >= 1, "N", ">= 1", hidden_size)
    return math.ceil(num_layers + math.log(hidden_size))


def round_up(p: ArrayLike, m: int) -> FloatArray:
    """Return the least grid point of P_m at or above each p."""
    p = np.asarray(p, dtype=np.float64)
    require(m >= 1, "m", "an integer >= 1", m)
    require((p >= 0) & (p <= P_MAX), "p", "in [0, 2]", p)
    steps = np.rint(p * m)
    # j/m times m need not be j in float64: a point of the grid stays where it is.
    steps += steps / m < p
    return np.asarray(steps / m, dtype=np.float64)


def log_rounding_factor(log_norm_scale: ArrayLike, width: ArrayLike, m: int) -> FloatArray:
    r"""Return the log of :math:`\max(1, s\,\gamma\alpha J)^{1/(2m)} N^{1/(4m)}`.

    Parameters
    ----------
    log_norm_scale
        :math:`\log(s\,\gamma\alpha J)`; the count is the paper's L where its scale is meant.
    width
        N.
    """
    require(m >= 1, "m", "an integer >= 1", m)
    require(np.asarray(width) >= 1, "N", ">= 1", width)
    scale = ROUNDING_SCALE_EXPONENT / m * np.maximum(np.asarray(log_norm_scale, float), 0.0)
    return np.asarray(scale + ROUNDING_SIZE_EXPONENT / m * np.log(width), dtype=np.float64)
