"""Theorem 4.1 and what the interpolation buys: bounds against packings, steps at equality."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from spectral_lib.bounds.covering import (
    balanced_entropy,
    full_rank_entropy,
    interpolated_entropy,
    log_balance,
    log_balanced_terms,
    log_interpolated,
    log_inverse_scale,
    log_tail_price,
    net_price,
    optimal_split,
    profile_entropy,
    pure_rank_entropy,
    volumetric_entropy,
)
from spectral_lib.bounds.exact import exact_entropy
from spectral_lib.bounds.matrix_class import MatrixClasses, OperatorMetric, SampleMetric
from spectral_lib.constants import C_P_AT_TWO, C_P_AT_ZERO, DUAL_SUDAKOV_OFFSET, LOW_RANK_NET, P_MAX
from spectral_lib.packing import (
    class_profile,
    insertion_radii,
    operator_norm,
    orthonormal_frames,
    packing_size,
    random_members,
    sample_norm,
)

from .tightness import ROUNDING, at_most, perturbed, statement

METRIC = OperatorMetric()
exponents = st.floats(0, P_MAX).filter(lambda p: p == 0 or p > 1e-3)
classes = st.builds(
    lambda d, k, s, p, share: MatrixClasses.of(
        d, k, s=s, p=p, m=max(1.0, share * min(d, k)) if p == 0 else share * min(d, k) * s**p
    ),
    st.integers(1, 300), st.integers(1, 300), st.floats(0.01, 30), exponents, st.floats(0.01, 1),
)  # fmt: skip
scales = st.floats(1e-6, 3)
many = settings(derandomize=True, max_examples=120, deadline=None)


def prices(c, eps, metric=METRIC):
    """(d + k) Lam and V."""
    log_inv = log_inverse_scale(c, eps)
    degree = (c.d + c.k) * net_price(c, log_inv, LOW_RANK_NET)
    return float(degree), float(np.exp(log_tail_price(c, log_inv, metric)))


# --- Balance ---


@statement("lem-balance")
@perturbed(0.999)
@pytest.mark.parametrize("p", [0.01, 0.3, 1.0, 1.7, 2.0])
def test_the_balanced_minimum_is_attained(p, scale, holds):
    """min over tau of a tau^-p + b tau^2 = c_p a^(2/(p+2)) b^(p/(p+2))."""
    a, b = 37.0, 0.4
    found = minimize_scalar(
        lambda t: a * np.exp(-p * t) + b * np.exp(2 * t), bounds=(-40, 40), method="bounded",
        options={"xatol": 1e-10},
    ).fun  # fmt: skip
    closed = np.exp(log_balance(p)) * a ** (2 / (p + 2)) * b ** (p / (p + 2))
    assert found == pytest.approx(closed, rel=1e-9)
    # The minimum is what it is: a smaller constant would claim less than any tau gives.
    assert at_most(found, scale * closed) is holds


@statement("lem-balance")
def test_the_balance_factor_at_both_ends():
    p = np.linspace(0, P_MAX, 401)
    c_p = np.exp(log_balance(p))
    assert c_p[0] == C_P_AT_ZERO
    assert c_p[-1] == pytest.approx(C_P_AT_TWO, rel=1e-15)
    assert (np.diff(c_p) > 0).all()
    inner = p[1:-1]
    direct = (inner / 2) ** (-inner / (inner + 2)) + (inner / 2) ** (2 / (inner + 2))
    np.testing.assert_allclose(c_p[1:-1], direct, rtol=1e-13)


@statement("lem-balance")
@many
@given(classes.filter(lambda c: c.p > 0), scales)
def test_the_split_balances_the_two_prices(c, eps):
    """At the split the sum of both parts is the closed form; beside it, more."""
    degree, v = prices(c, eps)
    tau = float(optimal_split(c, eps, METRIC))
    m, p, q = float(c.m), float(c.p), int(c.q)
    tau_factors = tau * np.array([1.0, 0.97, 1.03])
    sums = m * degree * tau_factors**-p + q * v * tau_factors**2
    closed = float(np.exp(log_balanced_terms(c, *log_parts(c, eps))))
    assert sums[0] == pytest.approx(closed, rel=1e-8)
    assert sums[0] <= sums[1:].min() * (1 + ROUNDING)


def log_parts(c, eps):
    log_inv = log_inverse_scale(c, eps)
    return net_price(c, log_inv, LOW_RANK_NET), log_tail_price(c, log_inv, METRIC)


# --- What it buys ---


@statement("prop-geometric-mean")
@many
@given(classes, scales)
def test_the_closed_form_is_a_geometric_mean(c, eps):
    p = float(c.p)
    log_full = float(np.log(full_rank_entropy(c, eps)))
    log_q = float(log_interpolated(c, eps, METRIC))
    mean = (2 * log_q + p * log_full) / (p + 2)
    log_closed = float(log_balanced_terms(c, *log_parts(c, eps))) - float(log_balance(p))
    assert log_closed == pytest.approx(mean, abs=1e-9)
    assert log_closed >= min(log_q, log_full) - 1e-9


@statement("prop-qp")
@perturbed(0.99)
@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
def test_the_truncation_sum_is_tight(p, scale, holds):
    """sum min(1, (sigma/tau)^2) <= S_p tau^-p, an equality where every sigma is tau."""
    tau, sigma = 0.7, np.full(9, 0.7)
    measured = np.minimum(1, (sigma / tau) ** 2).sum()
    assert at_most(measured, scale * (sigma**p).sum() * tau**-p) is holds


@statement("prop-qp")
@many
@given(classes.filter(lambda c: c.p > 0), scales, st.integers(0, 2**32 - 1))
def test_every_member_costs_at_most_the_interpolated_form(c, eps, seed):
    """r (d+k) Lam + V ||tail||_F^2, truncated at tau, for members drawn from the class."""
    degree, v = prices(c, eps)
    tau = np.sqrt(degree / v)
    bound = float(np.exp(log_interpolated(c, eps, METRIC)))
    for profile in ("flat", "spread", "power", "random"):
        sigma = class_profile(
            int(c.q), s=float(c.s), budget=float(c.m), p=float(c.p), profile=profile,
            rng=np.random.default_rng(seed),
        )  # fmt: skip
        large = sigma > tau
        cost = large.sum() * degree + v * np.square(sigma[~large]).sum()
        assert cost == pytest.approx(degree * np.minimum(1, (sigma / tau) ** 2).sum(), rel=1e-9)
        assert at_most(cost, bound)


@statement("prop-qp")
@many
@given(classes.filter(lambda c: c.p > 0 and c.q <= 60), scales)
def test_the_union_over_ranks_fits_in_the_interpolated_form(c, eps):
    """log of the sum over r of the covers of all W with r singular values above tau."""
    degree, v = prices(c, eps)
    tau = np.sqrt(degree / v)
    paid = float(c.m) * tau ** -float(c.p)
    r = np.arange(min(int(c.q), int(np.floor(paid))) + 1)
    logs = r * degree + DUAL_SUDAKOV_OFFSET + v * tau**2 * (paid - r)
    union = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    assert at_most(union, float(interpolated_entropy(c, eps, METRIC)))


def decaying(q, s, a):
    return s * np.arange(1.0, q + 1) ** -a


@statement("prop-truncation-profile")
@many
@given(st.integers(1, 80), st.integers(1, 80), st.floats(0.1, 5), st.floats(0, 3), scales)
def test_the_profile_is_below_every_interpolated_form(d, k, s, a, eps):
    profile = decaying(min(d, k), s, a)
    entropy = float(profile_entropy(profile, eps, METRIC, d=d, k=k))
    for p in np.linspace(0.05, 2, 9):
        c = MatrixClasses.of(d, k, s=s, p=p, m=(profile**p).sum())
        assert at_most(entropy, DUAL_SUDAKOV_OFFSET + np.exp(log_interpolated(c, eps, METRIC)))


@statement("prop-truncation-profile")
@perturbed(0.99)
def test_the_profile_pays_for_its_extreme_member_exactly(scale, holds):
    d, k, eps = 40, 60, 0.3
    profile = decaying(d, 1.0, 1.0)
    c = MatrixClasses.of(d, k, s=1.0, p=2.0, m=1.0)
    degree, v = prices(c, eps)
    large = profile > np.sqrt(degree / v)
    cost = DUAL_SUDAKOV_OFFSET + large.sum() * degree + v * np.square(profile[~large]).sum()
    assert 0 < large.sum() < d
    assert at_most(cost, scale * float(profile_entropy(profile, eps, METRIC, d=d, k=k))) is holds


# --- Theorem 4.1 ---


@statement("thm-covering")
@many
@given(classes.filter(lambda c: c.q <= 60), scales, st.sampled_from([1.0, 1e3, 1e9, None]))
def test_the_exact_entropy_is_its_definition(c, eps, vectors):
    metric = OperatorMetric() if vectors is None else SampleMetric(vectors)
    degree, v = prices(c, eps, metric)
    s, p, m, q = float(c.s), float(c.p), float(c.m), int(c.q)
    if p == 0:
        expected = min(np.floor(m), q) * degree
    else:
        r = np.arange(q)
        tau = np.minimum(s, (m / (r + 1)) ** (1 / p))
        tails = np.minimum(m * tau ** (2 - p), (q - r) * tau**2)
        expected = min(q * degree, (r * degree + DUAL_SUDAKOV_OFFSET + v * tails).min())
    assert float(exact_entropy(c, eps, metric)) == pytest.approx(expected, rel=1e-8)
    assert at_most(expected, float(balanced_entropy(c, eps, metric)))


@statement("thm-covering")
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("profile", ["flat", "spread", "power", "random"])
def test_greedy_packings_obey_the_covering_bounds(p, profile, record_property):
    """Members more than 2 eps apart number at most N(eps), in both metrics."""
    rng = np.random.default_rng(13)
    d, k, s, m = 3, 2, 1.0, 1.4
    members = random_members(rng, 500, (d, k), s=s, budget=m, p=p, profile=profile)
    inputs = orthonormal_frames(rng, 20, d, 1)[:, :, 0]
    eps = np.array([0.05, 0.15, 0.3, 0.45, 0.6, 0.8])
    c = MatrixClasses.of(d, k, s=s, p=p, m=m)[None]
    for norm, metric in (
        (operator_norm, OperatorMetric()),
        (sample_norm(inputs), SampleMetric(len(inputs))),
    ):
        log_sizes = np.log(packing_size(insertion_radii(members, norm), 2 * eps))
        forms = {
            "exact": exact_entropy(c, eps[:, None], metric),
            "balanced": balanced_entropy(c, eps[:, None], metric),
            "interpolated": interpolated_entropy(c, eps[:, None], metric),
            "volumetric": volumetric_entropy(c, eps[:, None]),
        }
        if p == 0:
            forms["pure rank"] = pure_rank_entropy(c, eps[:, None], np.floor(m))
        for name, entropy in forms.items():
            ratio = (log_sizes / entropy[:, 0]).max()
            record_property(f"{name}, {type(metric).__name__}", ratio)
            assert ratio <= 1


@statement("thm-covering")
@many
@given(classes, scales)
def test_volume_from_below(c, eps):
    """The class holds d x r balls of radius tau_r: log N(eps) >= max_r d r log(tau_r / eps)."""
    s, p, m, q = float(c.s), float(c.p), float(c.m), int(c.q)
    r = np.arange(1, q + 1 if p else int(min(q, np.floor(m))) + 1)
    tau = np.full(r.shape, s) if p == 0 else np.minimum(s, (m / r) ** (1 / p))
    below = max(0.0, (max(int(c.d), int(c.k)) * r * np.log(tau / eps)).max())
    for entropy in (exact_entropy(c, eps, METRIC), interpolated_entropy(c, eps, METRIC)):
        assert at_most(below, float(entropy))
    assert at_most(below, float(volumetric_entropy(c, eps)))


@statement("thm-covering")
def test_how_near_the_bounds_come_to_the_volume(record_property):
    """For the operator ball at small eps: the volumetric net is tight, the factor net twice it."""
    c = MatrixClasses.of(50, 50, s=1.0, p=1.0, m=50.0)
    below = 2500 * np.log(1 / 1e-60)
    tight = below / float(volumetric_entropy(c, 1e-60))
    factors = below / float(exact_entropy(c, 1e-60, METRIC))
    record_property("ratio of the volumetric net", tight)
    record_property("ratio of the exact entropy", factors)
    assert 0.99 < tight <= 1
    assert 0.49 < factors <= 0.5
