"""The allocation lemma, and the closed forms of the entropy integral."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib.bounds.allocation import allocate
from spectral_lib.bounds.dudley import Chain, root_sum_square_form, sum_form
from spectral_lib.bounds.matrix_class import MatrixClasses, OperatorMetric, SampleMetric
from spectral_lib.bounds.quadrature import quadrature
from spectral_lib.constants import ALLOCATION_INNER, ALLOCATION_OUTER

from .tightness import at_most, perturbed, statement


@statement("lem-allocation")
@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.integers(1, 6), st.floats(0.2, 3.0), st.integers(0, 2**32 - 1))
def test_no_split_beats_the_best_one(count, q, seed):
    """Hoelder: the stated value is attained at the stated split and below every other."""
    rng = np.random.default_rng(seed)
    log_a, log_beta = rng.normal(0, 3, (2, count))
    best = allocate(log_a, log_beta, q, log_eps=-1.0)
    value = np.exp(best.log_value)
    assert np.exp(log_beta + best.log_eps).sum() == pytest.approx(np.exp(-1.0), rel=1e-9)
    assert np.exp(log_a - 2 * q * best.log_eps).sum() == pytest.approx(value, rel=1e-9)
    shares = rng.dirichlet(np.ones(count), 50)
    other = np.exp(log_a) * (shares * np.exp(-1.0) / np.exp(log_beta)) ** (-2 * q)
    assert at_most(value, other.sum(axis=1).min())


@statement("lem-allocation")
@perturbed(0.99)
def test_the_powers_of_the_norm_based_bounds(scale, holds):
    """At q = 1 the least sum of (R_i/eps_i)^2 is (sum (R_i beta_i)^(2/3))^3 / eps^2."""
    radii, beta, eps = np.array([1.0, 4.0, 0.3, 9.0]), np.array([2.0, 0.5, 7.0, 1.0]), 0.1
    root = ((radii * beta) ** ALLOCATION_INNER).sum() ** ALLOCATION_OUTER / eps
    shares = radii**ALLOCATION_INNER * beta ** (ALLOCATION_INNER - 1)
    attained = np.square(radii / (eps * shares / (beta * shares).sum())).sum()
    assert attained == pytest.approx(
        np.exp(allocate(2 * np.log(radii), np.log(beta), log_eps=np.log(eps)).log_value)
    )
    assert at_most(attained, scale * root**2) is holds


def random_network(rng):
    """A batch of classes with mixed shapes, exponents, budgets and sensitivities."""
    count = rng.integers(1, 7)
    d, k = rng.integers(1, 400, (2, count))
    p = rng.choice([0.0, 2.0, *rng.uniform(0, 2, 4)], count)
    s = np.exp(rng.normal(0, 2, count))
    m = np.where(p == 0, rng.integers(1, 50, count), np.minimum(d, k) * s**p * rng.random(count))
    classes = MatrixClasses.of(
        d, k, s=s, p=p, m=m, b=np.exp(rng.normal(0, 1, count)),
        log_beta=rng.normal(0, rng.choice([1.0, 10.0, 300.0]), count),
    )  # fmt: skip
    metric = rng.choice([OperatorMetric(), SampleMetric(float(rng.integers(1, 10**9)))])
    return classes, metric, Chain(float(rng.integers(1, 10**6)), float(np.exp(rng.normal())))


@statement("thm-root-sum-square")
def test_both_closed_forms_dominate_the_quadrature(record_property):
    """On 1000 draws; where all members of the minimum are allowed, and where they are not."""
    rng = np.random.default_rng(17)
    ratios = []
    for _ in range(1000):
        classes, metric, chain = random_network(rng)
        integral = quadrature(classes, metric, chain, panels=48).log_lower
        ratios.append(
            [
                integral - form(classes, metric, chain, minimum=minimum).log
                for form in (root_sum_square_form, sum_form)
                for minimum in (True, False)
            ]
        )
    worst = np.exp(np.max(ratios, axis=0))
    for name, ratio in zip(("rss", "rss plain", "sum", "sum plain"), worst, strict=True):
        record_property(name, ratio)
    assert (worst <= 1 + 1e-9).all()


@statement("thm-root-sum-square")
@perturbed(0.99)
@pytest.mark.parametrize("form", [root_sum_square_form, sum_form])
def test_closed_forms_are_near_the_quadrature(form, scale, holds, record_property):
    """One matrix of given rank at a large sensitivity: no step of the proof loses anything."""
    classes = MatrixClasses.of([40], [30], s=1.0, p=0.0, m=5.0, log_beta=80.0)
    chain = Chain(1000.0, 1.0)
    integral = quadrature(classes, OperatorMetric(), chain, panels=2000)
    closed = form(classes, OperatorMetric(), chain).log
    record_property("ratio", np.exp(integral.log_lower - closed))
    assert bool(integral.log_lower <= np.log(scale) + closed) is holds


@statement("thm-root-sum-square")
def test_equal_exponents_make_cauchy_schwarz_an_equality():
    """With weight u^-c and one exponent, int u^-c and int u^(c - 2c) are the same integral."""
    c, u = 0.3, (np.arange(10**6) + 0.5) / 10**6
    direct = np.mean(u**-c)
    weighted = np.sqrt(np.mean(u**-c) * np.mean(u**c * u ** (-2 * c)))
    assert direct == pytest.approx(weighted, rel=1e-12)
    assert direct == pytest.approx(1 / (1 - c), rel=1e-3)


@statement("thm-root-sum-square")
def test_the_root_sum_square_form_gains_a_root_of_the_count(record_property):
    """For J equal matrices the sum form grows as J, the root-sum-square form as sqrt J."""
    chain = Chain(1000.0, 1.0, count=1)
    logs = {
        form: [
            form(MatrixClasses.of([64] * j, 64, s=1.0, p=0.0, m=8.0), OperatorMetric(), chain).log
            for j in (1, 100)
        ]
        for form in (sum_form, root_sum_square_form)
    }
    growth = {form: np.exp(b - a) for form, (a, b) in logs.items()}
    record_property("ratio", growth[root_sum_square_form] / growth[sum_form])
    assert growth[sum_form] == pytest.approx(100, rel=1e-9)
    assert growth[root_sum_square_form] == pytest.approx(10, rel=1e-9)
