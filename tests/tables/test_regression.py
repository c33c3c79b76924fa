"""Common slopes against the full design matrix, and Fieller's interval against simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from spectral_lib.errors import DomainError
from spectral_lib.tables.regression import common_slopes, equal_slopes, group_slopes


def design(x, groups):
    dummies = (groups[:, None] == np.unique(groups)).astype(float)
    return np.column_stack([x, dummies])


def draw(rng, n=14):
    groups = rng.choice([3, 5, 9], n)
    groups[:6] = [3, 3, 5, 5, 9, 9]
    x = rng.normal(size=n)
    noise = rng.multivariate_normal([0, 0], [[1.0, 0.7], [0.7, 2.0]], n)
    return x, groups, np.outer(x, [3.0, 1.5]) + groups[:, None] + 0.4 * noise


@pytest.mark.parametrize("seed", range(4))
def test_slopes_and_errors_are_those_of_ordinary_least_squares(seed):
    x, groups, y = draw(np.random.default_rng(seed))
    full = design(x, groups)
    beta, *_ = np.linalg.lstsq(full, y, rcond=None)
    residuals = y - full @ beta
    dof = len(x) - full.shape[1]
    covariance = residuals.T @ residuals / dof
    error = np.sqrt(np.diag(covariance) * np.linalg.inv(full.T @ full)[0, 0])
    fit = common_slopes(x, groups, y)
    assert fit.dof == dof
    np.testing.assert_allclose(fit.slopes, beta[0], rtol=1e-10)
    np.testing.assert_allclose(fit.residual_covariance, covariance, rtol=1e-9)
    half = stats.t.ppf(0.95, dof) * error
    np.testing.assert_allclose(fit.half_width(0.9), half, rtol=1e-9)


def test_a_group_of_one_says_nothing_about_the_slope():
    x, groups, y = draw(np.random.default_rng(9))
    more = common_slopes(np.append(x, 50.0), np.append(groups, 77), np.vstack([y, [1e6, 1e6]]))
    without = common_slopes(x, groups, y)
    assert more.dof == without.dof
    np.testing.assert_allclose(more.slopes, without.slopes, rtol=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_fieller_is_where_the_t_statistic_of_the_difference_reaches_its_quantile(level):
    x, groups, y = draw(np.random.default_rng(2))
    fit = common_slopes(x, groups, y)
    low, high = fit.ratio_interval(0, 1, level)
    assert low < fit.slopes[0] / fit.slopes[1] < high
    quantile = stats.t.ppf(0.5 + level / 2, fit.dof)
    for end, side in ((low, 1), (high, -1)):
        difference = common_slopes(x, groups, (y[:, :1] - end * y[:, 1:]))
        error = difference.residual_sd[0] / math.sqrt(difference.x_squares)
        assert difference.slopes[0] / error == pytest.approx(side * quantile, rel=1e-6)


def test_fieller_covers_the_ratio_as_often_as_it_says():
    rng = np.random.default_rng(0)
    trials, x = 4000, np.tile(np.log([1.0, 2.0, 4.0]), 3)
    groups = np.repeat([0, 1, 2], 3)
    mix = np.linalg.cholesky([[1.0, 0.8], [0.8, 1.0]])
    covered = bounded = 0
    for _ in range(trials):
        y = np.outer(x, [2.0, 0.5]) + 0.1 * rng.normal(size=(9, 2)) @ mix.T
        low, high = common_slopes(x, groups, y).ratio_interval(0, 1, 0.95)
        covered += low <= 4.0 <= high
        bounded += math.isfinite(high)
    assert bounded / trials > 0.99  # the others are widened to the whole line
    assert covered / trials == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / trials))


def test_a_denominator_that_may_be_zero_bounds_nothing():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    y = np.column_stack([x, [1.0, -1.0, 1.0, -1.0]])
    fit = common_slopes(x, np.zeros(4), y)
    assert fit.ratio_interval(0, 1, 0.95) == (-math.inf, math.inf)


def test_exact_lines_have_intervals_of_no_width():
    x, groups = np.array([0.0, 1.0, 3.0, 2.0, 5.0]), np.array([0, 0, 0, 1, 1])
    fit = common_slopes(x, groups, np.outer(x, [6.0, 2.0]) + groups[:, None])
    np.testing.assert_allclose(fit.half_width(0.95), 0, atol=1e-12)
    np.testing.assert_allclose(fit.ratio_interval(0, 1, 0.95), 3.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "groups"), [([1.0, 2.0], [0, 0]), ([1.0, 2.0, 3.0], [0, 0, 1]), ([1.0], [0])]
)
def test_fewer_than_three_sizes_are_refused(x, groups):
    with pytest.raises(DomainError, match="at least 3 sizes"):
        common_slopes(np.array(x), np.array(groups), np.ones((len(x), 1)))


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, math.nan])
def test_a_level_outside_the_unit_interval_is_refused(level):
    fit = common_slopes(np.arange(3.0), np.zeros(3), np.ones((3, 1)))
    with pytest.raises(DomainError, match="level"):
        fit.half_width(level)


def test_unequal_slopes_are_found_and_equal_ones_as_seldom_as_the_level_says():
    rng = np.random.default_rng(0)
    x, groups = np.tile(np.log([1.0, 2.0, 3.0, 4.0]), 3), np.repeat([0, 1, 2], 4)

    def p_value(slopes):
        y = (np.asarray(slopes)[groups] * x + 0.1 * rng.normal(size=x.size))[:, None]
        return equal_slopes(common_slopes(x, groups, y), group_slopes(x, groups, y)).item()

    assert p_value([1.0, 2.0, 3.0]) < 1e-4
    false_alarms = np.mean([p_value([2.0, 2.0, 2.0]) < 0.05 for _ in range(2000)])
    assert false_alarms == pytest.approx(0.05, abs=0.02)


def test_equality_of_slopes_needs_two_groups_and_three_points_in_one():
    x, y = np.array([0.0, 1.0, 3.0, 0.0, 2.0]), np.array([[0.0], [1.0], [2.0], [0.0], [1.0]])
    for chosen, groups in ((slice(0, 3), [0, 0, 0]), ([0, 2, 3, 4], [0, 0, 1, 1])):
        at = np.array([0.0, 1.0, 0.0, 2.0]) if len(groups) == 4 else x[chosen]
        fits = (fit(at, np.array(groups), y[chosen]) for fit in (common_slopes, group_slopes))
        assert math.isnan(equal_slopes(*fits).item())
