"""Statements of the chapters on covering numbers, Theorem 4.1 and the interpolation.

Those that the lemma tests do not guard already: relations between covers and packings, the sharper
forms of dual Sudakov, Gaussian comparison, the tail that a budget leaves, and what the forms of the
entropy cost in Dudley's integral.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import log_ndtr

from spectral_lib.bounds import covering
from spectral_lib.bounds.exact import exact_entropy, log_tail
from spectral_lib.bounds.matrix_class import MatrixClasses, OperatorMetric, SampleMetric
from spectral_lib.constants import (
    C_P_AT_TWO,
    C_P_AT_ZERO,
    DUAL_SUDAKOV,
    DUAL_SUDAKOV_MEDIAN,
    DUAL_SUDAKOV_OFFSET,
    DUAL_SUDAKOV_TAIL,
    GAUSSIAN_MAXIMUM,
    LOW_RANK_NET,
    SIGNED_SCORES,
)
from spectral_lib.packing import (
    bilinear_norm,
    class_profile,
    insertion_radii,
    operator_norm,
    packing_size,
    random_members,
    sample_norm,
)

from ..lemmas.tightness import at_most, perturbed, statement

OPERATOR = OperatorMetric()
seeds = st.integers(0, 2**32 - 1)
reproducible = settings(derandomize=True, max_examples=60, deadline=None)


def exact_numbers(gap, inside, eps):
    """External and internal covering number and packing number of a few points, by enumeration."""
    everywhere = range(len(gap))
    subsets = [s for n in everywhere for s in itertools.combinations(everywhere, n + 1)]
    covers = [s for s in subsets if (gap[:, s].min(axis=1)[inside] <= eps).all()]
    separated = [
        s
        for s in subsets
        if set(s) <= set(inside) and all(gap[i, j] > eps for i, j in itertools.combinations(s, 2))
    ]
    internal = [s for s in covers if set(s) <= set(inside)]
    return min(map(len, covers)), min(map(len, internal)), max(map(len, separated))


@statement("prop-packing-covering")
@reproducible
@given(seeds)
def test_packing_against_covering(seed):
    rng = np.random.default_rng(seed)
    points, inside, eps = rng.random((8, 2)), list(range(5)), rng.uniform(0.05, 0.7)
    gap = np.linalg.norm(points[:, None] - points[None], axis=-1)
    external, internal, packed = exact_numbers(gap, inside, eps)
    _, internal_twice, packed_twice = exact_numbers(gap, inside, 2 * eps)
    assert packed_twice <= external <= internal <= packed
    assert internal_twice <= external


@statement("prop-packing-covering")
def test_external_covers_can_be_smaller_by_the_whole_factor_two():
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    points = np.vstack([corners, np.zeros((1, 3))])
    gap = np.abs(points[:, None] - points[None]).max(axis=-1)
    assert exact_numbers(gap, list(range(8)), 1.0)[:2] == (1, 8)
    assert exact_numbers(gap, list(range(8)), 1.99)[1] == 8
    assert exact_numbers(gap, list(range(8)), 2.0)[1] == 1


@statement("lem-cover-rules")
@reproducible
@given(seeds)
def test_rules_of_calculation(seed):
    """Sums of greedy covers cover the sums, in every seminorm below the one they were made in."""
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((2, 12, 2, 2))
    x = rng.standard_normal((3, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)

    def greedy(sample, eps):
        chosen = []
        for w in sample:
            if not chosen or operator_norm(np.array(chosen) - w).min() > eps:
                chosen.append(w)
        return np.array(chosen)

    eps_1, eps_2 = rng.uniform(0.2, 2.0, 2)
    sums = (greedy(left, eps_1)[:, None] + greedy(right, eps_2)[None]).reshape(-1, 2, 2)
    for a, b in itertools.product(left, right):
        distance = operator_norm(sums - (a + b))
        assert at_most(distance.min(), eps_1 + eps_2)
        assert (sample_norm(x)(sums - (a + b)) <= distance * (1 + 1e-12)).all()


@statement("lem-volumetric-net")
@perturbed(1.01)
@pytest.mark.parametrize(("dims", "balls"), [(1, 40), (2, 15), (3, 6)])
def test_volume_is_reached_from_below_by_cubes(dims, balls, scale, holds):
    """In the maximum norm (s/eps)^D balls of radius eps do cover the ball of radius s."""
    eps = 1.0 / balls
    centres = np.array(list(itertools.product((2 * np.arange(balls) + 1) * eps - 1, repeat=dims)))
    points = np.random.default_rng(0).uniform(-1, 1, (300, dims))
    gaps = np.abs(points[:, None] - centres[None]).max(axis=-1).min(axis=1)
    assert gaps.max() <= eps * (1 + 1e-12)
    assert at_most((scale / eps) ** dims, len(centres)) is holds


@statement("prop-dual-sudakov-level")
@perturbed(0.99)
def test_the_better_level_is_tight_at_one(scale, holds):
    """At u = 1 the step log(a/(a-1)) + 2 a^2 u with a = 1 + 1/(4u) gives 2u + log(1+4u) + 9/8."""
    u = np.geomspace(1.0, 1e6, 200)
    a = 1 + 1 / (4 * u)
    level = np.log(a / (a - 1)) + DUAL_SUDAKOV_MEDIAN * a**2 * u
    stated = DUAL_SUDAKOV_MEDIAN * u + np.log1p(4 * u) + scale * 9 / 8
    assert bool((level <= stated + 1e-9).all()) is holds


@statement("prop-dual-sudakov-level")
def test_better_level():
    u = np.geomspace(1.0, 1e8, 300)
    better = DUAL_SUDAKOV_MEDIAN * u + np.log1p(4 * u) + 9 / 8
    stated = DUAL_SUDAKOV_OFFSET + DUAL_SUDAKOV * u
    assert (better < stated).all()
    assert better[-1] / stated[-1] == pytest.approx(1 / 4, rel=1e-6)


def log_moment(k, lam):
    """log E exp(lam |g|) for a standard Gaussian g in R^k, by quadrature about the mode."""
    mode = (lam + math.sqrt(lam**2 + 4 * (k - 1))) / 2

    def log_density(r):
        return (k - 1) * math.log(r) - r**2 / 2 if k > 1 else -(r**2) / 2

    def total(tilt, centre):
        peak = log_density(max(centre, 1e-9)) + tilt * centre
        low, high = max(centre - 12, 1e-12), centre + 12
        area = quad(lambda r: math.exp(log_density(r) + tilt * r - peak), low, high, limit=200)[0]
        return peak + math.log(area)

    return total(lam, mode) - total(0.0, math.sqrt(k - 1))


@statement("lem-gaussian-vector")
@pytest.mark.parametrize("k", [1, 2, 7, 60])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0, 5.0, 30.0])
def test_gaussian_vector(k, lam):
    assert log_moment(k, lam) <= lam * math.sqrt(k) + lam**2 / 2 + 1e-9


@statement("lem-gaussian-vector")
@perturbed(0.99)
def test_the_gaussian_exponent_cannot_be_smaller(scale, holds):
    """For k = 1, log E exp(lam |g|) = lam^2/2 + log 2 + log Phi(lam): the 1/2 is reached."""
    lam = 300.0
    moment = lam**2 / 2 + math.log(2) + float(log_ndtr(lam))
    assert log_moment(1, 5.0) == pytest.approx(12.5 + math.log(2) + float(log_ndtr(5.0)), rel=1e-9)
    assert at_most(moment, lam + scale * lam**2 / 2) is holds


@statement("lem-row-maximum")
@pytest.mark.parametrize(("rows", "k"), [(1, 12), (64, 6), (512, 2)])
def test_row_maximum_median(rows, k):
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((rows, 24))
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    measured = np.median(sample_norm(inputs)(rng.standard_normal((800, 24, k))))
    bound = math.sqrt(k) + math.sqrt(GAUSSIAN_MAXIMUM * math.log(2 * rows))
    assert 0.5 * bound < measured <= bound


@statement("lem-row-maximum")
@perturbed(0.99)
def test_the_median_of_the_largest_row_is_near_its_bound(scale, holds):
    """mu = e^100000 orthonormal inputs, k = 1: the median m solves P(|g| <= m)^mu = 1/2."""
    log_mu = 1e5
    # mu P(|g| > m) = log 2 up to a factor 1 + O(1/mu), and P(|g| > m) = 2 Phi(-m).
    level = math.log(math.log(2) / 2) - log_mu
    median = brentq(lambda m: float(log_ndtr(-m)) - level, 1.0, 1e4)
    bound = 1 + math.sqrt(GAUSSIAN_MAXIMUM * (math.log(2) + log_mu))
    assert at_most(median, scale * bound) is holds


@statement("lem-sudakov-fernique")
@settings(derandomize=True, max_examples=15, deadline=None)
@given(seeds)
def test_sudakov_fernique(seed):
    """A vector with larger increments has the larger mean maximum; common noise adds none."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((6, 6))
    mixing = rng.standard_normal((6, 3)) * 2
    common = rng.standard_normal() * np.ones((6, 1))
    g, h, z = (rng.standard_normal((40_000, n)) for n in (6, 3, 1))
    x = g @ factor.T + z @ common.T
    y = g @ factor.T + h @ mixing.T
    error = 5 * (x.max(axis=1).std() + y.max(axis=1).std()) / 200
    assert x.max(axis=1).mean() <= y.max(axis=1).mean() + error
    assert not y.max(axis=1).mean() <= x.max(axis=1).mean()


