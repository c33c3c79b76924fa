"""Theorem 4.1: closed forms of the entropy, their order, their limits and their identities."""

import math

import numpy as np
import pytest

from spectral_lib.bounds import (
    MatrixClasses,
    OperatorMetric,
    SampleMetric,
    balanced_entropy,
    exact_entropy,
    full_rank_entropy,
    interpolated_entropy,
    leading_entropy,
    log_balance,
    log_interpolated,
    optimal_split,
    profile_entropy,
    pure_rank_entropy,
    volumetric_entropy,
)
from tests.bounds import slow
from tests.bounds.draws import arguments, draw, draw_metric


def test_balance_constant():
    """c_p = min over tau of tau^-p + tau^2, 1 at p = 0 and 2 at p = 2, both exactly."""
    taus = np.geomspace(1e-3, 1e3, 400_001)
    for p in (0.01, 0.5, 1.0, 1.9):
        assert math.exp(log_balance(p)) == pytest.approx(np.min(taus**-p + taus**2), rel=1e-8)
    assert log_balance(0.0) == 0.0
    assert np.exp(log_balance(2.0)) == pytest.approx(2.0, rel=1e-15)


def test_balanced_form_is_the_minimum_over_the_split(record_property):
    """The closed form equals principal part + tail, minimised over tau on a grid."""
    rng = np.random.default_rng(1)
    classes = draw(rng, 40)
    worst = 0.0
    for i in range(classes.size):
        metric, mu = draw_metric(rng)
        cls = classes[i]
        eps = float(cls.s * cls.b) * 10 ** rng.uniform(-3, 1)
        expected = slow.balanced(*arguments(cls), eps, mu)
        value = float(balanced_entropy(cls, eps, metric))
        worst = max(worst, abs(value / expected - 1))
        tau = float(optimal_split(cls, eps, metric))
        lam, v = slow.prices(*(arguments(cls)[j] for j in (0, 1, 2, 5)), eps, mu)
        if cls.p > 0:
            at_tau = float(cls.m) * float(cls.d + cls.k) * lam * tau ** -float(cls.p)
            at_tau += v * float(cls.q) * tau**2
            assert value == pytest.approx(at_tau + math.log(2), rel=1e-10)
        else:
            assert tau == 0.0
    record_property("worst relative difference", worst)
    assert worst < 1e-7


def test_closed_form_dominates_the_exact_entropy(record_property):
    """Balanced >= exact, and exact <= full rank; both sides are approached."""
    rng = np.random.default_rng(2)
    classes = draw(rng, 4000)
    eps = classes.s * classes.b * 10 ** rng.uniform(-4, 2, classes.size)
    for metric in (OperatorMetric(), SampleMetric(1e5)):
        exact = exact_entropy(classes, eps, metric)
        full = full_rank_entropy(classes, eps)
        moving = exact > 0
        ratio = (balanced_entropy(classes, eps, metric) / np.where(moving, exact, 1.0))[moving]
        record_property(f"smallest ratio, {type(metric).__name__}", ratio.min())
        assert ratio.min() >= 1 - 1e-12
        assert ratio.min() < 1.05
        assert ratio.max() > 1e3
        assert (exact <= full * (1 + 1e-12)).all()


def test_geometric_mean_identity():
    """balanced / c_p = Q_p^(2/(p+2)) full^(p/(p+2)): it never beats min(full rank, Q_p)."""
    rng = np.random.default_rng(3)
    classes = draw(rng, 500)
    eps = classes.s * classes.b * 10 ** rng.uniform(-4, 2, classes.size)
    metric = SampleMetric(1e4)
    offset = np.where(classes.p > 0, math.log(2), 0.0)
    closed = balanced_entropy(classes, eps, metric) - offset
    x = classes.p / (classes.p + 2)
    log_q = log_interpolated(classes, eps, metric)
    log_full = np.log(full_rank_entropy(classes, eps))
    ranked = ~classes.trivial
    log_mean = (1 - x) * log_q + x * log_full
    np.testing.assert_allclose(
        np.log(closed[ranked]) - log_balance(classes.p[ranked]), log_mean[ranked], atol=1e-9
    )
    smaller = np.minimum(log_q, log_full)
    assert (np.log(closed[ranked]) >= smaller[ranked] - 1e-9).all()


