"""Theorem 3.1's closed forms: upper bounds of the quadrature of the exact entropy."""

import math

import numpy as np
import pytest

from spectral_lib.bounds import (
    Chain,
    MatrixClasses,
    OperatorMetric,
    SampleMetric,
    quadrature,
    root_sum_square_form,
    sum_form,
)
from tests.bounds.draws import draw, draw_metric

FORMS = {"sum": sum_form, "root-sum-square": root_sum_square_form}


def test_closed_forms_dominate_the_quadrature(record_property):
    """closed / quadrature >= 1 on 1000 draws of 1 to 12 matrices, minimised or not.

    The quadrature is itself an upper value; its own excess (measured elsewhere) is below 1e-3.
    """
    rng = np.random.default_rng(20)
    logs = np.empty((1000, 2, 2))
    for i in range(1000):
        classes = draw(rng, rng.integers(1, 13), beta=(-8.0, 8.0))
        metric, _ = draw_metric(rng)
        chain = Chain(100.0, 10 ** rng.uniform(-1, 1))
        exact = quadrature(classes, metric, chain, panels=64).log
        logs[i] = [
            [form(classes, metric, chain, minimum=minimum).log - exact for minimum in (True, False)]
            for form in FORMS.values()
        ]
    for name, (least, bare) in zip(FORMS, np.moveaxis(logs, 0, -1), strict=True):
        record_property(f"{name}: smallest ratio", np.exp(least.min()))
        record_property(f"{name}: median ratio", np.exp(np.median(least)))
        record_property(f"{name}: largest ratio", np.exp(least.max()))
        record_property(f"{name}: largest ratio, not minimised", np.exp(bare.max()))
        assert min(least.min(), bare.min()) >= 0
        assert (bare >= least - 1e-12).all()
        # Bounds worth having: the minimised ones are mostly within a factor, and at times tight.
        assert np.exp(least.min()) < 1.1
        assert np.exp(np.median(least)) < 4


@pytest.mark.parametrize("name", FORMS)
def test_full_rank_minimum_matters(name):
    """At large sensitivities the bare closed form exceeds the minimum by orders of magnitude."""
    classes = MatrixClasses.of(64, 64, s=1.0, p=2.0, m=4.0, log_beta=np.full(4, 30.0))
    chain, metric = Chain(1000.0, 1.0), OperatorMetric()
    bare = FORMS[name](classes, metric, chain, minimum=False).log
    assert bare - FORMS[name](classes, metric, chain).log > 10


def test_sum_form_written_out():
    """(12 D/sqrt n) {sqrt(# log 2) + sum (p+2)/2 sqrt(c_p) [...]^(1/(p+2)) [...]^(p/(p+2))}."""
    n, b, mu, count = 500.0, 3.0, 40.0, 7
    rows = [(8, 5, 2.0, 0.0, 3.0, 1.5, 0.7), (5, 8, 0.5, 1.0, 2.0, 1.0, 2.0)]
    rows.append((6, 6, 1.0, 2.0, 4.0, 2.0, 0.1))
    diameter = b / 2
    total = math.sqrt(2 * math.log(2))
    squares = 2 * math.log(2) / 1.5
    for d, k, s, p, m, inputs, beta in rows:
        scale = inputs * count * beta / diameter
        lam = math.log1p(8 * s * scale)
        width = (math.sqrt(k) + math.sqrt(2 * math.log(mu))) ** 2
        c_p = {0.0: 1.0, 1.0: 0.5 ** (-1 / 3) + 0.5 ** (2 / 3), 2.0: 2.0}[p]
        stretch = (p + 2) / 2
        tail = 32 * min(d, k) * width * scale**2
        total += (
            stretch
            * math.sqrt(c_p)
            * (m * (d + k) * (lam + stretch)) ** (1 / (p + 2))
            * math.sqrt(tail) ** (p / (p + 2))
        )
        z = 1 / (1 + 0.5 - 2 * p / (p + 2))
        squares += z * c_p * (m * (d + k) * (lam + z)) ** (2 / (p + 2)) * tail ** (p / (p + 2))
    d, k, s, p, m, inputs, beta = zip(*rows, strict=True)
    classes = MatrixClasses.of(d, k, s=s, p=p, m=m, b=inputs, log_beta=np.log(beta))
    chain = Chain(n, b, count=count)
    front = 12 * diameter / math.sqrt(n)
    found = sum_form(classes, SampleMetric(mu), chain, minimum=False).log
    assert math.exp(found) == pytest.approx(front * total, rel=1e-12)
    found = root_sum_square_form(classes, SampleMetric(mu), chain, minimum=False).log
    assert math.exp(found) == pytest.approx(front * math.sqrt(squares / 0.5), rel=1e-12)


@pytest.mark.parametrize("form", [sum_form, root_sum_square_form, quadrature])
def test_parts_sum_to_the_whole_and_scales_of_1e4_stay_finite(form):
    """Contributions add up; log beta = +-1e4 gives a finite log; beta = 0 contributes nothing."""
    rng = np.random.default_rng(21)
    classes = draw(rng, 10)
    log_beta = np.array([1e4, -1e4, -np.inf, *classes.log_beta[3:]])
    classes = MatrixClasses.of(
        classes.d,
        classes.k,
        s=classes.s,
        p=np.append(classes.p[:9], 2.0),
        m=classes.m,
        b=classes.b,
        log_beta=log_beta,
    )
    found = form(classes, SampleMetric(1e6), Chain(1e4, 1.0))
    assert np.isfinite(found.log)
    assert np.logaddexp.reduce(found.log_parts) == pytest.approx(found.log, abs=1e-10)
    assert found.log_parts[2] == -np.inf


@pytest.mark.parametrize("form", [sum_form, root_sum_square_form, quadrature])
def test_nothing_moves_the_loss(form):
    """All beta = 0, or all matrices zero: complexity 0, log -inf, no NaN."""
    metric, chain = OperatorMetric(), Chain(10.0, 1.0)
    for change in ({"log_beta": -np.inf}, {"s": 0.0}, {"m": 0.0}):
        fields = {"s": 1.0, "p": [0.0, 1.0, 2.0], "m": 2.0, "log_beta": 0.0} | change
        found = form(MatrixClasses.of(4, 4, **fields), metric, chain)
        assert found.log == -np.inf
        assert (found.log_parts == -np.inf).all()


def test_samples_enter_as_their_root():
    """R_n falls as n^(-1/2) in the operator metric: no log n for any p <= 2."""
    rng = np.random.default_rng(22)
    classes = draw(rng, 5)
    for form in (sum_form, root_sum_square_form, quadrature):
        few, many = (form(classes, OperatorMetric(), Chain(n, 1.0)).log for n in (1e2, 1e8))
        assert few - many == pytest.approx(math.log(1e3), abs=1e-12)