@statement("lem-operator-norm")
@reproducible
@given(seeds)
def test_increments_of_chevet(seed):
    """E(Y-Y')^2 - E(X-X')^2 = 2 (1 - a)(1 - b) for unit vectors."""
    rng = np.random.default_rng(seed)
    u, w, v, z = (x / np.linalg.norm(x) for x in (rng.standard_normal(n) for n in (4, 4, 3, 3)))
    x_square = np.square(np.outer(u, v) - np.outer(w, z)).sum()
    y_square = np.square(u - w).sum() + np.square(v - z).sum()
    assert y_square - x_square == pytest.approx(2 * (1 - u @ w) * (1 - v @ z), abs=1e-12)


@statement("lem-operator-cover")
@perturbed(0.7)
def test_frobenius_cover(scale, holds):
    """K of each metric against the squared Gaussian mean; 0.7 of it would be too small."""
    rng = np.random.default_rng(1)
    side, draws = 100, rng.standard_normal((20, 100, 100))
    square = MatrixClasses.of(side, side, s=1.0, p=2.0, m=1.0)
    inputs = np.eye(side)
    widths = {
        "operator": (operator_norm(draws), OPERATOR.width_squared(square)),
        "score": (bilinear_norm(inputs)(draws), GAUSSIAN_MAXIMUM * math.log(SIGNED_SCORES * 1e4)),
    }
    for norms, width in widths.values():
        assert at_most(norms.mean() ** 2, scale * float(width)) is holds
    rows = sample_norm(inputs)(draws).mean() ** 2
    assert rows <= float(SampleMetric(side).width_squared(square))