def test_interpolated_entropy_at_the_ends():
    """Q_0 = M (d+k) Lam and Q_2 = M V: rank and pure Frobenius bound, with nothing left over."""
    eps, metric = 0.1, OperatorMetric()
    at_0 = MatrixClasses.of(6, 5, s=2.0, p=0.0, m=3.0)
    lam, v = slow.prices(6, 5, 2.0, 1.0, eps, None)
    assert interpolated_entropy(at_0, eps, metric) == pytest.approx(3 * 11 * lam, rel=1e-14)
    at_2 = MatrixClasses.of(6, 5, s=2.0, p=2.0, m=3.0)
    expected = 3 * v + math.log(2) + math.log(6)
    assert interpolated_entropy(at_2, eps, metric) == pytest.approx(expected, rel=1e-14)


def test_exact_dimensions_are_sharper():
    """dk log(1 + 2sB/eps) and r(d+k) log(1 + 4sB/eps) lie below their factor-net siblings."""
    rng = np.random.default_rng(4)
    classes = draw(rng, 500)
    eps = classes.s * classes.b * 10 ** rng.uniform(-4, 2, classes.size)
    assert (volumetric_entropy(classes, eps) < full_rank_entropy(classes, eps)).all()
    rank = np.minimum(3, classes.q)
    low_rank = MatrixClasses.of(classes.d, classes.k, s=classes.s, p=0.0, m=rank, b=classes.b)
    assert (
        pure_rank_entropy(classes, eps, rank) < exact_entropy(low_rank, eps, OperatorMetric())
    ).all()


def test_leading_form_is_the_papers():
    """M^(2/(p+2)) (B/eps)^(2p/(p+2)) N^(2(p+1)/(p+2)), written out."""
    cls = MatrixClasses.of(7, 7, s=2.0, p=1.5, m=3.0, b=2.0)
    expected = 3 ** (2 / 3.5) * 20 ** (3 / 3.5) * 7 ** (5 / 3.5)
    assert leading_entropy(cls, 0.1) == pytest.approx(expected, rel=1e-13)
    wide = leading_entropy(cls, 0.1, width=14)
    assert wide / leading_entropy(cls, 0.1) == pytest.approx(2 ** (5 / 3.5), rel=1e-13)


def test_profile_is_below_every_interpolated_form(record_property):
    """sum min(1, (s_j/tau)^2) <= tau^-p sum s_j^p: the profile is at most log 2 + Q_p, every p."""
    rng = np.random.default_rng(5)
    closest = np.inf
    for _ in range(100):
        d, k = rng.integers(1, 30, 2)
        profile = np.sort(10 ** rng.uniform(-3, 1, min(d, k)))[::-1]
        eps = profile[0] * 10 ** rng.uniform(-3, 1)
        metric, _ = draw_metric(rng)
        value = float(profile_entropy(profile, eps, metric, d=d, k=k))
        p = np.linspace(0, 2, 41)
        budgets = np.array([(profile**x).sum() for x in p])
        classes = MatrixClasses.of(d, k, s=profile[0], p=p, m=budgets)
        bound = math.log(2) + np.exp(log_interpolated(classes, eps, metric))
        assert (value <= bound * (1 + 1e-12)).all()
        closest = min(closest, bound.min() / value)
    record_property("ratio", closest)
    assert closest < 1.05


def test_profile_by_its_sum():
    """The profile's sum written as a loop; a profile of zeros needs one point."""
    d, k, eps, mu = 5, 4, 0.3, 100.0
    profile = [3.0, 1.0, 0.2, 0.0]
    lam, v = slow.prices(d, k, 3.0, 1.0, eps, mu)
    tau2 = (d + k) * lam / v
    expected = math.log(2) + (d + k) * lam * sum(min(1, x**2 / tau2) for x in profile)
    value = profile_entropy(profile, [eps, eps], SampleMetric(mu), d=d, k=k)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    assert profile_entropy([0.0] * 4, eps, SampleMetric(mu), d=d, k=k) == 0.0
