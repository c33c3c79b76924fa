r"""Exponents: limits of log-derivatives, taken by SymPy.

The exponent of x in a bound is :math:`\lim_{x \to \infty} d \log(\text{bound}) / d \log x` with
everything else fixed. With :math:`\alpha^{(l)} = \lambda^{L-l}`, :math:`\lambda > 1`, the depth has
an exponential rate instead: :math:`\lim_{L \to \infty} d \log(\text{bound}) / d L`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require
from spectral_lib.ledger.symbols import F, L, N, p, r, s
from spectral_lib.regimes.symbolic import (
    MEMBERS,
    SOURCE,
    Bound,
    Regime,
    a,
    growth,
    lam,
    leading,
)

#: The parameters whose exponents are tabulated.
PARAMETERS = (L, N, r, s, F)
#: A positive distance |2a - 1|: SymPy then decides which powers of N grow.
_more = sp.Symbol("u", positive=True)


@dataclass(frozen=True)
class Case:
    """A regime with what the power law leaves open.

    Attributes
    ----------
    name, regime
        Name in tables, and the regime.
    condition
        Range of the decay, in words; empty for the other regimes.
    p
        The Schatten index that the case takes, an expression in a; ``None`` where the regime has
        its own.
    decay
        The decay in terms of that distance.
    """

    name: str
    regime: Regime
    condition: str = ""
    p: sp.Expr | None = None
    decay: sp.Expr | None = None


#: The power law at its best index for large N: p = 2 while 2a < 1, then p = 1/a.
CASES = (
    Case("rank", Regime.RANK),
    Case("frobenius", Regime.FROBENIUS),
    Case("spectral", Regime.SPECTRAL),
    Case("slow power law", Regime.POWER_LAW, "a < 1/2", sp.Integer(2), (1 - _more) / 2),
    Case("fast power law", Regime.POWER_LAW, "a > 1/2", 1 / a, (1 + _more) / 2),
)


def case_form(bound: Bound, case: Case, *, geometric: bool = False) -> sp.Expr:
    """Return the leading form in a case, the power law's index put in."""
    expression = leading(bound, case.regime, geometric=geometric)
    return expression if case.p is None else expression.subs(p, case.p)


def _sandwich(expression: sp.Expr, side: int) -> sp.Expr:
    r"""Put the integral's lower (0) or upper (1) bound in place of each sum of powers.

    :math:`\int_1^N x^{-b} dx \le \sum_{j \le N} j^{-b} \le 1 + \int_1^N x^{-b} dx`.
    """
    x = sp.Symbol("x", positive=True)

    def replaced(count: sp.Expr, *power: sp.Expr) -> sp.Expr:
        # The decay is put in before: SymPy decides whether the exponent is 1.
        (exponent,) = power or (sp.Integer(1),)  # harmonic(N) is that of power 1
        gap = sp.simplify(1 - exponent)
        area = sp.log(count) if gap == 0 else (count**gap - 1) / gap
        integrand = sp.simplify(sp.diff(area.subs(count, x), x) * x**exponent)
        require(is_zero(integrand - 1), f"not the integral of x^-({exponent})")
        return area + side

    return expression.replace(sp.harmonic, replaced)


@cache
def exponent(bound: Bound, case: Case, parameter: sp.Symbol) -> sp.Expr:
    r"""Return the exponent of a parameter in the leading form at alpha = 1.

    Of the minimum's two members the one with the smaller exponent is in the end the smaller. Sums
    of powers are enclosed between integrals, and both sides must have one limit.

    Returns
    -------
    A number, or an expression in a for the power law.
    """
    if bound is Bound.MINIMUM and case.regime is Regime.RANK:
        # The rank has no limit of its own: r <= N keeps Q_0 below full rank throughout.
        return exponent(Bound.INTERPOLATED, case, parameter)
    if bound is Bound.MINIMUM:
        exponents = [exponent(member, case, parameter) for member in MEMBERS]
        gap = sp.simplify(exponents[0] - exponents[1])
        require(gap.is_nonnegative or gap.is_nonpositive, f"sign of {gap}")
        return exponents[1] if gap.is_nonnegative else exponents[0]
    return limit_exponent(case_form(bound, case), case, parameter)


