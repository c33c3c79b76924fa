"""Gaussian steps of the tail's cover: shift, Markov, dual Sudakov, maxima of rows and of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, log_ndtr, ndtr

from spectral_lib.constants import (
    DUAL_SUDAKOV,
    DUAL_SUDAKOV_MEDIAN,
    DUAL_SUDAKOV_OFFSET,
    DUAL_SUDAKOV_TAIL,
    GAUSSIAN_MAXIMUM,
    MARKOV_LEVEL,
    SIGNED_SCORES,
    TAIL_SHARE,
)
from spectral_lib.packing import (
    bilinear_norm,
    frobenius_norm,
    insertion_radii,
    operator_norm,
    orthonormal_frames,
    packing_size,
    sample_norm,
)

from .tightness import at_most, perturbed, statement

#: lambda eps / E when a ball of lambda eps / 2 is to hold MARKOV_LEVEL of the mass.
SHIFT = 2 / MARKOV_LEVEL


def interval_mass(centre, half_width):
    return ndtr(centre + half_width) - ndtr(centre - half_width)


@statement("lem-gaussian-shift")
@perturbed(0.98)
def test_the_shift_is_tight_for_small_bodies(scale, holds, record_property):
    """gamma(K + x) >= exp(-|x|^2 / 2) gamma(K); the exponent is DUAL_SUDAKOV / SHIFT^2 = 1/2."""
    shift, half_width = 2.0, 0.05
    kept = interval_mass(shift, half_width) / interval_mass(0.0, half_width)
    floor = np.exp(-scale * DUAL_SUDAKOV / SHIFT**2 * shift**2)
    record_property("ratio", floor / kept)
    assert at_most(floor, kept) is holds


@statement("lem-gaussian-shift")
@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 4)), min_size=1, max_size=4))
def test_no_box_loses_more_than_the_shift_allows(sides):
    centre, half_width = np.array(sides).T
    kept = interval_mass(centre, half_width).prod() / interval_mass(0 * centre, half_width).prod()
    assert kept >= np.exp(-np.square(centre).sum() / 2) * (1 - 1e-9)


@statement("lem-dual-sudakov")
@perturbed(0.99)
def test_markov_is_tight_for_a_two_point_law(scale, holds, record_property):
    """P(Z > E Z / level) <= level, nearly attained by Z in {0, z}."""
    chance = 0.999 * MARKOV_LEVEL
    top, mean = 1.0, chance
    measured = chance if top > mean / MARKOV_LEVEL else 0.0
    record_property("ratio", measured / MARKOV_LEVEL)
    assert at_most(measured, scale * MARKOV_LEVEL) is holds


@statement("lem-dual-sudakov")
def test_the_constants_follow_from_the_shift():
    assert pytest.approx(SHIFT**2 / 2) == DUAL_SUDAKOV
    assert pytest.approx(2**2 / 2) == DUAL_SUDAKOV_MEDIAN
    assert pytest.approx(-np.log(MARKOV_LEVEL)) == DUAL_SUDAKOV_OFFSET
    assert pytest.approx(DUAL_SUDAKOV / TAIL_SHARE**2) == DUAL_SUDAKOV_TAIL


METRICS = {
    "operator": operator_norm,
    "one input": sample_norm([[1.0, 0.0, 0.0]]),
    "eight inputs": sample_norm(orthonormal_frames(np.random.default_rng(8), 8, 3, 1)[:, :, 0]),
    "scores": bilinear_norm(orthonormal_frames(np.random.default_rng(9), 5, 3, 1)[:, :, 0]),
}


@statement("lem-dual-sudakov")
@pytest.mark.parametrize("metric", METRICS)
def test_greedy_packings_obey_dual_sudakov(metric, record_property):
    """Packings of the unit Frobenius ball against mean and median of the Gaussian norm."""
    rng = np.random.default_rng(10)
    gaussian = METRICS[metric](rng.standard_normal((20_000, 3, 3)))
    ball = rng.standard_normal((800, 3, 3))
    ball *= (rng.random(800) ** (1 / 9) / frobenius_norm(ball))[:, None, None]
    eps = np.array([0.5, 0.8, 1.1, 1.4])
    log_sizes = np.log(packing_size(insertion_radii(ball, METRICS[metric]), eps))
    by_mean = DUAL_SUDAKOV_OFFSET + DUAL_SUDAKOV * gaussian.mean() ** 2 / eps**2
    by_median = DUAL_SUDAKOV_OFFSET + DUAL_SUDAKOV_MEDIAN * np.median(gaussian) ** 2 / eps**2
    record_property("ratio", (log_sizes / by_median).max())
    record_property("ratio to the mean form", (log_sizes / by_mean).max())
    assert (log_sizes <= by_median).all()
    assert (by_median <= by_mean).all()


def mean_maximum(log_count, log_cdf):
    """E max of exp(log_count) independent variables of one law, from its log cdf on a grid."""
    x = np.linspace(-40.0, 40.0, 400_000)
    below = np.exp(-np.exp(np.minimum(log_count + np.log(-log_cdf(x)), 30.0)))
    return np.trapezoid(np.where(x > 0, 1 - below, -below), x)


def log_normal_cdf(x):
    return np.minimum(log_ndtr(x), -1e-320)


def log_folded_cdf(x):
    """log P(|g| <= x) for a standard normal g."""
    tail = 2 * ndtr(-np.abs(x))
    with np.errstate(divide="ignore"):
        return np.where(x > 0, np.minimum(np.log1p(-tail), -1e-320), -np.inf)


@statement("lem-row-maximum")
@perturbed(0.98)
def test_gaussian_maximum_is_near_its_bound(scale, holds, record_property):
    """E max <= sqrt(2 log mu): the ratio tends to 1 as mu grows, here mu = e^550."""
    log_count = 550.0
    measured = mean_maximum(log_count, log_normal_cdf)
    bound = np.sqrt(GAUSSIAN_MAXIMUM * log_count)
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-row-maximum")
@perturbed(0.99)
def test_one_row_is_near_root_k(scale, holds, record_property):
    k = 100
    measured = np.sqrt(2.0) * np.exp(gammaln((k + 1) / 2) - gammaln(k / 2))
    record_property("ratio", measured / np.sqrt(k))
    assert at_most(measured, scale * np.sqrt(k)) is holds


@statement("lem-row-maximum")
@pytest.mark.parametrize(("rows", "k"), [(1, 40), (30, 10), (400, 3)])
def test_row_maximum(rows, k, record_property):
    rng = np.random.default_rng(11)
    b, d = 1.3, 20
    inputs = b * orthonormal_frames(rng, rows, d, 1)[:, :, 0]
    measured = sample_norm(inputs)(rng.standard_normal((1000, d, k))).mean()
    bound = b * (np.sqrt(k) + np.sqrt(GAUSSIAN_MAXIMUM * np.log(rows)))
    record_property("ratio", measured / bound)
    assert at_most(measured, bound)


@statement("lem-score-maximum")
@pytest.mark.parametrize(("scale", "holds"), [(1.0, True), (0.5, False)])
def test_both_signs_of_a_score_count(scale, holds):
    """E |g| for one score: without the second sign the bound would be 0."""
    measured = mean_maximum(0.0, log_folded_cdf)
    assert measured == pytest.approx(np.sqrt(2 / np.pi), rel=1e-4)
    assert at_most(measured, np.sqrt(GAUSSIAN_MAXIMUM * np.log(scale * SIGNED_SCORES))) is holds


@statement("lem-score-maximum")
@perturbed(0.98)
def test_many_scores_are_near_their_bound(scale, holds, record_property):
    log_count = 550.0
    measured = mean_maximum(log_count, log_folded_cdf)
    bound = np.sqrt(GAUSSIAN_MAXIMUM * (np.log(SIGNED_SCORES) + log_count))
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-score-maximum")
def test_scores_of_a_sequence(record_property):
    """E max |x_t G x_j^T| <= sqrt(2 log(2 n T^2)), for tokens of norm at most 1."""
    rng = np.random.default_rng(12)
    tokens = 30
    measured = bilinear_norm(np.eye(tokens))(rng.standard_normal((1000, tokens, tokens))).mean()
    bound = np.sqrt(GAUSSIAN_MAXIMUM * np.log(SIGNED_SCORES * tokens**2))
    record_property("ratio", measured / bound)
    assert 0.85 * bound < measured <= bound