@statement("thm-covering")
@reproducible
@given(seeds)
def test_closed_form_above_exact_entropy(seed):
    rng = np.random.default_rng(seed)
    d, k = rng.integers(1, 80, 2)
    p, s, eps = rng.uniform(0.01, 2), 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-3, 1)
    members = MatrixClasses.of(d, k, s=s, p=p, m=min(d, k) * s**p * rng.random())
    for metric in (OPERATOR, SampleMetric(1e4)):
        exact = float(exact_entropy(members, eps, metric))
        assert at_most(exact, float(covering.balanced_entropy(members, eps, metric)))
        assert at_most(exact, float(covering.full_rank_entropy(members, eps)))


#: Points of a wide grid for the leading form: p, N, M, B / eps and s.
LEADING_GRID = np.stack(
    [
        axis.ravel()
        for axis in np.meshgrid(
            [0.0, 0.2, 0.5, 1.0, 1.5, 2.0],
            10.0 ** np.arange(0, 7, 2),
            10.0 ** np.arange(-6, 13, 3),
            10.0 ** np.arange(-3, 13, 3),
            [1e-2, 1.0, 1e3],
        )
    ]
)


def leading_form(p, n, m, inverse, tilt=None):
    """M^(2/(p+2)) (B/eps)^(2p/(p+2)) N^(2(p+1)/(p+2)), one exponent moved where asked."""
    moved = {"N": 0.0, "M": 0.0, "B / eps": 0.0} | dict([tilt] if tilt else [])
    return (
        m ** (2 / (p + 2) + moved["M"])
        * inverse ** (2 * p / (p + 2) + moved["B / eps"])
        * n ** (2 * (p + 1) / (p + 2) + moved["N"])
    )


