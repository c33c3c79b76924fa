"""Post hoc choice: the peeled event, the grids of norms and radii, rounding p up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib.bounds.peeling import norm_levels, norm_ratio, radius_levels
from spectral_lib.bounds.rounding import log_rounding_factor, round_up
from spectral_lib.constants import (
    BOUNDED_DIFFERENCES,
    KAPPA_EDELMAN,
    NORM_GRID_INFLATION,
    NORMS_PER_LAYER_A,
    NORMS_PER_LAYER_B,
    RADIUS_RATIO,
    ROUNDING_SCALE_EXPONENT,
    ROUNDING_SIZE_EXPONENT,
)
from spectral_lib.function_class import propagate_a
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.transformer import TransformerSpectra

from .tightness import at_most, perturbed, statement

GRID = 6


def level_weights(count):
    """Weights exp(-cost) of the first ``count`` radius levels at one p, from the library."""
    just_below = np.arange(count) * np.log(RADIUS_RATIO) - 1e-6
    levels = radius_levels(just_below, 0.0, 1.0, GRID)
    np.testing.assert_array_equal(levels.level, np.arange(count))
    return np.exp(-levels.log_cost)


@statement("lem-peeling")
def test_the_weights_sum_to_one():
    """2m + 1 exponents, all levels: the partial sums are 1 - 1/(k + 1)."""
    weights = (2 * GRID + 1) * level_weights(500)
    np.testing.assert_allclose(np.cumsum(weights), 1 - 1 / np.arange(2, 502), rtol=1e-12)


@statement("lem-peeling")
@perturbed(0.98)
def test_the_union_is_near_equality_for_independent_levels(scale, holds, record_property):
    """Independent events of probability w_k delta each: their union has almost delta."""
    delta = 0.01
    weights = (2 * GRID + 1) * level_weights(2000)
    measured = 1 - np.exp(np.log1p(-weights * delta).sum())
    record_property("ratio", measured / delta)
    assert at_most(measured, scale * delta) is holds


def violations(draws, confidence):
    """How often the worst of K bounded means leaves its own interval at level delta."""
    return (draws > np.sqrt(confidence / BOUNDED_DIFFERENCES / 400)).any(axis=1).mean()


@statement("lem-peeling")
def test_simulated_post_hoc_choice(record_property):
    """The level is chosen after the data, as badly as possible; peeled, it fails at most delta."""
    delta, runs, n = 0.1, 40_000, 400
    weights = (2 * GRID + 1) * level_weights(30)
    coins = np.random.default_rng(1).binomial(n, 0.5, (runs, len(weights))) / n - 0.5
    peeled = violations(coins, np.log(1 / delta) - np.log(weights))
    unpeeled = violations(coins, np.full_like(weights, np.log(1 / delta)))
    record_property("ratio", peeled / delta)
    record_property("ratio without peeling", unpeeled / delta)
    assert at_most(peeled, delta)
    assert not at_most(unpeeled, delta)  # one event a level, at full delta, is no joint event


@statement("lem-peeling")
@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.floats(-50, 50), st.floats(0.0, 2.0), st.floats(-5, 5))
def test_the_radius_is_at_most_twice_the_observed(log_s, p, log_c):
    log_s = max(log_s, 0.0) if p == 0 else log_s
    observed = np.log(np.round(np.exp(log_s))) if p == 0 else log_s
    levels = radius_levels(observed, log_c, p, GRID)
    least = p * log_c
    assert observed <= levels.log_radius + 1e-9
    assert levels.log_radius <= max(least, observed + np.log(RADIUS_RATIO)) + 1e-9


@statement("lem-norm-grid")
def test_the_weights_of_the_norms_sum_to_one():
    """Levels -J..J and the zero matrix: 1 - 1/(J + 2)."""
    ratio, last = norm_ratio(3), 500
    level = np.arange(-last, last + 1)
    found = norm_levels(np.append(level * np.log(ratio) - 1e-9, -np.inf), ratio)
    np.testing.assert_array_equal(found.level[:-1], level)
    assert np.exp(-found.log_cost).sum() == pytest.approx(1 - 1 / (last + 2), rel=1e-12)


@statement("lem-norm-grid")
@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.floats(-200, 200), st.integers(1, 60))
def test_norms_are_rounded_up_by_less_than_the_ratio(log_norm, depth):
    ratio = norm_ratio(depth)
    rounded = norm_levels(log_norm, ratio).log_radius
    assert log_norm <= rounded <= log_norm + np.log(ratio) * (1 + 1e-9) + 1e-12


def class_b_scale(depth, norm):
    """log(gamma_QK alpha) of the first layer of a one-head class B network with equal norms."""
    values = np.full((depth, 1, 1), norm)
    spectrum = Spectrum(values, (1, 1), values[..., 0], values[..., 0])
    spectra = TransformerSpectra("equal norms", 1, 1, "relu", dict.fromkeys(Kind, spectrum))
    found = propagate(spectra, Convention(l_phi="exact", l_phi_in_gamma=True))
    return (found.log_gamma[Kind.QK][:, 0] + found.log_alpha)[0]


def class_a_scale(depth, norm):
    norms = np.full(depth, norm)
    found = propagate_a(norms, norms, norms, kappa=KAPPA_EDELMAN, l_phi=1.0)
    return (found.log_gamma_qk + found.log_alpha)[0]


@statement("lem-norm-grid")
@perturbed(0.99)
@pytest.mark.parametrize(
    ("scale_of", "per_layer"),
    [(class_a_scale, NORMS_PER_LAYER_A), (class_b_scale, NORMS_PER_LAYER_B)],
    ids=["class A", "class B"],
)
def test_the_grid_inflates_the_scales_by_nearly_e(
    scale_of, per_layer, scale, holds, record_property
):
    depth, norm = 300, 100.0
    ratio = norm_ratio(depth, norms_per_layer=per_layer)
    inflation = np.exp(scale_of(depth, norm * ratio) - scale_of(depth, norm))
    record_property("ratio", inflation / NORM_GRID_INFLATION)
    assert at_most(inflation, scale * NORM_GRID_INFLATION) is holds


def rounding_cost(sigma, p, m, log_scale, size):
    """log of term(p') / term(p), p' the grid point above p."""
    after, before = (log_term(sigma, x, log_scale, size) for x in (float(round_up(p, m)), p))
    return after - before


def log_term(sigma, p, log_scale, size):
    """log of S_p^(1/(p+2)) (gamma alpha L)^(p/(p+2)) N^((p+1)/(p+2))."""
    spectrum = Spectrum(sigma, (len(sigma), len(sigma)), np.array(1.0), np.array(1.0))
    weighted = spectrum.log_schatten(p) + p * log_scale + (p + 1) * np.log(size)
    return float(weighted) / (p + 2)


@statement("lem-rounding")
@perturbed(0.99)
@pytest.mark.parametrize(("log_scale", "size"), [(60.0, 1), (0.0, 10**9), (30.0, 10**5)])
def test_rounding_is_near_equality(log_scale, size, scale, holds, record_property):
    """A rank-one matrix of norm 1, p just above 0, a fine grid: both exponents are reached."""
    m, p, sigma = 300, 1e-9, np.array([1.0])
    cost = log_term(sigma, float(round_up(p, m)), log_scale, size) - log_term(
        sigma, p, log_scale, size
    )
    bound = (ROUNDING_SCALE_EXPONENT * log_scale + ROUNDING_SIZE_EXPONENT * np.log(size)) / m
    assert bound == pytest.approx(float(log_rounding_factor(log_scale, size, m)), rel=1e-12)
    record_property("ratio", cost / bound)
    assert at_most(cost, scale * bound) is holds


@statement("lem-rounding")
@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    st.lists(st.floats(-12, 12), min_size=1, max_size=12),
    st.floats(0, 2), st.floats(-40, 40), st.integers(1, 20),
)  # fmt: skip
def test_rounding_never_costs_more(logs, p, log_scale, m):
    """Small norms included: where S_p < 1 the scale makes up for it, since S_p >= s^p."""
    sigma = np.sort(np.exp(logs))[::-1]
    size = len(sigma)
    cost = log_term(sigma, float(round_up(p, m)), log_scale, size) - log_term(
        sigma, p, log_scale, size
    )
    assert cost <= float(log_rounding_factor(np.log(sigma[0]) + log_scale, size, m)) + 1e-9