def _in_range(expression: sp.Expr, case: Case) -> sp.Expr:
    return expression if case.decay is None else expression.subs(a, case.decay)


def limit_exponent(expression: sp.Expr, case: Case, parameter: sp.Symbol) -> sp.Expr:
    """Return the exponent of a parameter in any expression of a case."""
    expression = _in_range(expression, case)
    limits = []
    for side in (0, 1) if expression.has(sp.harmonic) else (0,):
        slope = growth(_sandwich(expression, side), parameter)
        limits.append(sp.simplify(sp.limit(slope, parameter, sp.oo)))
    require(is_zero(limits[0] - limits[-1]), f"the integrals disagree: {limits}")
    if case.decay is None:
        return limits[0]
    (back,) = sp.solve(sp.Eq(case.decay, a), _more)
    return sp.factor(sp.simplify(limits[0].subs(_more, back)))


@cache
def depth_rate(bound: Bound, case: Case) -> sp.Expr:
    r"""Return :math:`\lim_{L \to \infty} d \log(\text{bound}) / dL` for :math:`\lambda > 1`.

    It is :math:`x \log \lambda` with x the power of alpha in the bound: p/(p+2) in the sum and
    root-sum-square forms, 1 in the norm-based ones.
    """
    if bound is Bound.MINIMUM:
        rates = [depth_rate(member, case) for member in MEMBERS]
        return min(rates, key=lambda rate: float(rate.subs({a: 1, lam: 2})))
    logarithm = sp.expand_log(sp.log(case_form(bound, case, geometric=True)), force=True)
    slope = sp.diff(logarithm, L).subs(lam, 1 + _more)
    return sp.simplify(sp.limit(slope, L, sp.oo).subs(_more, lam - 1))


@cache
def falling_exponent(bound: Bound, case: Case) -> sp.Expr:
    r"""Return the exponent of the depth for :math:`\lambda < 1`: the late layers alone count.

    A bound whose terms see alpha converges but for the L in the scale; one that does not keeps its
    exponent.
    """
    if bound is Bound.MINIMUM:
        found = [falling_exponent(member, case) for member in MEMBERS]
        return min(found, key=lambda x: float(x.subs(a, 1)))
    slope = growth(case_form(bound, case, geometric=True), L)
    return sp.simplify(sp.limit(slope.subs(lam, 1 / (1 + _more)), L, sp.oo))


def exponent_table() -> list[dict[str, object]]:
    """Return one row for each case and bound, everything derived.

    Keys: ``case``, ``condition``, ``bound``, ``source``, ``p``, ``form``, one for each of
    ``L, N, r, s, F`` (None where the case has no such parameter), ``L_falling``: the exponent of L
    for lambda < 1, and ``rate``: the exponential rate in the depth for lambda > 1.
    """
    rows = []
    for case in CASES:
        for bound in Bound:
            expression = case_form(bound, case)
            row: dict[str, object] = {
                "case": case.name,
                "condition": case.condition,
                "bound": str(bound),
                "source": str(SOURCE[bound]),
                "form": expression,
            }
            for parameter in PARAMETERS:
                known = case_parameters(case)
                row[parameter.name] = (
                    exponent(bound, case, parameter) if parameter in known else None
                )
            row["L_falling"] = falling_exponent(bound, case)
            row["rate"] = depth_rate(bound, case)
            rows.append(row)
    return rows


def case_parameters(case: Case) -> tuple[sp.Symbol, ...]:
    """Return the parameters that a case has, in the order of the table."""
    own = {Regime.RANK: (r, s), Regime.FROBENIUS: (F,)}.get(case.regime, (s,))
    return tuple(x for x in PARAMETERS if x in (L, N, *own))