@statement("thm-covering-leading")
@pytest.mark.parametrize(
    "tilt",
    [None, *((name, by) for name in ("N", "M", "B / eps") for by in (0.1, -0.1))],
    ids=lambda tilt: "as stated" if tilt is None else f"{tilt[0]} {tilt[1]:+}",
)
def test_leading_exponents(tilt):
    """2 Lam^(2/(p+2)) E <= closed form <= log 2 + 32 Lam^(2/(p+2)) E, in operator norm.

    So the closed form has the exponents of the leading form E, up to a constant and a power of
    Lam = log(1 + 8 s B/eps); with an exponent moved by 0.1 the two drift apart over the grid.
    """
    p, n, m, inverse, s = LEADING_GRID
    members = MatrixClasses.of(n, n, s=s, p=p, m=m, b=inverse)
    closed = covering.balanced_entropy(members, 1.0, OPERATOR)
    factor = np.log1p(8 * s * inverse) ** (2 / (p + 2)) * leading_form(p, n, m, inverse, tilt)
    above = (closed <= (math.log(2) + 32 * factor) * (1 + 1e-9)).all()
    below = (closed >= 2 * factor * (1 - 1e-9)).all()
    assert bool(above and below) is (tilt is None)
    if tilt is None:
        assert np.allclose(covering.leading_entropy(members, 1.0), leading_form(p, n, m, inverse))


@statement("cor-covering-leading")
@perturbed(0.99)
def test_leading_constant_is_reached(scale, holds):
    """At p = 2 the closed form without log 2 is 32 Lam^(1/2) E; toward p = 0 it is 2 Lam E."""
    members = MatrixClasses.of(500, 500, s=1.0, p=2.0, m=40.0, b=1e4)
    closed = float(covering.balanced_entropy(members, 1.0, OPERATOR)) - math.log(2)
    leading = math.sqrt(math.log1p(8e4)) * leading_form(2.0, 500.0, 40.0, 1e4)
    assert at_most(closed, scale * 32 * leading) is holds


@statement("cor-covering-leading")
def test_leading_factor_of_the_sample_metric():
    """Beside the operator norm the sample costs [(1 + sqrt(2 log mu / N))^2 / 4]^(p/(p+2))."""
    p, n, m, inverse, s = LEADING_GRID
    members = MatrixClasses.of(n, n, s=s, p=p, m=m, b=inverse)
    for mu in (1.0, 1e4, 1e9):
        sample = np.square(1 + np.sqrt(2 * math.log(mu) / n)) / 4
        offset = np.where(p > 0, math.log(2), 0.0)
        stated = offset + sample ** (p / (p + 2)) * (
            covering.balanced_entropy(members, 1.0, OPERATOR) - offset
        )
        found = covering.balanced_entropy(members, 1.0, SampleMetric(mu))
        assert np.allclose(found, stated, rtol=1e-9)


