"""Peeling: weights that sum to one exactly, levels that cover what was observed."""

from fractions import Fraction

import numpy as np
import pytest

from spectral_lib.bounds import grid_size, log_rounding_factor, norm_levels, norm_ratio, round_up
from spectral_lib.bounds.peeling import radius_levels
from spectral_lib.constants import (
    NORM_GRID_INFLATION,
    NORM_LEVEL_MASS,
    NORMS_PER_LAYER_A,
    NORMS_PER_LAYER_B,
    ZERO_LEVEL_MASS,
)


def telescoped(last):
    """Sum of 1/((j+1)(j+2)) over 0 <= j <= last, exactly."""
    return sum((Fraction(1, (j + 1) * (j + 2)) for j in range(last + 1)), Fraction(0))


def test_partial_sums_telescope():
    """sum_{j <= J} 1/((j+1)(j+2)) = 1 - 1/(J+2), in rationals: the full sum is one."""
    for last in (0, 1, 10, 500):
        assert telescoped(last) == 1 - Fraction(1, last + 2)


def test_norm_weights_sum_to_one():
    """Over rho^j, |j| <= J, and the zero level: 1 minus the telescoped rest, from the code."""
    ratio, last = 1.25, 200
    levels = norm_levels(np.append(np.arange(-last, last + 1) * np.log(ratio), -np.inf), ratio)
    assert sorted(set(levels.level.tolist())) == list(range(-last, last + 1))
    mass = Fraction(NORM_LEVEL_MASS + ZERO_LEVEL_MASS)
    exact = 2 * (1 - Fraction(1, last + 2)) / mass
    assert np.exp(-levels.log_cost).sum() == pytest.approx(float(exact), rel=1e-12)
    assert mass == 2


def test_radius_weights_sum_to_one():
    """Over the 2m + 1 values of p and levels 0 <= j <= J, from the code."""
    m, last = 7, 100
    p = np.arange(2 * m + 1)[:, None] / m
    log_radius = np.arange(last + 1) * np.log(2.0)
    # At p = 0 a rank of 2^100 would be out of reach of float64's integers; the costs are not.
    costs = radius_levels(log_radius[:53], 0.0, p, m).log_cost
    exact = 1 - Fraction(1, 54)
    assert np.exp(-costs).sum() == pytest.approx(float(exact), rel=1e-12)


def test_norms_are_rounded_up_by_less_than_the_ratio():
    """observed <= rho^j < rho * observed over 600 orders of magnitude; grid points stay."""
    rng = np.random.default_rng(50)
    for ratio in (1.0 + 1 / 48, 2.0):
        log_norm = rng.uniform(-690, 690, 2000)
        levels = norm_levels(log_norm, ratio)
        assert (levels.log_radius >= log_norm).all()
        assert (levels.log_radius < log_norm + np.log(ratio) * (1 + 1e-9)).all()
    assert norm_levels(0.0, 1.5).level == 0
    zero = norm_levels([-np.inf], 1.5)
    assert zero.log_radius[0] == -np.inf
    assert zero.log_cost[0] == pytest.approx(np.log(4))


@pytest.mark.parametrize("per_layer", [NORMS_PER_LAYER_A, NORMS_PER_LAYER_B])
def test_alpha_grows_by_less_than_e(per_layer):
    """(1 + 1/(3L))^(3L) and (1 + 1/(4L))^(4L) stay below e and approach it."""
    growth = [norm_ratio(n, norms_per_layer=per_layer) ** (per_layer * n) for n in (1, 12, 4000)]
    assert max(growth) < NORM_GRID_INFLATION
    assert growth[-1] > 0.999 * NORM_GRID_INFLATION


def test_budgets_hold_at_most_twice_the_observed():
    """S_p <= M <= max(M_0, 2 S_p) with M_0 = C^p; ranks that are powers of two stay."""
    rng = np.random.default_rng(51)
    m = 9
    for _ in range(200):
        values = np.sort(10 ** rng.uniform(-4, 4, rng.integers(1, 50)))[::-1]
        log_c = np.log(values[0]) + rng.uniform(0, 0.02)
        p = np.arange(2 * m + 1) / m
        s_p = np.array([(values**x).sum() for x in p])
        radius = np.exp(radius_levels(np.log(s_p), log_c, p, m).log_radius)
        assert (radius >= s_p * (1 - 1e-12)).all()
        assert (radius <= np.maximum(np.exp(p * log_c), 2 * s_p) * (1 + 1e-12)).all()
    ranks = 2 ** np.arange(11)
    assert radius_levels(np.log(ranks), 3.0, 0.0, m).level.tolist() == list(range(11))
    assert radius_levels(np.log(33), 3.0, 0.0, m).level == 6


def test_grid_of_exponents():
    """m = ceil(L + log N); rounding up keeps grid points and never moves by 1/m."""
    assert grid_size(12, 768) == 19
    grid = np.arange(39) / 19
    assert (round_up(grid, 19) == grid).all()
    p = np.random.default_rng(52).uniform(0, 2, 500)
    rounded = round_up(p, 19)
    assert ((rounded >= p) & (rounded < p + 1 / 19)).all()
    assert np.isin(rounded, grid).all()


def test_rounding_inequality(record_property):
    """term(p') / term(p) <= max(1, s gamma alpha J)^(1/(2m)) N^(1/(4m)) for p' = p rounded up."""
    rng = np.random.default_rng(53)
    closest = -np.inf
    for _ in range(300):
        width = int(rng.integers(1, 200))
        values = np.sort(10 ** rng.uniform(-4, 3, rng.integers(1, width + 1)))[::-1]
        log_scale = rng.uniform(-20, 60)
        m = grid_size(int(rng.integers(1, 30)), width)
        p = rng.choice([0.0, 0.001, rng.uniform(0, 2)])
        later = np.minimum(p + rng.uniform(0, 1) / m, 2.0)
        log_terms = [
            np.log((values**x).sum()) / (x + 2)
            + x / (x + 2) * log_scale
            + (x + 1) / (x + 2) * np.log(width)
            for x in (p, later)
        ]
        bound = float(log_rounding_factor(np.log(values[0]) + log_scale, width, m))
        excess = log_terms[1] - log_terms[0] - bound
        closest = max(closest, excess)
        assert excess <= 1e-12
    record_property("closest log ratio minus bound", closest)
    # Near equality: rank one at p = 0, width 1, a full step of the grid.
    m = 1000
    step = (1 / m) / (1 / m + 2) * 40.0
    assert step == pytest.approx(float(log_rounding_factor(40.0, 1, m)), rel=1e-3)
