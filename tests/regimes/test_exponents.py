"""Exponents: SymPy's limits, confirmed on measured matrices; a formula off by 0.1 is caught."""

from __future__ import annotations

import pytest
import sympy as sp

from spectral_lib.errors import DomainError
from spectral_lib.ledger import symbols as y
from spectral_lib.regimes import (
    CASES,
    Bound,
    Case,
    Regime,
    a,
    case_form,
    depth_rate,
    equal_form,
    exponent,
    exponent_table,
    falling_exponent,
    lam,
    leading,
    leading_slope,
    log_leading,
    log_log_fit,
    measured_fit,
)
from spectral_lib.regimes.evaluation import SYMBOLS
from spectral_lib.regimes.exponents import case_parameters, limit_exponent

HALF = sp.Rational(1, 2)
TOLERANCE = 0.02
SINGLE = [bound for bound in Bound if bound is not Bound.MINIMUM]
NORM_BASED = (Bound.EDELMAN, Bound.TRAUGER_TEWARI)
BY_NAME = {case.name: case for case in CASES}

#: By hand: exponents of L, N and of the case's own parameters, in the order of the bounds.
BY_HAND = {
    "rank": (
        "L N r s",
        "1 1/2 1/2 0|1/2 1/2 1/2 0|3/2 1/2 1/2 1|3/2 1 1/2 1|1/2 1 0 0|1/2 1/2 1/2 0",
    ),
    "frobenius": ("L N F", "3/2 3/4 1/2|1 3/4 1/2|3/2 1/2 1|3/2 1 1|1/2 1 0|3/2 1/2 1"),
    "spectral": ("L N s", "1 1 0|1/2 1 0|3/2 1 1|3/2 3/2 1|1/2 1 0|1/2 1 0"),
    "slow power law": (
        "L N s",
        "3/2 1-a/2 1/2|1 1-a/2 1/2|3/2 1-a 1|3/2 3/2-a 1|1/2 1 0|3/2 1-a 1",
    ),
    "fast power law": (
        "L N s",
        "1+1/(1+2*a) (1+a)/(1+2*a) 1/(1+2*a)|1/2+1/(1+2*a) (1+a)/(1+2*a) 1/(1+2*a)"
        "|3/2 1/2 1|3/2 1 1|1/2 1 0|(1+1/a)/2 1/2 1/(2*a)",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_limits_of_log_derivatives_are_the_exponents_found_by_hand(name: str) -> None:
    names, rows = BY_HAND[name]
    for bound, row in zip(SINGLE, rows.split("|"), strict=True):
        for parameter, value in zip(names.split(), row.split(), strict=True):
            expected = sp.sympify(value, locals={"a": a})
            found = exponent(bound, BY_NAME[name], SYMBOLS[parameter])
            assert sp.simplify(found - expected) == 0, (bound, parameter, found)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_perturbed_exponent_moves_the_limit(name: str) -> None:
    case, off = BY_NAME[name], sp.Rational(1, 10)
    for bound in SINGLE:
        for parameter in case_parameters(case):
            wrong = limit_exponent(case_form(bound, case) * parameter**off, case, parameter)
            assert sp.simplify(wrong - exponent(bound, case, parameter) - off) == 0


#: Values for the fits: sizes at which a power law's sums are near their limits.
POINT = {
    "rank": ({"L": 12, "N": 64, "r": 8, "s": 1.3}, None),
    "frobenius": ({"L": 12, "N": 64, "F": 0.5}, None),
    "spectral": ({"L": 12, "N": 64, "s": 1.3}, None),
    "slow power law": ({"L": 12, "N": 128, "s": 1.3, "a": 0.1}, 2.0),
    "fast power law": ({"L": 12, "N": 128, "s": 1.3, "a": 1.5}, 1 / 1.5),
}
VALUES = {
    "L": (2, 8, 64),
    "N": (64, 128, 256),
    "r": (1, 4, 16),
    "s": (0.5, 1.0, 2.0),
    "F": (0.1, 0.2, 0.4),
}


def fitted(bound: Bound, name: str, parameter: str, form: sp.Expr | None = None) -> float:
    at, p = POINT[name]
    rest = {key: value for key, value in at.items() if key != parameter}
    regime = BY_NAME[name].regime
    return measured_fit(bound, regime, parameter, VALUES[parameter], form=form, p=p, **rest).slope


def expected(bound: Bound, name: str, parameter: str) -> float:
    at, p = POINT[name]
    if name == "fast power law" and parameter == "N" and bound not in NORM_BASED:
        # At p = 1/a a sum of 1/j brings a logarithm: the slope at the middle of the fit.
        return leading_slope(bound, Regime.POWER_LAW, "N", **{**at, "p": p, "N": 128})
    return float(exponent(bound, BY_NAME[name], SYMBOLS[parameter]).subs(a, at.get("a", 1)))


@pytest.mark.parametrize("bound", SINGLE)
@pytest.mark.parametrize("name", BY_NAME)
def test_measured_matrices_show_the_exponents(name: str, bound: Bound) -> None:
    for parameter in VALUES.keys() & POINT[name][0].keys():
        slope = fitted(bound, name, parameter)
        assert abs(slope - expected(bound, name, parameter)) < TOLERANCE, parameter


@pytest.mark.parametrize("bound", SINGLE)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_formula_with_a_perturbed_exponent_misses_the_table(name: str, bound: Bound) -> None:
    """Each power in turn, by 0.1: of L, N, and of the quantity that r, F or s enters through."""
    form = equal_form(bound)[0].subs(y.alpha, 1)
    tried = {"L": y.L, "N": y.N}
    own = next(x for x in ("r", "F", "s") if x in POINT[name][0])
    if bound in NORM_BASED:
        tried[own] = y.R
    elif bound is not Bound.FULL_RANK and name != "spectral":
        tried[own] = y.S
    for parameter, symbol in tried.items():
        wrong = fitted(bound, name, parameter, form * symbol ** sp.Rational(1, 10))
        assert abs(wrong - expected(bound, name, parameter)) > 2 * TOLERANCE, parameter


def test_fast_power_law_reaches_its_limit_slowly() -> None:
    """At p = 1/a the measured exponent is above the limit by the logarithm, and falls."""
    at = {"L": 12, "s": 1.0, "a": 1.5, "p": 1 / 1.5}
    slopes = [leading_slope(Bound.SUM, Regime.POWER_LAW, "N", N=n, **at) for n in (1e2, 1e6, 1e60)]
    limit = 2.5 / 4
    assert slopes[0] > slopes[1] > slopes[2] > limit
    assert slopes[2] - limit < 0.005


def test_minimum_takes_the_smaller_exponent() -> None:
    fast, frobenius = BY_NAME["fast power law"], BY_NAME["frobenius"]
    assert exponent(Bound.MINIMUM, frobenius, y.L) == HALF
    assert exponent(Bound.MINIMUM, frobenius, y.N) == HALF
    assert exponent(Bound.MINIMUM, frobenius, y.F) == 0
    assert exponent(Bound.MINIMUM, BY_NAME["rank"], y.r) == HALF  # r <= N: full rank never binds
    assert exponent(Bound.MINIMUM, fast, y.N) == HALF


def test_rates_in_the_depth() -> None:
    log = sp.log(lam)
    rates = {
        ("rank", Bound.SUM): 0,
        ("frobenius", Bound.SUM): log / 2,
        ("frobenius", Bound.ROOT_SUM_SQUARE): log / 2,
        ("frobenius", Bound.EDELMAN): log,
        ("frobenius", Bound.INTERPOLATED): log,
        ("frobenius", Bound.MINIMUM): 0,
        ("fast power law", Bound.SUM): log / (2 * a + 1),
        ("fast power law", Bound.INTERPOLATED): log / (2 * a),
    }
    for (name, bound), rate in rates.items():
        assert sp.simplify(depth_rate(bound, BY_NAME[name]) - rate) == 0


def test_depth_exponents_where_sensitivities_fall() -> None:
    found = {
        (name, bound): falling_exponent(bound, BY_NAME[name])
        for name in ("rank", "frobenius")
        for bound in Bound
    }
    zero, one = sp.Integer(0), sp.Integer(1)
    rank = (one, HALF, zero, zero, HALF, HALF, HALF)
    frobenius = (HALF, HALF, zero, zero, HALF, one, HALF)
    assert found == {
        (name, bound): value
        for name, values in (("rank", rank), ("frobenius", frobenius))
        for bound, value in zip(Bound, values, strict=True)
    }
    depths, at = (64, 128, 256), {"N": 64, "F": 2.0, "lam": 0.7}
    for bound in SINGLE:
        logs = [float(log_leading(bound, Regime.FROBENIUS, L=depth, **at)) for depth in depths]
        slope = log_log_fit(depths, logs).slope
        assert abs(slope - float(found["frobenius", bound])) < TOLERANCE


def test_two_readings_of_the_depth_gain() -> None:
    """A factor sqrt L over L^(3/2) in the sum form; growth sqrt L in the root-sum-square form."""
    rank = BY_NAME["rank"]
    edelman, root = (exponent(x, rank, y.L) for x in (Bound.EDELMAN, Bound.ROOT_SUM_SQUARE))
    assert edelman - exponent(Bound.SUM, rank, y.L) == HALF
    assert root == HALF
    assert edelman == 3 * HALF


def test_table_has_every_case_and_bound() -> None:
    rows = exponent_table()
    assert len(rows) == len(CASES) * len(Bound)
    for row in rows:
        case = BY_NAME[str(row["case"])]
        for parameter in ("L", "N", "r", "s", "F"):
            has = SYMBOLS[parameter] in case_parameters(case)
            assert (row[parameter] is not None) == has


def test_general_index_gives_the_ledgers_depth_exponents() -> None:
    for bound, base in ((Bound.SUM, 1), (Bound.ROOT_SUM_SQUARE, HALF)):
        form = leading(bound, Regime.POWER_LAW)
        found = limit_exponent(form, Case("any p", Regime.SPECTRAL), y.L)
        assert sp.simplify(found - base - y.p / (y.p + 2)) == 0


def test_fit_needs_an_index_and_three_values() -> None:
    with pytest.raises(DomainError, match="Schatten index"):
        measured_fit(Bound.SUM, Regime.POWER_LAW, "L", (1, 2, 3), N=8, a=1.0)
    with pytest.raises(DomainError, match="at least 3"):
        measured_fit(Bound.SUM, Regime.SPECTRAL, "L", (1, 2), N=8)
    with pytest.raises(DomainError, match="power of two"):
        measured_fit(Bound.SUM, Regime.RANK, "L", (1, 2, 3), N=9, r=3)
    with pytest.raises(DomainError, match="needs F"):
        measured_fit(Bound.SUM, Regime.FROBENIUS, "L", (1, 2, 3), N=8)