@statement("lem-tail")
@perturbed(0.99)
def test_tail_is_attained_by_one_singular_value(scale, holds):
    """r = 0, one singular value M^(1/p) < s: the Frobenius norm is R_0."""
    p, m = 0.8, 1.7
    members = MatrixClasses.of(5, 7, s=9.0, p=p, m=m)
    radius = math.exp(float(log_tail(members, np.array(0))) / 2)
    assert at_most(m ** (1 / p), scale * radius) is holds


@statement("lem-tail")
@reproducible
@given(seeds)
def test_tail(seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(2, 30))
    p, s = rng.uniform(0.05, 2), rng.uniform(0.1, 3)
    m = q * s**p * rng.uniform(0.02, 1)
    values = class_profile(q, s=s, budget=m, p=p, profile="random", rng=rng)
    members = MatrixClasses.of(q, q, s=s, p=p, m=m)
    for r in range(q):
        tau = min(s, (m / (r + 1)) ** (1 / p))
        assert at_most(values[r], tau)
        assert at_most(np.square(values[r:]).sum(), min(m * tau ** (2 - p), (q - r) * tau**2))
        assert np.exp(log_tail(members, np.array(r))) == pytest.approx(
            min(m * tau ** (2 - p), (q - r) * tau**2), rel=1e-9
        )


@statement("prop-balance-constant")
def test_balance_constant():
    p = np.linspace(1e-6, 2, 500)
    theta = p / (p + 2)
    entropy = -theta * np.log(theta) - (1 - theta) * np.log1p(-theta)
    direct = (p / 2) ** (-theta) + (p / 2) ** (1 - theta)
    assert np.allclose(np.log(direct), entropy, atol=1e-13)
    assert np.allclose(covering.log_balance(p), entropy, atol=1e-13)
    assert (np.diff(direct) > 0).all()
    assert direct[-1] == pytest.approx(C_P_AT_TWO, rel=1e-14)
    assert direct[0] == pytest.approx(C_P_AT_ZERO, rel=1e-4)


def exact_tail_radius(q, r, p, m):
    i = np.arange(r + 1.0, q + 1)
    return m ** (2 / p) * ((i - r) * i ** (-2 / p)).max()


@statement("prop-tail-radius")
@reproducible
@given(seeds)
def test_exact_tail_radius(seed):
    """No member of the class has a larger tail, and equal singular values attain it."""
    rng = np.random.default_rng(seed)
    q, p, m = int(rng.integers(2, 25)), rng.uniform(0.1, 2), rng.uniform(0.1, 4)
    r = int(rng.integers(0, q))
    exact = exact_tail_radius(q, r, p, m)
    for _ in range(20):
        shares = np.sort(rng.dirichlet(np.full(q, rng.uniform(0.05, 3))))[::-1] * m
        assert at_most(np.square(shares[r:] ** (1 / p)).sum(), exact)
    attained = max((i - r) * (m / i) ** (2 / p) for i in range(r + 1, q + 1))
    assert attained == pytest.approx(exact, rel=1e-12)
    if r >= 1 and p < 2:
        level = ((2 - p) * m / (2 * r)) ** (1 / p)
        assert at_most(exact, p / 2 * m * level ** (2 - p))
    wide = MatrixClasses.of(q, q, s=2 * m ** (1 / p), p=p, m=m)
    assert at_most(exact, float(np.exp(log_tail(wide, np.array(r)))))


@statement("prop-tail-radius")
def test_exact_tail_radius_at_one_and_two():
    for r in (1, 3, 10):
        assert exact_tail_radius(1000, r, 1.0, 2.0) == pytest.approx(2.0**2 / (4 * r), rel=1e-12)
    assert exact_tail_radius(40, 13, 2.0, 3.0) == pytest.approx((1 - 13 / 40) * 3.0, rel=1e-12)


