"""Explicit forms: numbers of spectral_lib.bounds against SymPy's log-derivatives and rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from spectral_lib.errors import DomainError
from spectral_lib.ledger import symbols as y
from spectral_lib.regimes import (
    FORMS,
    Bound,
    Regime,
    depth_through_logarithms,
    explicit_exponent,
    explicit_form,
    local_slope,
    log_log_fit,
    rate_fit,
    slope_at,
)
from spectral_lib.regimes import lam as lam_symbol
from spectral_lib.regimes.evaluation import SYMBOLS
from spectral_lib.regimes.slopes import log_derivative, log_explicit

POINT = {
    Regime.RANK: {"L": 100, "N": 256, "r": 8, "s": 1.3},
    Regime.FROBENIUS: {"L": 100, "N": 256, "F": 3.0},
    Regime.SPECTRAL: {"L": 100, "N": 256, "s": 1.3},
    Regime.POWER_LAW: {"L": 100, "N": 256, "s": 1.3, "a": 0.8, "p": 1.1},
}
LIMITS = {
    Regime.RANK: {"L": (1, 0.5), "N": (0.5, 0.5), "s": (0, 0)},
    Regime.FROBENIUS: {"L": (1.5, 1), "N": (0.75, 0.75), "F": (0.5, 0.5)},
    Regime.SPECTRAL: {"L": (1, 0.5), "N": (1, 1), "s": (0, 0)},
}
CASES = [(regime, name) for regime, at in POINT.items() for name in at if name in "LNsF"]


@pytest.mark.parametrize("bound", FORMS)
@pytest.mark.parametrize(("regime", "parameter"), CASES)
def test_local_slope_is_the_log_derivative(regime: Regime, parameter: str, bound: Bound) -> None:
    at = POINT[regime]
    numeric = local_slope(bound, regime, parameter, **at)
    assert abs(numeric - slope_at(bound, regime, parameter, **at)) < 0.02
    # The formula with its exponent off by 0.1 is not the one that the numbers follow.
    x = SYMBOLS[parameter]
    wrong = x * sp.diff(sp.log(explicit_form(bound, regime) * x ** sp.Rational(1, 10)), x)
    value = float(wrong.subs({SYMBOLS[k]: v for k, v in at.items()}).evalf())
    assert abs(numeric - value) > 0.04


@pytest.mark.parametrize("bound", FORMS)
@pytest.mark.parametrize("regime", LIMITS)
def test_the_limit_of_the_log_derivative_is_the_exponent(regime: Regime, bound: Bound) -> None:
    for name, limits in LIMITS[regime].items():
        found = explicit_exponent(bound, regime, SYMBOLS[name])
        assert found == sp.nsimplify(limits[FORMS.index(bound)])


@pytest.mark.parametrize("bound", FORMS)
def test_numbers_agree_with_the_form_itself(bound: Bound) -> None:
    for regime, at in POINT.items():
        form = explicit_form(bound, regime).subs({SYMBOLS[k]: v for k, v in at.items()})
        assert log_explicit(bound, regime, **at) == pytest.approx(math.log(form.evalf()), rel=1e-12)


def test_value_at_p_zero_is_the_limit() -> None:
    for bound in FORMS:
        at_zero = explicit_form(bound, Regime.SPECTRAL)
        near = explicit_form(bound, Regime.POWER_LAW).subs(
            {y.p: 1e-9, sp.Symbol("a", positive=True): 1}
        )
        at = {y.L: 12, y.N: 64, y.s: 1.0}
        # The power law still has its tails' log 2.
        assert float(near.subs(at)) == pytest.approx(float(at_zero.subs(at)), rel=2e-3)


def test_a_plain_fit_does_not_reach_the_exponent() -> None:
    depths = (10, 30, 100, 300, 1000)
    at = {"N": 256, "r": 8, "s": 1.0}
    logs = [log_explicit(Bound.ROOT_SUM_SQUARE, Regime.RANK, L=depth, **at) for depth in depths]
    slope = log_log_fit(depths, logs).slope
    assert 0.54 < slope < 0.58


@pytest.mark.parametrize("bound", FORMS)
@pytest.mark.parametrize(
    ("regime", "p", "at"),
    [
        (Regime.FROBENIUS, 2.0, {"N": 256, "F": 2.0}),
        (Regime.POWER_LAW, 1.0, {"N": 256, "s": 1.0, "a": 0.8}),
    ],
)
@pytest.mark.parametrize("lam", [1.1, 1.3])
def test_rate_for_growing_sensitivities(
    bound: Bound, regime: Regime, p: float, at: dict[str, float], lam: float
) -> None:
    extra = {"p": p} if regime is Regime.POWER_LAW else {}
    found = rate_fit(bound, regime, (300, 400, 500, 600), lam=lam, **at, **extra) / math.log(lam)
    assert abs(found - p / (p + 2)) < 0.02
    assert abs(found - (p / (p + 2) + 0.1)) > 0.04


def test_no_rate_for_falling_sensitivities() -> None:
    found = rate_fit(Bound.SUM, Regime.FROBENIUS, (300, 400, 500), lam=0.8, N=64, F=2.0)
    assert abs(found) < 0.005


@pytest.mark.parametrize(("bound", "exponent"), [(Bound.SUM, 1.5), (Bound.ROOT_SUM_SQUARE, 1.0)])
def test_at_p_zero_the_logarithms_raise_the_depth_exponent(bound: Bound, exponent: float) -> None:
    derived, factor = depth_through_logarithms(bound)
    assert derived == sp.nsimplify(exponent)
    depths, lam = (4000, 8000, 16000), 1.3
    at = {"N": 256, "r": 8, "s": 1.0}
    logs = [log_explicit(bound, Regime.RANK, lam=lam, L=depth, **at) for depth in depths]
    assert abs(log_log_fit(depths, logs).slope - exponent) < 0.02
    # The factor too: 12 D (r 2N)^(1/2) times the integral, D = 1/2.
    front = 6 * math.sqrt(at["r"] * 2 * at["N"]) * float(factor.subs(lam_symbol, lam))
    ratio = math.exp(logs[-1] - exponent * math.log(depths[-1])) / front
    assert ratio == pytest.approx(1.0, abs=0.01)


def test_only_the_ledgers_forms_are_explicit() -> None:
    for call in (explicit_form, log_derivative):
        with pytest.raises(DomainError, match="sum, rss"):
            call(Bound.EDELMAN, Regime.RANK, *([y.L] if call is log_derivative else []))
    with pytest.raises(DomainError, match="sum, rss"):
        depth_through_logarithms(Bound.EDELMAN)
    with pytest.raises(DomainError, match="cases"):
        explicit_exponent(Bound.SUM, Regime.POWER_LAW, y.L)


def test_log_explicit_is_finite_at_large_scales() -> None:
    value = log_explicit(Bound.SUM, Regime.FROBENIUS, lam=10.0, L=4000, N=64, F=1.0)
    assert np.isfinite(value)
    assert value > 4000
