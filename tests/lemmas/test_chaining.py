"""From entropy to the Rademacher complexity, on classes small enough to enumerate."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

from spectral_lib.constants import (
    BOUNDED_DIFFERENCES,
    CENTERED_RANGE,
    CHAINING_RATIO,
    DUDLEY,
    DUDLEY_BEST_RATIO,
    DUDLEY_REMAINDER,
    DUDLEY_TREE,
    GAUSSIAN_MAXIMUM,
    SYMMETRIZATION,
)

from .tightness import at_most, perturbed, statement

SAMPLES = 10
SIGNS = np.array(list(itertools.product([-1.0, 1.0], repeat=SAMPLES)))


def rademacher(functions):
    """E sup_f (1/n) sum sigma_i f(x_i), over all sign vectors."""
    return (SIGNS[:, : functions.shape[1]] @ functions.T / functions.shape[1]).max(axis=1).mean()


def small_class(seed, count=9):
    """Values on the sample of ``count`` functions into [0, b], some close to each other."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0.0, 1.0, (3, SAMPLES)).round()
    values = corners[rng.integers(0, 3, count)] + rng.normal(0, 0.2, (count, SAMPLES))
    return np.clip(values, 0.0, 1.0)


# --- Centring, symmetrisation, bounded differences ---


@statement("lem-centering")
@pytest.mark.parametrize("seed", range(5))
def test_centring_leaves_the_complexity(seed):
    functions, centre = small_class(seed), np.random.default_rng(seed).normal(0, 1, SAMPLES)
    assert rademacher(functions - centre) == pytest.approx(rademacher(functions), abs=1e-14)


@statement("lem-centering")
@perturbed(0.99)
def test_centring_halves_the_radius(scale, holds):
    b = 1.0
    functions = np.array([[0.0, b, 0.3], [b, b, 0.0]])
    assert at_most(np.abs(functions - b / 2).max(), scale * CENTERED_RANGE * b) is holds


@statement("lem-symmetrization")
@perturbed(0.99)
def test_symmetrization_is_near_equality(scale, holds, record_property):
    """All sets on 10^5 equally likely points: the gap is 1 - n/K, the complexity near 1/2."""
    points, n = 10**5, 4
    samples = np.random.default_rng(0).integers(0, points, (4000, n))
    gaps, complexities = [], []
    for sample in samples:
        distinct = (sample[:, None] == np.unique(sample)).astype(float)
        gaps.append(1 - distinct.shape[1] / points)
        # sup over sets A: every point with a positive sum of signs belongs to A.
        sums = SIGNS[: 2**n, -n:] @ distinct
        complexities.append(np.maximum(sums, 0).sum(axis=1).mean() / n)
    measured, bound = np.mean(gaps), SYMMETRIZATION * np.mean(complexities)
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-bounded-differences")
@pytest.mark.parametrize(("scale", "holds"), [(1.0, True), (1.01, False)])
def test_bounded_differences_is_near_equality(scale, holds, record_property):
    """P(mean - 1/2 >= t) <= exp(-2 n t^2), for fair coins: the exponent cannot be larger."""
    n, t = 10**6, 0.02
    heads = np.arange(int(n / 2 + n * t), n + 1)
    log_tail = logsumexp(binom.logpmf(heads[:5000], n, 0.5))  # the rest is below rounding
    log_bound = -BOUNDED_DIFFERENCES * n * t**2
    record_property("ratio of exponents", log_bound / log_tail)
    assert at_most(log_tail, scale * log_bound) is holds


# --- Chaining ---


@statement("lem-chaining")
@perturbed(0.99)
def test_the_sub_gaussian_step_is_tight(scale, holds, record_property):
    """log E exp(lambda sigma) = log cosh lambda <= lambda^2 / 2 = GAUSSIAN_MAXIMUM lambda^2 / 4."""
    step = 0.1
    measured, bound = np.log(np.cosh(step)), GAUSSIAN_MAXIMUM / 4 * step**2
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-chaining")
@pytest.mark.parametrize("seed", range(5))
def test_finite_class(seed, record_property):
    """R_n <= max ||f|| sqrt(2 log N / n), in the L2 norm of the sample."""
    functions = np.random.default_rng(seed).choice([-1.0, 1.0], (2 ** (seed + 2), SAMPLES))
    bound = np.sqrt(GAUSSIAN_MAXIMUM * np.log(len(functions)) / SAMPLES)
    record_property("ratio", rademacher(functions) / bound)
    assert at_most(rademacher(functions), bound)


def link(ratio, level=3):
    """The longest link eps_j + eps_{j-1} of f's approximations, on the line."""
    near, far = ratio**level, -(ratio ** (level - 1))
    return abs(near - far)


