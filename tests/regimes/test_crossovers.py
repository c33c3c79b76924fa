"""Crossovers, maps, and every inequality between bounds that the chapters state."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sympy as sp

from spectral_lib.errors import DomainError
from spectral_lib.ledger import symbols as y
from spectral_lib.regimes import (
    SINGLE,
    Bound,
    Regime,
    crossover,
    crossover_table,
    leading,
    log_leading,
    schatten_crossover,
    winners,
)
from spectral_lib.regimes.evaluation import SYMBOLS

NAMES = {symbol: name for name, symbol in SYMBOLS.items()}
AT = {"L": 12.0, "N": 256.0, "r": 8.0, "s": 1.3, "F": 3.0}
GRID = [
    dict(zip(("L", "N", "r", "s", "F", "a", "p"), values, strict=True))
    for values in itertools.product(
        (1, 3, 24, 96), (16, 768), (1, 8, 16), (0.1, 1, 4), (0.05, 2, 30), (0.2, 1.5), (0.3, 1, 2)
    )
]


def grid(regime: Regime) -> dict[str, np.ndarray]:
    """Return the whole grid as arrays; p and a matter to the power law alone."""
    return {name: np.array([float(point[name]) for point in GRID]) for name in GRID[0]}


def value(bound: Bound, regime: Regime, at: dict[str, float]) -> float:
    return float(leading(bound, regime).subs({SYMBOLS[k]: v for k, v in at.items()}))


@pytest.mark.parametrize(
    "found", crossover_table(), ids=lambda x: f"{x.regime}-{x.first}-{x.second}"
)
def test_bounds_are_equal_at_the_crossover_and_ordered_beside_it(found) -> None:
    if found.value is None:
        assert found.first_wins == "equal"
        assert value(found.first, found.regime, AT) == pytest.approx(
            value(found.second, found.regime, AT)
        )
        return
    name = NAMES[found.unknown]
    at_value = float(found.value.subs({SYMBOLS[k]: v for k, v in AT.items()}))
    for factor, side in ((0.5, "below"), (1.0, None), (2.0, "above")):
        at = {**AT, name: at_value * factor}
        gap = math.log(value(found.first, found.regime, at) / value(found.second, found.regime, at))
        if side is None:
            assert abs(gap) < 1e-9
        else:
            assert (gap < 0) == (found.first_wins == side)


def test_crossovers_by_hand() -> None:
    F, L, N, r, s = y.F, y.L, y.N, y.r, y.s
    known = [
        (Bound.SUM, Bound.EDELMAN, Regime.RANK, s, 1 / sp.sqrt(L), "above"),
        (Bound.SUM, Bound.EDELMAN, Regime.RANK, L, s**-2, "above"),
        (Bound.SUM, Bound.FULL_RANK, Regime.RANK, r, N / L, "below"),
        (Bound.SUM, Bound.EDELMAN, Regime.FROBENIUS, F, sp.sqrt(N), "above"),
        (Bound.ROOT_SUM_SQUARE, Bound.FULL_RANK, Regime.FROBENIUS, F, sp.sqrt(N) / L, "below"),
        (Bound.FULL_RANK, Bound.INTERPOLATED, Regime.FROBENIUS, F, sp.sqrt(N) / L, "above"),
    ]
    for first, second, regime, unknown, expected, side in known:
        found = crossover(first, second, regime, unknown)
        assert sp.simplify(found.value - expected) == 0
        assert found.first_wins == side
    assert sp.simplify(schatten_crossover() - sp.sqrt(N) / F) == 0


def test_crossover_without_the_unknown_is_decided_by_the_ratio() -> None:
    found = crossover(Bound.SUM, Bound.EDELMAN, Regime.RANK, y.N)
    assert (found.value, found.first_wins) == (None, "undecided")
    with pytest.raises(DomainError, match="power law"):
        crossover(Bound.SUM, Bound.EDELMAN, Regime.POWER_LAW, y.N)
    with pytest.raises(DomainError, match="single"):
        crossover(Bound.SUM, Bound.MINIMUM, Regime.RANK, y.N)


@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("lam", [0.7, 1.0, 1.4])
def test_inequalities_between_leading_forms(regime: Regime, lam: float) -> None:
    at = grid(regime)
    logs = {bound: log_leading(bound, regime, lam=lam, **at) for bound in Bound}
    tiny = 1e-9
    # Root of squares <= sum <= sqrt L times the root of squares.
    gap = logs[Bound.SUM] - logs[Bound.ROOT_SUM_SQUARE]
    assert (gap >= -tiny).all()
    assert (gap <= 0.5 * np.log(at["L"]) + tiny).all()
    # (2,1) norms never exceed (1,1) norms: sqrt N apart in the worst case.
    apart = logs[Bound.TRAUGER_TEWARI] - logs[Bound.EDELMAN]
    assert np.allclose(apart, 0.5 * np.log(at["N"]))
    # The minimum is its smaller member.
    members = np.minimum(logs[Bound.FULL_RANK], logs[Bound.INTERPOLATED])
    assert np.array_equal(logs[Bound.MINIMUM], members)
    if lam == 1.0:
        # The root-sum-square form is a geometric mean of the members, never below both.
        assert (logs[Bound.ROOT_SUM_SQUARE] >= members - tiny).all()
        p = {Regime.FROBENIUS: 2.0, Regime.POWER_LAW: at["p"]}.get(regime, 0.0)
        x = p / (np.asarray(p) + 2.0)
        mean = (1 - x) * logs[Bound.INTERPOLATED] + x * logs[Bound.FULL_RANK]
        assert np.allclose(logs[Bound.ROOT_SUM_SQUARE], mean)


def test_where_q_2_equals_edelman() -> None:
    """In the Frobenius regime Q_2 has the leading form of Edelman et al. at alpha = 1."""
    assert (
        sp.simplify(
            leading(Bound.INTERPOLATED, Regime.FROBENIUS) / leading(Bound.EDELMAN, Regime.FROBENIUS)
        )
        == 1
    )


def test_sum_form_over_edelman_in_the_rank_regime() -> None:
    ratio = leading(Bound.EDELMAN, Regime.RANK) / leading(Bound.SUM, Regime.RANK)
    assert sp.simplify(ratio - sp.sqrt(y.L) * y.s) == 0


def test_winner_map_agrees_with_the_crossovers() -> None:
    sizes, norms = np.geomspace(16, 4096, 30), np.geomspace(0.03, 50, 40)
    found = winners(Regime.FROBENIUS, ("N", sizes), ("F", norms), L=12)
    full = found.winner == SINGLE.index(Bound.FULL_RANK)
    assert np.array_equal(full, norms[:, None] > np.sqrt(sizes) / 12)
    edelman = found.winner == SINGLE.index(Bound.EDELMAN)  # it comes before Q_2, its equal
    assert (full | edelman).all()
    smallest = np.minimum.reduce(list(found.log_values.values()))
    chosen = np.choose(found.winner, list(found.log_values.values()))
    assert np.allclose(chosen, smallest)


def test_winner_map_names_what_is_wrong() -> None:
    axis = ("N", [4, 8])
    with pytest.raises(DomainError, match="'x'"):
        winners(Regime.SPECTRAL, axis, ("x", [1]), L=1)
    with pytest.raises(DomainError, match="needs s"):
        winners(Regime.SPECTRAL, axis, ("L", [1, 2]))
    with pytest.raises(DomainError, match="L must be > 0"):
        winners(Regime.SPECTRAL, axis, ("L", [0, 2]), s=1)
    with pytest.raises(DomainError, match="single"):
        winners(Regime.SPECTRAL, axis, ("L", [1]), s=1, bounds=[Bound.MINIMUM])


@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("bound", Bound)
def test_numbers_are_those_of_the_expression(bound: Bound, regime: Regime) -> None:
    at = {**AT, "L": 7, "a": 0.8, "p": 0.7}
    for lam in (1.0, 0.8, 1.4):
        form = leading(bound, regime, geometric=lam != 1)
        values = {SYMBOLS[k]: v for k, v in at.items()} | {sp.Symbol("lambda", positive=True): lam}
        expected = float(sp.log(form.subs(values)).evalf())
        assert float(log_leading(bound, regime, lam=lam, **at)) == pytest.approx(
            expected, abs=1e-10
        )
