"""Theorem 4.1: the split at a singular value, its balance, and both ends of the interpolation."""

from __future__ import annotations

from functools import cache

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, same, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import M, p, sigma, tau
from spectral_lib.notation import Provenance

_CHAPTER = "theorem-4-1"
_a, _b = sp.symbols("a b", positive=True)


def p_max() -> tuple[sp.Expr, str]:
    """Ask that sigma^2 <= sigma^p tau^(2-p) for all sigma <= tau."""
    slack = sp.expand_log(sp.log(sigma**p * tau ** (2 - p) / sigma**2), force=True)
    exponent = sp.simplify(slack / (sp.log(tau) - sp.log(sigma)))
    value = solve_for(exponent, p)
    return value, f"the ratio is (tau/sigma)^({exponent}), >= 1 up to p = {value}"


def principal_rank() -> tuple[sp.Expr, str]:
    """Count the singular values above tau: each uses at least tau^p of the budget M."""
    count = sp.Symbol("r", positive=True)
    value = solve_for(count * tau**p - M, count)
    return value, f"r tau^p < M gives r < {value}"


def tail_energy() -> tuple[sp.Expr, str]:
    """Bound the energy of the singular values below tau by their Schatten quantity."""
    largest = sp.simplify(sigma**2 / sigma**p)  # increases in sigma, as p <= 2
    growth = sp.simplify(sp.diff(sp.log(largest), sigma) * sigma)
    require(is_zero(growth - (p_max()[0] - p)), "sigma^(2-p) does not increase up to p = 2")
    value = M * largest.subs(sigma, tau)
    return value, f"sum sigma^2 <= max over sigma <= tau of {largest}, times M: {value}"


def tail_after_rank() -> tuple[sp.Expr, str]:
    """Let the r largest singular values, each at least t, use their part of the budget.

    The energy of the others is then at most t^(2-p) (M - r t^p), t being the next one; the
    largest such energy, over all t, is the one at which the log derivative in t^p vanishes.
    """
    count, level = sp.symbols("r y", positive=True)  # y = t^p
    left_over = M - count * level
    log_energy = tail_energy()[0].subs(M, left_over).subs(tau, level ** (1 / p))
    slope = sp.diff(sp.expand_log(sp.log(log_energy), force=True), level)
    best = solve_for(sp.numer(sp.together(slope)), level)
    value = sp.simplify(left_over.subs(level, best) / M)
    return value, f"at t^p = {best} the others have {value} of the budget"


@cache
def balance() -> tuple[sp.Expr, str]:
    """Minimise a tau^-p + b tau^2 over the cut, in t = tau^(p+2)."""
    level, log_level = sp.symbols("t y", positive=True)
    parts = (_a * level ** (-p / (p + 2)), _b * level ** (2 / (p + 2)))
    for part, in_tau in zip(parts, (_a * tau**-p, _b * tau**2), strict=True):
        require(same(part.subs(level, tau ** (p + 2)), in_tau), "t is not tau^(p+2)")
        # Convex in log t (a positive multiple of itself): a stationary point is the minimum.
        curvature = sp.diff(part.subs(level, sp.exp(log_level)), log_level, 2)
        require(sp.simplify(curvature).is_positive, f"{part} is not convex in log t")
    stationary = sp.simplify(sp.diff(sum(parts), level) * level ** ((2 * p + 2) / (p + 2)))
    best = solve_for(sp.expand(sp.powsimp(sp.expand(stationary))), level)
    scale = _a ** (2 / (p + 2)) * _b ** (p / (p + 2))
    value = sum(_monomial(part.subs(level, best) / scale) for part in parts)
    require(value.free_symbols == {p}, f"a and b remain in {value}")
    return value, f"at tau^(p+2) = {best} the factor of a^(2/(p+2)) b^(p/(p+2)) is {value}"


def _monomial(product: sp.Expr) -> sp.Expr:
    """Simplify a product of powers through its logarithm."""
    logs = sp.expand_log(sp.log(product), force=True)
    return sp.exp(sp.simplify(sp.collect(sp.expand(logs), (sp.log(_a), sp.log(_b)), sp.simplify)))


