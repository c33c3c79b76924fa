"""The regimes' expressions against numbers that know nothing of SymPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from spectral_lib import constants
from spectral_lib.ledger import expressions as form
from spectral_lib.ledger import symbols as y

SIZES = {y.d: 48, y.k: 32, y.q: 32, y.M: 5, y.s: 1.5, y.B: 1, y.K: 150, y.beta: 3, y.b: 1, y.n: 1}


@pytest.mark.parametrize("p", [0.05, 0.5, 1.0, 1.7, 2.0])
def test_c_p_is_the_minimum_of_the_balance(p: float) -> None:
    found = minimize_scalar(lambda t: 7 * math.exp(-p * t) + 3 * math.exp(2 * t))
    expected = 7 ** (2 / (p + 2)) * 3 ** (p / (p + 2)) * float(form.c_p().subs(y.p, p))
    assert found.fun == pytest.approx(expected, rel=1e-9)


def _entropy(u: float, p: float, count: int) -> float:
    """Return the sum of J equal closed entropies at eps = u D, plain numbers throughout."""
    v = SIZES
    eps = u * constants.CENTERED_RANGE * v[y.b] / (count * v[y.beta])
    lam = math.log1p(constants.LOW_RANK_NET * v[y.s] * v[y.B] / eps)
    tail = constants.DUAL_SUDAKOV_TAIL * v[y.B] ** 2 * v[y.K] / eps**2
    x = p / (p + 2)
    entropy = -x * math.log(x) - (1 - x) * math.log1p(-x)
    principal = v[y.M] * (v[y.d] + v[y.k]) * lam
    return count * (
        math.exp(entropy) * principal ** (1 - x) * (v[y.q] * tail) ** x
        + constants.DUAL_SUDAKOV_OFFSET
    )


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("p", [0.1, 1.0, 2.0])
def test_explicit_forms_bound_the_entropy_integral_and_stay_near(p: float, count: int) -> None:
    integral = quad(lambda u: math.sqrt(_entropy(u, p, count)), 0, 1, limit=400)[0]
    exact = constants.DUDLEY * constants.CENTERED_RANGE * integral
    at = SIZES | {y.p: p, y.J: count}
    sum_form = float(form.rademacher_sum().subs(at))
    root_form = float(form.rademacher_root_sum_square().subs(at))
    assert exact * (1 - 1e-9) <= root_form <= 1.02 * exact
    assert root_form <= sum_form * (1 + 1e-12)
    if count > 1:
        assert sum_form / root_form == pytest.approx(math.sqrt(count), rel=0.05)


def test_pure_rank_limit_has_no_tail() -> None:
    """At p -> 0 both forms are Dudley's integral of a rank-M net: no K, no q, no log 2."""
    for whole in (form.rademacher_sum, form.rademacher_root_sum_square):
        limit = sp.limit(whole(sp.Integer(0)), y.p, 0, "+")
        assert not limit.has(y.K)
        assert not limit.has(y.q)
        assert sp.simplify(sp.diff(sp.log(limit), y.M) * y.M) == sp.Rational(1, 2)


L, N, s, r, F = y.L, y.N, y.s, y.r, y.F
TABLE = {
    "rank": (L * sp.sqrt(r * N), sp.sqrt(L * r * N), s * sp.sqrt(r * N), s * N * sp.sqrt(r)),
    "frobenius": (
        L ** sp.Rational(3, 2) * sp.sqrt(F) * N ** sp.Rational(3, 4),
        L * sp.sqrt(F) * N ** sp.Rational(3, 4),
        F * sp.sqrt(N),
        F * N,
    ),
    "spectral": (L * N, sp.sqrt(L) * N, s * N, s * N ** sp.Rational(3, 2)),
}


@pytest.mark.parametrize("constraint", TABLE)
def test_regime_table(constraint: str) -> None:
    sum_form, root_form, edelman, trauger_tewari = TABLE[constraint]
    q = form.class_quantities()[constraint]
    at = {y.S: q["S"], y.p: q["p"], y.alpha: 1}
    derived = [f().subs(at) for f in (form.leading_sum, form.leading_root_sum_square)]
    derived += [
        form.leading_baseline().subs({y.R: q[norm], y.alpha: 1}) for norm in ("norm_21", "norm_11")
    ]
    depth = L ** sp.Rational(3, 2)
    expected = [sum_form, root_form, depth * edelman, depth * trauger_tewari]
    assert [sp.simplify(a / b) for a, b in zip(derived, expected, strict=True)] == [1] * 4


def test_class_quantities_bound_real_matrices() -> None:
    rng = np.random.default_rng(7)
    size, rank, norm = 12, 3, 1.4
    w = rng.normal(size=(size, rank)) @ rng.normal(size=(rank, size))
    w *= norm / np.linalg.norm(w, 2)
    columns, entries = np.linalg.norm(w, axis=0).sum(), np.abs(w).sum()
    frobenius = np.linalg.norm(w)
    for constraint in ("rank", "frobenius", "spectral"):
        q = form.class_quantities()[constraint]
        at = {y.N: size, y.r: rank, y.s: norm, y.F: frobenius}
        assert columns <= float(q["norm_21"].subs(at))
        assert entries <= float(q["norm_11"].subs(at))


def test_interpolated_entropy_balances_full_rank() -> None:
    """The closed form is the geometric mean of Q_p and full rank, times c_p, in numbers."""
    p = 0.8
    at = SIZES | {y.p: p, y.Lam: 6.5, y.V: 900.0}
    q_p = float(form.interpolated_entropy().subs(at))
    full = 32 * (48 + 32) * 6.5
    mean = q_p ** (2 / (p + 2)) * full ** (p / (p + 2))
    closed = float(form.closed_entropy().subs(at))
    assert closed == pytest.approx(float(form.c_p().subs(y.p, p)) * mean, rel=1e-12)


def test_costs_of_net_and_tail() -> None:
    at = SIZES | {y.eps: 0.3}
    net = math.log1p(constants.LOW_RANK_NET * 1.5 / 0.3)
    assert float(form.net_logarithm().subs(at)) == pytest.approx(net, rel=1e-14)
    tail = constants.DUAL_SUDAKOV_TAIL * 150 / 0.09
    assert float(form.tail_cost().subs(at)) == pytest.approx(tail, rel=1e-14)
    full = 48 * 32 * math.log1p(constants.FULL_RANK_NET * 1.5 / 0.3)
    assert float(form.full_rank_entropy().subs(at)) == pytest.approx(full, rel=1e-14)


def test_leading_entropy_of_theorem_4_1() -> None:
    at_one = form.leading_entropy().subs(y.p, 1)
    third = sp.Rational(1, 3)
    expected = y.M ** (2 * third) * (y.B / y.eps) ** (2 * third) * y.N ** (4 * third)
    assert sp.simplify(at_one / expected) == 1
