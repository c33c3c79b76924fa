r"""Where each bound wins: crossovers solved by SymPy, and maps over two parameters.

At alpha = 1 the leading forms of the rank, Frobenius and spectral regimes are monomials, so the log
of a ratio is linear in the log of every parameter: one crossover, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from spectral_lib.errors import DomainError
from spectral_lib.ledger.algebra import is_zero, require
from spectral_lib.ledger.symbols import F, L, N, p, r, s
from spectral_lib.regimes.evaluation import SYMBOLS, FloatArray, log_leading
from spectral_lib.regimes.symbolic import Bound, Regime, growth, leading

#: Every bound but the minimum, whose members are in the list.
SINGLE = tuple(bound for bound in Bound if bound is not Bound.MINIMUM)


@dataclass(frozen=True)
class Crossover:
    """The value of a parameter at which two bounds are equal.

    Attributes
    ----------
    regime, first, second
        Which bounds, in which regime.
    unknown
        The parameter that is solved for.
    value
        The crossover, an expression in the other parameters; ``None`` if the ratio does not depend
        on the unknown.
    first_wins
        ``"below"`` or ``"above"`` the crossover; without one, ``"equal"`` where the two are the
        same, else ``"undecided"``: then ``ratio`` < 1 is the condition.
    ratio
        First over second.
    """

    regime: Regime
    first: Bound
    second: Bound
    unknown: sp.Symbol
    value: sp.Expr | None
    first_wins: str
    ratio: sp.Expr


@cache
def crossover(first: Bound, second: Bound, regime: Regime, unknown: sp.Symbol) -> Crossover:
    """Solve first = second for the unknown; SymPy solves, and decides the winning side.

    Raises
    ------
    DomainError
        The power law, where no crossover has a closed form (:func:`winners` draws it), or the
        minimum, whose members are to be compared one by one.
    """
    if regime is Regime.POWER_LAW or Bound.MINIMUM in (first, second):
        raise DomainError("crossovers are solved for single bounds outside the power law")
    ratio = sp.powsimp(leading(first, regime) / leading(second, regime), force=True)
    slope = growth(ratio, unknown)
    require(not slope.free_symbols, f"the ratio is no monomial in {unknown}")
    if is_zero(slope):
        side = "equal" if is_zero(ratio - 1) else "undecided"
        return Crossover(regime, first, second, unknown, None, side, ratio)
    at_log = sp.Symbol("x", real=True)
    logarithm = sp.expand_log(sp.log(ratio.subs(unknown, sp.exp(at_log))), force=True)
    (solution,) = sp.solve(sp.expand(logarithm), at_log)
    value = sp.powsimp(sp.simplify(sp.exp(sp.logcombine(sp.expand(solution), force=True))))
    require(is_zero(sp.powdenest(ratio.subs(unknown, value), force=True) - 1), f"not at {value}")
    side = "below" if slope > 0 else "above"
    return Crossover(regime, first, second, unknown, value, side, ratio)


def crossover_table(regimes: Sequence[Regime] | None = None) -> list[Crossover]:
    """Return every pair's crossover in every regime: in F, s, or the depth, whichever is first.

    The unknown is the regime's own parameter where the ratio depends on it, else L, else N.
    """
    own = {Regime.RANK: (s, r), Regime.FROBENIUS: (F,), Regime.SPECTRAL: (s,)}
    rows = []
    for regime in regimes or own:
        for first, second in combinations(SINGLE, 2):
            tried = [crossover(first, second, regime, x) for x in (*own[regime], L, N)]
            rows.append(next((row for row in tried if row.value is not None), tried[0]))
    return rows


@dataclass(frozen=True, eq=False)
class WinnerMap:
    """Which bound is smallest over two parameters.

    Attributes
    ----------
    regime
        The regime.
    x_name, y_name, x, y
        The parameters (names of symbols) and their values, ``[X]`` and ``[Y]``.
    log_values
        For each bound ``[Y, X]``, logs of the leading forms.
    bounds
        The bounds in the order of ``winner``.
    winner
        ``[Y, X]``: index of the smallest; ties go to the earlier bound.
    """

    regime: Regime
    x_name: str
    y_name: str
    x: FloatArray
    y: FloatArray
    log_values: dict[Bound, FloatArray]
    bounds: tuple[Bound, ...]
    winner: np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def winners(
    regime: Regime,
    x: tuple[str, ArrayLike],
    y: tuple[str, ArrayLike],
    *,
    bounds: Sequence[Bound] = SINGLE,
    lam: float = 1.0,
    **fixed: float,
) -> WinnerMap:
    r"""Evaluate bounds over a grid of two parameters.

    Parameters
    ----------
    regime, bounds
        What is compared; of the minimum only its members are.
    x, y
        Name (``L, N, r, s, F, a, p``) and values of each axis.
    lam
        :math:`\alpha^{(l)} = \lambda^{L-l}`.
    fixed
        The other parameters.

    Raises
    ------
    DomainError
        An unknown name, or a parameter that is missing or not positive.
    """
    (x_name, x_values), (y_name, y_values) = x, y
    for name in (x_name, y_name, *fixed):
        if name not in SYMBOLS:
            raise DomainError(f"a parameter must be one of {', '.join(SYMBOLS)}, got {name!r}")
    if not bounds or Bound.MINIMUM in bounds:
        raise DomainError("bounds must be single bounds, at least one of them")
    columns, rows = np.asarray(x_values, float), np.asarray(y_values, float)
    across, along = np.meshgrid(columns, rows)
    values = {**fixed, x_name: across, y_name: along}
    logs = {bound: log_leading(bound, regime, lam=lam, **values) for bound in bounds}
    # Equal bounds differ by rounding: a tie goes to the earlier one.
    winner = np.argmin(np.round(np.stack(list(logs.values())), 10), axis=0)
    return WinnerMap(regime, x_name, y_name, columns, rows, logs, tuple(bounds), winner)


@cache
def schatten_crossover() -> sp.Expr:
    r"""Return the depth below which p = 2 beats p = 0 in the sum form, Frobenius regime.

    The two members of the sum form's minimum over p: :math:`L N` and
    :math:`L^{3/2} F^{1/2} N^{3/4}`.
    """
    ratio = leading(Bound.SUM, Regime.FROBENIUS) / leading(Bound.SUM, Regime.SPECTRAL)
    require(not ratio.has(p), "an index is left")
    (value,) = sp.solve(sp.Eq(ratio, 1), L)
    return sp.simplify(value)
