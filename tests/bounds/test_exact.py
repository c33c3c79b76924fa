"""The exact entropy: the library's bisection against a plain minimum over all r."""

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
    network_entropy,
)
from tests.bounds import slow
from tests.bounds.draws import arguments, draw, draw_metric


def test_bisection_finds_the_minimum_over_r():
    """min over r in 0..q, 3000 draws, to 1e-12 relative."""
    rng = np.random.default_rng(10)
    for _ in range(30):
        metric, mu = draw_metric(rng)
        classes = draw(rng, 100)
        eps = classes.s * classes.b * 10 ** rng.uniform(-4, 2.5, classes.size)
        expected = [slow.exact(*arguments(classes[i]), eps[i], mu) for i in range(100)]
        np.testing.assert_allclose(exact_entropy(classes, eps, metric), expected, rtol=1e-12)


def test_ranks_between_the_ends_are_reached():
    """Some minima lie at an r strictly between 0 and q: the bisection has something to find."""
    d = k = 30
    cls = MatrixClasses.of(d, k, s=1.0, p=0.5, m=4.0)
    eps = np.geomspace(1e-3, 10, 40)
    values = exact_entropy(cls[None], eps[:, None], OperatorMetric())[:, 0]
    inner = 0
    for e, value in zip(eps, values, strict=True):
        lam, v = slow.prices(d, k, 1.0, 1.0, e, None)
        ends = min(math.log(2) + v * slow.tail(0, 30, 1.0, 0.5, 4.0), 30 * 60 * lam)
        inner += value < ends * (1 - 1e-6)
    assert inner > 5


def test_entropy_falls_as_the_scale_grows():
    """Monotone in eps, and eps^2 H grows: the facts on which the certified quadrature rests."""
    rng = np.random.default_rng(11)
    classes = draw(rng, 300)
    eps = (classes.s * classes.b) * np.geomspace(1e-6, 1e3, 200)[:, None]
    for metric in (OperatorMetric(), SampleMetric(50)):
        values = exact_entropy(classes, eps, metric)
        assert (np.diff(values, axis=0) <= 1e-12 * values[1:]).all()
        squares = values * eps**2
        assert (np.diff(squares, axis=0) >= -1e-12 * squares[1:]).all()


def test_rank_at_p_zero_and_frobenius_at_p_two():
    """p = 0: floor(M) (d+k) Lam; p = 2: min over r of r (d+k) Lam + log 2 + V min(M, ...)."""
    at_0 = MatrixClasses.of(9, 8, s=2.0, p=0.0, m=[0.9, 3.0, 3.9, 100.0])
    lam, v = slow.prices(9, 8, 2.0, 1.0, 0.2, None)
    expected = np.array([0, 3, 3, 8]) * 17 * lam
    np.testing.assert_allclose(exact_entropy(at_0, 0.2, OperatorMetric()), expected, rtol=1e-14)
    at_2 = MatrixClasses.of(9, 8, s=2.0, p=2.0, m=1e-6)
    assert exact_entropy(at_2, 0.2, OperatorMetric()) == pytest.approx(
        math.log(2) + v * 1e-6, rel=1e-14
    )


def test_the_zero_matrix_needs_one_point():
    """M = 0 or s = 0: entropy 0 in every form; a rank budget below 1: exact entropy 0."""
    zero = MatrixClasses.of(5, 4, s=[1, 0, 0, 1], p=[1, 1, 0, 0], m=[0, 1, 2, 0])
    metric = SampleMetric(10)
    for form in (exact_entropy, balanced_entropy, interpolated_entropy):
        assert (form(zero, 0.1, metric) == 0).all()
    assert exact_entropy(MatrixClasses.of(5, 4, s=1.0, p=0.0, m=0.5), 0.1, metric) == 0


def test_limit_p_to_zero():
    """As p -> 0+ leading and balanced forms are continuous; the exact entropy gains log 2 at most.

    At eps small the limit is the rank's entropy plus log 2 (or the full rank's, without it).
    """
    p = np.array([1e-3, 1e-5, 1e-7, 1e-9])
    values = np.array([3.0, 1.0, 0.3])
    rank = len(values)
    at_p = MatrixClasses.of(7, 6, s=3.0, p=p, m=[(values**x).sum() for x in p])
    at_0 = MatrixClasses.of(7, 6, s=3.0, p=0.0, m=rank)
    eps, metric = 1e-2, OperatorMetric()
    limit = leading_entropy(at_0, eps)
    assert leading_entropy(at_p, eps)[-1] == pytest.approx(limit, rel=1e-7)
    limit = balanced_entropy(at_0, eps, metric)
    assert balanced_entropy(at_p, eps, metric)[-1] - math.log(2) == pytest.approx(limit, rel=1e-6)
    jump = exact_entropy(at_p, eps, metric) - exact_entropy(at_0, eps, metric)
    assert jump[-1] == pytest.approx(math.log(2), rel=1e-9)


def test_coarse_scales_jump_downwards_at_p_zero():
    """At eps beyond s B the tail alone is cheaper than the rank: the limit lies below p = 0."""
    at_p = MatrixClasses.of(60, 6, s=1.0, p=1e-9, m=3.0)
    at_0 = MatrixClasses.of(60, 6, s=1.0, p=0.0, m=3.0)
    metric = SampleMetric(1)
    assert exact_entropy(at_p, 2.0, metric) < 0.9 * exact_entropy(at_0, 2.0, metric)


def test_network_entropy_adds_and_survives_any_scale():
    """sum_i H_i(eps/(J beta_i)); log beta = 1e4 leaves full rank, finite; -inf adds nothing."""
    rng = np.random.default_rng(12)
    classes = draw(rng, 6)
    metric = SampleMetric(1e3)
    eps = np.array([0.01, 1.0])
    shares = eps[:, None] / (6 * np.exp(classes.log_beta))
    expected = exact_entropy(classes, shares, metric).sum(axis=1)
    np.testing.assert_allclose(network_entropy(classes, eps, metric), expected, rtol=1e-12)

    for p in (0.0, 1.0, 2.0):
        huge = MatrixClasses.of(20, 30, s=2.0, p=p, m=4.0, log_beta=[1e4, -1e4, -np.inf])
        value = network_entropy(huge, eps, metric)
        assert np.isfinite(value).all()
        rank = 4 if p == 0 else 20
        tail_only = math.log(2) if p > 0 else 0.0
        lam = 1e4 + math.log(3) + math.log(16) - np.log(eps)
        np.testing.assert_allclose(value, rank * 50 * lam, atol=tail_only + 1e-6)


def test_scalar_and_batch_shapes():
    cls = MatrixClasses.of(5, 4, s=1.0, p=1.0, m=2.0)
    metric = OperatorMetric()
    assert exact_entropy(cls, 0.1, metric).shape == ()
    assert exact_entropy(cls, [0.1, 0.2], metric).shape == (2,)
    batch = MatrixClasses.of([5, 6, 7], 4, s=1.0, p=1.0, m=2.0)
    assert exact_entropy(batch, 0.1, metric).shape == (3,)
    assert exact_entropy(batch, [[0.1], [0.2]], metric).shape == (2, 3)
    assert full_rank_entropy(batch, 0.1).shape == (3,)
