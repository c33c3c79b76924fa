"""A changed constant, claim or step makes its entry fail: no check passes by comparing itself."""

from __future__ import annotations

import dataclasses
import math

import pytest
import sympy as sp

from spectral_lib import constants
from spectral_lib.ledger import ENTRIES, Entry, Method, chaining, gaussian, nets
from spectral_lib.ledger.algebra import DerivationError, is_zero, require, same, solve_for

NUMERIC = {entry.constant: entry for entry in ENTRIES.values() if entry.constant is not None}


@pytest.mark.parametrize("factor", [1 - 1e-9, 1 + 1e-9, math.nan])
@pytest.mark.parametrize("constant", NUMERIC)
def test_changed_constant_fails(
    constant: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, constant, getattr(constants, constant) * factor)
    assert not NUMERIC[constant].verify().ok


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_changed_claim_fails(entry: Entry) -> None:
    shift = sp.Rational(1, 10**6)
    if isinstance(entry.claim, sp.Tuple):
        parts = list(entry.claim)
        changed = [
            sp.Tuple(*parts[:i], part + shift, *parts[i + 1 :]) for i, part in enumerate(parts)
        ]
    else:
        changed = [entry.claim + shift, entry.claim - shift]
    for claim in changed:
        assert not dataclasses.replace(entry, claim=claim).verify().ok


def test_bound_below_the_supremum_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next double below the certified bound is no upper bound any more."""
    entry = ENTRIES["l_phi_gelu_tanh"]
    assert entry.method is Method.ENCLOSURE
    below = math.nextafter(constants.L_PHI_GELU_TANH, 0.0)
    monkeypatch.setattr(constants, "L_PHI_GELU_TANH", below)
    assert not entry.verify().ok


def test_changed_step_moves_the_constants_that_rest_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The derivations are chained: another share of the tail gives another 8."""
    third = sp.Rational(1, 3)
    monkeypatch.setattr(nets, "tail_share", lambda: (third, "a third"))
    assert nets.low_rank_net()[0] == 6
    assert not ENTRIES["low_rank_net"].verify().ok


def test_changed_chaining_ratio_moves_dudley(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaining, "chaining_ratio", lambda: (sp.Rational(1, 3), ""))
    assert chaining.dudley()[0] == 12
    monkeypatch.setattr(chaining, "chaining_ratio", lambda: (sp.Rational(1, 4), ""))
    assert chaining.dudley()[0] == sp.Rational(40, 3)


def test_a_derivation_that_raises_is_a_failure_not_a_crash() -> None:
    def broken() -> tuple[sp.Expr, str]:
        raise NotImplementedError("no algorithm\nfor this")

    outcome = dataclasses.replace(ENTRIES["dudley"], derive=broken).verify()
    assert not outcome.ok
    assert outcome.derived == "NotImplementedError: no algorithm for this"


def test_undecided_conditions_are_refused() -> None:
    x = sp.Symbol("x", real=True)
    for undecided in (x > 0, x.is_positive, None, sp.Symbol("y")):
        with pytest.raises(DerivationError, match="not decided"):
            require(undecided, "not decided")
    for false in (False, sp.false, sp.Integer(1) > 2):
        with pytest.raises(DerivationError):
            require(false, "false")
    require(sp.Integer(2) > 1, "true")


def test_identity_of_powers_and_tuples() -> None:
    x, y = sp.symbols("x y", positive=True)
    assert same((x * y) ** (1 / x), x ** (1 / x) * y ** (1 / x))
    assert not same(x**y, y**x)
    assert same(sp.Tuple(x, (x + 1) ** 2), sp.Tuple(x, x**2 + 2 * x + 1))
    assert not same(sp.Tuple(x), x)
    assert not same(sp.Tuple(x), sp.Tuple(x, x))
    assert is_zero(sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1)


def test_unique_zero() -> None:
    x = sp.Symbol("x", real=True)
    assert solve_for(2 * x - 6, x) == 3
    with pytest.raises(DerivationError, match="2 zeros"):
        solve_for(x**2 - 1, x)


def test_gaussian_maximum_is_the_least_of_its_family() -> None:
    bound = float(gaussian.expected_maximum(sp.Integer(1000)))
    family = [math.log(1000) / rate + rate / 2 for rate in (1, 2, 3, 3.7, 4, 5)]
    assert bound <= min(family) <= 1.001 * bound