@statement("lem-chaining")
@perturbed(0.99)
@pytest.mark.parametrize(
    ("constant", "ratio"), [(DUDLEY, CHAINING_RATIO), (DUDLEY_BEST_RATIO, np.sqrt(2) - 1)]
)
def test_one_level_of_the_chain_costs_the_constant(constant, ratio, scale, holds):
    """Link times sqrt(2 log N_j N_{j-1}) against eps_j - eps_{j+1} times sqrt(log N_j)."""
    level, log_n = 3, 5.0
    cost = link(ratio, level) * np.sqrt(GAUSSIAN_MAXIMUM * (log_n + log_n))
    panel = (ratio**level - ratio ** (level + 1)) * np.sqrt(log_n)
    assert at_most(cost, scale * constant * panel) is holds


@statement("lem-chaining")
@perturbed(0.99)
def test_one_level_of_the_tree_costs_its_constant(scale, holds):
    """Covers inside the class: a link is one eps_{j-1}, and there are N_j of them."""
    level, log_n = 3, 5.0
    cost = CHAINING_RATIO ** (level - 1) * np.sqrt(GAUSSIAN_MAXIMUM * log_n)
    panel = (CHAINING_RATIO**level - CHAINING_RATIO ** (level + 1)) * np.sqrt(log_n)
    assert at_most(cost, scale * DUDLEY_TREE * panel) is holds


@statement("lem-chaining")
@perturbed(0.99)
def test_a_stopped_chain_leaves_its_remainder(scale, holds):
    """The last level whose panel ends at a or above: its eps is at most DUDLEY_REMAINDER a."""
    scales = CHAINING_RATIO ** np.arange(40)
    stops = np.geomspace(1e-6, 0.4, 5000)
    last = np.array([scales[:-1][scales[1:] >= stop].min() for stop in stops])
    assert at_most((last / stops).max(), scale * DUDLEY_REMAINDER) is holds


@statement("lem-chaining")
def test_the_best_ratio_is_a_minimum():
    ratios = np.linspace(0.05, 0.95, 2001)
    constants = 2 * (1 + 1 / ratios) / (1 - ratios)
    assert constants.min() == pytest.approx(DUDLEY_BEST_RATIO, rel=1e-6)
    assert ratios[constants.argmin()] == pytest.approx(np.sqrt(2) - 1, abs=1e-3)


# --- Dudley on a finite class, with exact covering numbers ---


def covering_steps(functions, centres):
    """Scales eps_0 < eps_1 < ... and the exact covering numbers on [eps_i, eps_{i+1})."""
    distances = np.linalg.norm(functions[:, None] - centres, axis=-1) / np.sqrt(SAMPLES)
    scales = np.unique(np.append(distances.ravel(), 0.0))
    subsets = np.array(list(itertools.product([False, True], repeat=len(centres))))
    sizes = subsets.sum(axis=1)
    numbers = []
    for eps in scales:
        close = distances <= eps
        covers = (subsets.astype(float) @ close.T > 0).all(axis=1)
        numbers.append(sizes[covers].min())
    return scales, np.array(numbers)


def entropy_integral(scales, numbers, low, high):
    """The integral of sqrt(log N) over [low, high], exactly: N is a step function."""
    ends = np.append(scales[1:], np.inf)
    widths = np.clip(np.minimum(ends, high) - np.maximum(scales, low), 0.0, None)
    return (widths * np.sqrt(np.log(numbers))).sum()


@statement("thm-dudley")
@pytest.mark.parametrize("seed", range(8))
def test_dudley_on_a_finite_class(seed, record_property):
    functions = small_class(seed) - CENTERED_RANGE
    radius = np.linalg.norm(functions, axis=1).max() / np.sqrt(SAMPLES)
    assert radius <= CENTERED_RANGE
    measured = rademacher(functions)
    inside = covering_steps(functions, functions)
    anywhere = covering_steps(functions, np.vstack([functions, 0 * functions[:1]]))

    def integral(covers, low, high):
        return entropy_integral(*covers, low, high) / np.sqrt(SAMPLES)

    bounds = {
        "ratio": DUDLEY * integral(anywhere, 0.0, CHAINING_RATIO * radius),
        "best ratio": DUDLEY_BEST_RATIO * integral(anywhere, 0.0, (np.sqrt(2) - 1) * radius),
        "tree": DUDLEY / np.sqrt(2) * integral(anywhere, 0.0, CHAINING_RATIO * radius),
        "tree inside": DUDLEY_TREE * integral(inside, 0.0, CHAINING_RATIO * radius),
    }
    for name, bound in bounds.items():
        record_property(name, measured / bound)
        assert at_most(measured, bound)
    for stop in np.linspace(0.0, CHAINING_RATIO * radius, 11):
        rest = DUDLEY * integral(anywhere, stop, CHAINING_RATIO * radius)
        assert at_most(measured, DUDLEY_REMAINDER * stop + rest)