def entropy_form() -> tuple[sp.Expr, str]:
    """Write c_p as the exponential of the binary entropy of p/(p+2), in nats."""
    x = p / (p + 2)
    value = sp.exp(sp.simplify(-x * sp.log(x) - (1 - x) * sp.log(1 - x)))
    require(same(balance()[0], value), "c_p is not exp(h)")
    return value, "log c_p = h(x) = -x log x - (1-x) log(1-x) at x = p/(p+2)"


def c_p_at_zero() -> tuple[sp.Expr, str]:
    """Let p fall to 0 in c_p."""
    value = sp.limit(balance()[0], p, 0, "+")
    return value, f"lim c_p = {value} as p -> 0+"


def c_p_at_two() -> tuple[sp.Expr, str]:
    """Evaluate c_p at the largest p; show that it increases up to there and nowhere after."""
    x = sp.Symbol("x", positive=True)
    entropy = -x * sp.log(x) - (1 - x) * sp.log(1 - x)
    odds = sp.exp(sp.simplify(sp.diff(entropy, x)))
    require(sp.simplify(odds.subs(x, p / (p + 2)) - 2 / p) == 0, "dh/dx is not log(2/p)")
    require(sp.diff(p / (p + 2), p).simplify().is_positive, "p/(p+2) does not increase")
    value = sp.simplify(balance()[0].subs(p, p_max()[0]))
    return value, f"c_2 = {value}; d log c_p/dp = log(2/p) 2/(p+2)^2 >= 0 up to p = 2"


_c_p = (p / 2) ** (-p / (p + 2)) + (p / 2) ** (2 / (p + 2))
_h = sp.exp(-p / (p + 2) * sp.log(p / (p + 2)) - 2 / (p + 2) * sp.log(2 / (p + 2)))
ENTRIES = (
    Entry(
        name="p_max",
        symbol=r"p_{\max}",
        claim=sp.Integer(2),
        source=Provenance.PAPER,
        statement="Largest Schatten exponent for which the tail's energy has a bound.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=p_max,
        constant="P_MAX",
    ),
    Entry(
        name="principal_rank",
        symbol=r"r(\tau)",
        claim=M * tau**-p,
        source=Provenance.DERIVED,
        statement="Largest number of singular values above tau.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=principal_rank,
    ),
    Entry(
        name="tail_energy",
        symbol=r"\|W_2\|_F^2",
        claim=M * tau ** (2 - p),
        source=Provenance.DERIVED,
        statement="Largest energy of the singular values below tau.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=tail_energy,
        depends_on=("p_max",),
    ),
    Entry(
        name="tail_after_rank",
        symbol=r"\|W_2\|_F^2 / (M t^{2-p})",
        claim=p / 2,
        source=Provenance.DERIVED,
        statement="Energy after the r largest values, t^p = (2-p) M / (2r), where r >= (2-p)/p.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=tail_after_rank,
        depends_on=("tail_energy",),
    ),
    Entry(
        name="balance",
        symbol="c_p",
        claim=_c_p,
        source=Provenance.DERIVED,
        statement="min over tau of a tau^-p + b tau^2, per a^(2/(p+2)) b^(p/(p+2)).",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=balance,
    ),
    Entry(
        name="entropy_form",
        symbol=r"e^{h(p/(p+2))}",
        claim=_h,
        source=Provenance.DERIVED,
        statement="c_p is the exponential of a binary entropy.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=entropy_form,
        depends_on=("balance",),
    ),
    Entry(
        name="c_p_at_zero",
        symbol=r"\lim_{p\to0} c_p",
        claim=sp.Integer(1),
        source=Provenance.DERIVED,
        statement="At p = 0 the balance costs nothing: the pure rank.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=c_p_at_zero,
        depends_on=("balance",),
        constant="C_P_AT_ZERO",
    ),
    Entry(
        name="c_p_at_two",
        symbol=r"c_2",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="At p = 2 the balance costs its most; c_p increases on [0, 2].",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=c_p_at_two,
        depends_on=("balance", "p_max"),
        constant="C_P_AT_TWO",
    ),
)