@statement("prop-entropy-monotone")
@reproducible
@given(seeds)
def test_monotone_and_ends(seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(2, 20))
    p, s, m, b = rng.uniform(0.05, 2), rng.uniform(0.2, 3), rng.uniform(0.1, q), rng.uniform(0.5, 2)
    eps = np.geomspace(1e-3, 3, 30)

    def entropy(s=s, m=m, b=b):
        return exact_entropy(MatrixClasses.of(q, q + 2, s=s, p=p, m=m, b=b), eps, OPERATOR)

    here = entropy()
    assert (np.diff(here) <= 1e-9 * here[:-1]).all()
    for larger in (entropy(s=1.3 * s), entropy(m=1.3 * m), entropy(b=1.3 * b)):
        assert (larger >= here * (1 - 1e-12)).all()

    rank = int(rng.integers(1, q + 1))
    values = np.sort(rng.uniform(0.1, 1, rank))[::-1]
    at_zero = MatrixClasses.of(q, q, s=values[0], p=0.0, m=rank)
    near = MatrixClasses.of(q, q, s=values[0], p=1e-7, m=(values**1e-7).sum())
    limit = exact_entropy(at_zero, eps, OPERATOR) + (math.log(2) if rank < q else 0.0)
    assert (exact_entropy(near, eps, OPERATOR) <= limit * (1 + 1e-4)).all()
    closed = covering.balanced_entropy(near, eps, OPERATOR) - math.log(2)
    assert np.allclose(closed, exact_entropy(at_zero, eps, OPERATOR), rtol=1e-4)


@statement("prop-truncation-profile")
def test_only_the_log_two_can_make_full_rank_the_smaller():
    """Every s_j a little below tau: the profile pays for a tail that full rank does not have."""
    eps, q = 20.0, 4
    s = 1.0
    for _ in range(100):  # s = 0.999 tau(s), by iteration
        s = 0.999 * eps * math.sqrt(math.log1p(LOW_RANK_NET * s / eps)) / 8
    profile = float(covering.profile_entropy(np.full(q, s), eps, OPERATOR, d=q, k=q))
    ball = MatrixClasses.of(q, q, s=s, p=2.0, m=1.0)
    full = float(covering.full_rank_entropy(ball, eps))
    assert full < profile <= full + math.log(2)
    assert profile - full > 0.9 * math.log(2)


@statement("prop-truncation-profile")
@reproducible
@given(seeds)
def test_no_other_rank_improves_the_profile(seed):
    rng = np.random.default_rng(seed)
    d, k = (int(n) for n in rng.integers(2, 25, 2))
    values = np.sort(rng.pareto(1.0, min(d, k)))[::-1]
    eps = values[0] * 10 ** rng.uniform(-3, 0)
    ball = MatrixClasses.of(d, k, s=values[0], p=2.0, m=1.0)
    degree = (d + k) * math.log1p(LOW_RANK_NET * values[0] / eps)
    price = DUAL_SUDAKOV_TAIL * float(OPERATOR.width_squared(ball)) / eps**2
    splits = [r * degree + price * np.square(values[r:]).sum() for r in range(len(values) + 1)]
    profile = float(covering.profile_entropy(values, eps, OPERATOR, d=d, k=k))
    offset = 0.0 if int(np.argmin(splits)) == len(values) else math.log(2)
    assert profile == pytest.approx(min(splits) + offset, rel=1e-9)


@statement("prop-crossing")
@reproducible
@given(seeds)
def test_crossing(seed):
    rng = np.random.default_rng(seed)
    q = int(rng.integers(2, 40))
    values = np.sort(rng.lognormal(0, 1.5, q))[::-1]
    p = rng.uniform(0.05, 2)
    eps = values[0] * np.geomspace(1e-4, 1e3, 400)
    own = MatrixClasses.of(q, q, s=values[0], p=p, m=(values**p).sum())
    degree = 2 * q * np.log1p(LOW_RANK_NET * values[0] / eps)
    tau = np.sqrt(degree / (DUAL_SUDAKOV_TAIL * float(OPERATOR.width_squared(own)) / eps**2))
    assert (np.diff(tau) > 0).all()
    log_q = covering.log_interpolated(own, eps, OPERATOR)
    wins = log_q <= np.log(covering.full_rank_entropy(own, eps))
    assert (wins == (tau >= np.mean(values**p) ** (1 / p))).all()
    assert not wins[0]
    assert wins[-1]
    assert np.allclose(np.exp(log_q), degree * np.power.outer(1 / tau, p) * (values**p).sum())

    grid = np.linspace(0.01, 2, 60)
    curves = {
        level: np.log(np.power.outer(values / level, grid).sum(axis=0))
        for level in (2 * values[0], np.median(values), values[-1] / 2)
    }
    assert all((np.diff(y, 2) >= -1e-12).all() for y in curves.values())
    assert (np.diff(curves[2 * values[0]]) <= 0).all()
    assert (np.diff(curves[values[-1] / 2]) >= 0).all()


