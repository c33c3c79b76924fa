"""Dudley's integral of the exact entropy: certified from both sides, against scipy's quad."""

import math

import numpy as np
import pytest

from spectral_lib.bounds import Chain, MatrixClasses, OperatorMetric, quadrature
from tests.bounds import slow
from tests.bounds.draws import FIELDS, draw, draw_metric

FRONT = 12.0


@pytest.mark.parametrize("seed", range(8))
def test_bracket_holds_the_integral(seed, record_property):
    """lower <= integral <= value on random networks, the value within 1e-4 of it."""
    rng = np.random.default_rng(30 + seed)
    classes = draw(rng, 4, largest=12, beta=(-4.0, 4.0))
    metric, mu = draw_metric(rng)
    loss_range = 10 ** rng.uniform(-1, 1)
    rows = [
        {name: getattr(classes, name)[i].item() for name in FIELDS} for i in range(classes.size)
    ]
    for row in rows:
        row["beta"] = math.exp(row.pop("log_beta"))
    reference = FRONT * slow.integral(rows, loss_range / 2, mu)
    found = quadrature(classes, metric, Chain(1.0, loss_range))
    excess = math.exp(found.log) / reference - 1
    record_property("excess", excess)
    assert -1e-7 < excess < 1e-4
    assert math.exp(found.log_lower) <= reference * (1 + 1e-7)
    assert found.relative_width < 0.02


def test_excess_is_of_second_order(record_property):
    """Halving the panels' width quarters the excess: the upper value is not a Riemann sum."""
    rng = np.random.default_rng(40)
    drawn = draw(rng, 20)
    # Without a tail there are no kinks, whose place in a panel would blur the order.
    classes = MatrixClasses.of(
        drawn.d, drawn.k, s=drawn.s, p=0.0, m=2.0, b=drawn.b, log_beta=drawn.log_beta
    )
    chain, metric = Chain(1.0, 1.0), OperatorMetric()
    finest = quadrature(classes, metric, chain, panels=4096).log
    coarse, fine = (quadrature(classes, metric, chain, panels=n).log - finest for n in (64, 128))
    record_property("ratio", coarse / fine)
    assert 3.0 < coarse / fine < 5.0
    assert fine > 0


def test_rank_only_integral_in_closed_form():
    """p = 0: sqrt(M(d+k)) int_0^1 sqrt(log(1 + A/u)) du, with one matrix and any A."""
    for log_beta in (-5.0, 0.0, 5.0, 50.0):
        cls = MatrixClasses.of(6, 5, s=1.0, p=[0.0], m=2.0, log_beta=log_beta)
        a = 8 * math.exp(log_beta) / 0.5
        u = np.geomspace(1e-14, 1, 400_001)
        f = np.sqrt(np.log1p(a / u))
        reference = FRONT * 0.5 * math.sqrt(22) * np.trapezoid(f, u)
        value = math.exp(quadrature(cls, OperatorMetric(), Chain(1.0, 1.0)).log)
        assert value == pytest.approx(reference, rel=1e-4)
        assert value >= reference * (1 - 1e-8)


def test_frobenius_integral_needs_the_full_rank_member():
    """p = 2: sqrt(Q_2) ~ 1/u is not integrable at 0; with full rank inside, the value is finite.

    It grows like the log of the scale at which full rank takes over, not like a power.
    """
    values = []
    for budget in (1e-2, 1e-6, 1e-10):
        cls = MatrixClasses.of(16, 16, s=1.0, p=[2.0], m=budget, log_beta=0.0)
        values.append(math.exp(quadrature(cls, OperatorMetric(), Chain(1.0, 1.0)).log))
    assert np.isfinite(values).all()
    assert values[0] > values[1] > values[2]
