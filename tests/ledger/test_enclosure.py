"""Interval arithmetic: certified suprema, and refusals where nothing is certified."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpmath import iv

from spectral_lib import constants
from spectral_lib.ledger.algebra import DerivationError
from spectral_lib.ledger.enclosure import (
    enclose_unimodal_maximum,
    exact_end,
    interval,
    working_precision,
)

ZERO, HALF, TWO, THREE = (sp.Rational(x) for x in ("0", "1/2", "2", "3"))
PEAK = (HALF, sp.Rational(8, 5))


def hump(x: Any) -> Any:
    return x * (2 - x)


def hump_slope(x: Any) -> Any:
    return 2 - 2 * x


def hump_curvature(x: Any) -> Any:
    return -2 + 0 * x


def test_known_maximum_is_enclosed() -> None:
    found = enclose_unimodal_maximum(hump, hump_slope, hump_curvature, (ZERO, TWO), PEAK)
    assert found.start <= 1 <= found.end
    assert found.end - found.start < sp.Rational(1, 10**12)


def test_maximum_outside_the_peak_is_refused() -> None:
    def two_humps(x: Any) -> Any:
        return x * (2 - x) + 5 * (x - 1) ** 4

    with pytest.raises(DerivationError, match="undecided"):
        enclose_unimodal_maximum(two_humps, hump_slope, hump_curvature, (ZERO, THREE), PEAK)


def test_peak_without_a_turning_point_is_refused() -> None:
    wrong = (sp.Rational(6, 5), sp.Rational(8, 5))
    with pytest.raises(DerivationError, match="left of the peak"):
        enclose_unimodal_maximum(hump, hump_slope, hump_curvature, (ZERO, TWO), wrong)


def test_convex_peak_is_refused() -> None:
    with pytest.raises(DerivationError, match="undecided"):
        enclose_unimodal_maximum(hump, hump_slope, lambda x: 2 + 0 * x, (ZERO, TWO), PEAK)


def test_interval_contains_the_rational_that_no_double_is() -> None:
    third = sp.Rational(1, 3)
    former = iv.dps
    with working_precision():
        enclosed = interval(third, third)
    assert iv.dps == former
    low, high = exact_end(enclosed.a), exact_end(enclosed.b)
    assert low < third < high
    assert high - low < sp.Rational(1, 10**40)
    assert exact_end(iv.mpf(-3).a) == -3


def _tanh_gelu_slope(x: np.ndarray) -> np.ndarray:
    c, a = np.sqrt(2 / np.pi), 0.044715
    u = c * (x + a * x**3)
    return 0.5 * (1 + np.tanh(u)) + 0.5 * x * c * (1 + 3 * a * x**2) / np.cosh(u) ** 2


def test_certified_bound_against_a_grid_on_both_sides() -> None:
    slope = np.abs(_tanh_gelu_slope(np.linspace(-12.0, 12.0, 400_001)))
    assert slope.max() <= constants.L_PHI_GELU_TANH * (1 + 1e-15)
    assert slope.max() > constants.L_PHI_GELU_TANH - 1e-9