@statement("prop-entropy-integrals")
@pytest.mark.parametrize("p", [0.3, 1.0, 1.7, 2.0])
@pytest.mark.parametrize("x", [0.2, 1.0, 3.0, 50.0])
def test_integrals(p, x):
    theta, inner = p / (p + 2), 1 - p / 2
    c_p = math.exp(float(covering.log_balance(p)))
    closed = math.sqrt(c_p) * (p + 2) / 2 * x ** (2 / (p + 2))
    numeric = math.sqrt(c_p) * quad(lambda v: v**-theta, 0, x)[0]
    assert closed == pytest.approx(numeric, rel=1e-6)
    growth = math.log(x) if p == 2 else (x**inner - 1) / inner
    smallest = x if x <= 1 else 1 + growth
    breaks = [1.0] if x > 1 else None
    numeric = quad(lambda v: min(1.0, v ** (-p / 2)), 0, x, points=breaks)[0]
    assert smallest == pytest.approx(numeric, rel=1e-6)
    others = [x, closed, *([x**inner / inner] if p < 2 else [])]
    assert all(at_most(smallest, other) for other in others)


@statement("prop-depth-exponents")
@pytest.mark.parametrize("p", [0.5, 1.0, 1.9])
def test_depth_exponents(p):
    """Log-derivatives in J, N and M of the root entropies, with the logarithm frozen."""

    def roots(log_j, log_n, log_m):
        j, n, m = np.exp([log_j, log_n, log_m])
        lam, v = 5.0, 4 * DUAL_SUDAKOV_TAIL * n * j**2
        full, q_p = 2 * n**2 * lam, m * (2 * n * lam) ** (1 - p / 2) * v ** (p / 2)
        closed = (m * 2 * n * lam) ** (2 / (p + 2)) * (n * v) ** (p / (p + 2))
        return 0.5 * np.log(j * np.array([full, closed, q_p]))

    base, step = np.array([2.0, 4.0, 1.0]), 1e-4
    slopes = np.array(
        [(roots(*(base + e)) - roots(*(base - e))) / (2 * step) for e in step * np.eye(3)]
    )
    closed = [1 / 2 + p / (p + 2), (p + 1) / (p + 2), 1 / (p + 2)]
    stated = np.array([[1 / 2, 1, 0], closed, [(1 + p) / 2, 1 / 2, 1 / 2]]).T
    assert np.allclose(slopes, stated, atol=1e-6)
    assert np.allclose(slopes[:, 1], (2 * slopes[:, 2] + p * slopes[:, 0]) / (p + 2), atol=1e-6)


@statement("thm-covering")
def test_packings_of_a_small_class_obey_every_form():
    rng = np.random.default_rng(3)
    sample = np.concatenate(
        [
            random_members(rng, 250, (3, 3), s=1.0, budget=1.5, p=1.0, profile=shape)
            for shape in ("flat", "random")
        ]
    )
    eps = np.geomspace(0.1, 0.95, 12)
    found = np.log(packing_size(insertion_radii(sample, operator_norm), 2 * eps))
    members = MatrixClasses.of(3, 3, s=1.0, p=1.0, m=1.5)
    for form in (exact_entropy, covering.balanced_entropy, covering.interpolated_entropy):
        assert (found <= form(members, eps, OPERATOR)).all()
    assert found[0] > 5
