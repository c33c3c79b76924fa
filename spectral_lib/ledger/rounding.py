"""Rounding p up to the grid: what the leading term can lose."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import A, N, m, p, s
from spectral_lib.notation import Provenance

_CHAPTER = "peeling"
_step = sp.Symbol("delta", nonnegative=True)  # p' - p, at most 1/m
_log_S, _log_s, _log_A, _log_N = sp.symbols("log_S log_s log_A log_N", real=True)


def log_term(exponent: sp.Expr, log_schatten: sp.Expr) -> sp.Expr:
    """Return the log of S_p^(1/(p+2)) A^(p/(p+2)) N^((p+1)/(p+2)), A = gamma alpha L."""
    return (log_schatten + exponent * _log_A + (exponent + 1) * _log_N) / (exponent + 2)


def loss() -> tuple[sp.Expr, str]:
    """Bound log term(p') - log term(p) with S_p' <= s^(p'-p) S_p and S_p >= s^p."""
    rounded = log_term(p + _step, _log_S + _step * _log_s)
    difference = sp.together(rounded - log_term(p, _log_S))
    slope = sp.factor(sp.diff(difference, _log_S))
    require((-slope).is_nonnegative, "the loss does not fall with S_p")
    worst = sp.factor(difference.subs(_log_S, p * _log_s))
    both = 2 * (_log_s + _log_A) + _log_N
    require(is_zero(worst - _step * both / ((p + 2) * (p + _step + 2))), f"the loss is {worst}")
    return worst, f"log loss <= {worst}"


def _largest(slope_in: sp.Symbol) -> sp.Expr:
    """Return the largest coefficient of a log in the loss per step 1/m, over all p, p' >= 0."""
    coefficient = sp.factor(sp.diff(loss()[0], slope_in) / _step)
    for variable in (p, _step):
        require((-sp.factor(sp.diff(coefficient, variable))).is_positive, "coefficient grows")
    return sp.limit(coefficient.subs(_step, 0), p, 0, "+")


def scale_exponent() -> tuple[sp.Expr, str]:
    """Read the power of max(1, s gamma alpha L)^(1/m) off the loss; s and A share it."""
    value = _largest(_log_A)
    require(value == _largest(_log_s), "s and gamma alpha L have different powers")
    return value, f"largest at p = p' = 0: (s gamma alpha L)^({value}/m)"


def size_exponent() -> tuple[sp.Expr, str]:
    """Read the power of N^(1/m) off the loss."""
    value = _largest(_log_N)
    return value, f"largest at p = p' = 0: N^({value}/m)"


def rounding_factor() -> tuple[sp.Expr, str]:
    """Put both powers together at a step of 1/m."""
    value = sp.Max(1, s * A) ** (scale_exponent()[0] / m) * N ** (size_exponent()[0] / m)
    return value, f"term(p') <= {value} term(p)"


ENTRIES = (
    Entry(
        name="rounding_loss",
        symbol=r"\log\frac{\mathrm{term}(p + \delta)}{\mathrm{term}(p)}",
        claim=_step * (2 * _log_s + 2 * _log_A + _log_N) / ((p + 2) * (p + _step + 2)),
        source=Provenance.DERIVED,
        statement="Most that the leading term gains when p is rounded up by delta.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=loss,
    ),
    Entry(
        name="rounding_scale_exponent",
        symbol=r"\max(1, s\gamma\alpha L)^{\cdot/m}",
        claim=sp.Rational(1, 2),
        source=Provenance.DERIVED,
        statement="Power of the scale in the rounding factor, times m.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=scale_exponent,
        depends_on=("rounding_loss",),
        constant="ROUNDING_SCALE_EXPONENT",
    ),
    Entry(
        name="rounding_size_exponent",
        symbol=r"N^{\cdot/m}",
        claim=sp.Rational(1, 4),
        source=Provenance.DERIVED,
        statement="Power of the hidden size in the rounding factor, times m.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=size_exponent,
        depends_on=("rounding_loss",),
        constant="ROUNDING_SIZE_EXPONENT",
    ),
    Entry(
        name="rounding_factor",
        symbol=r"\mathrm{term}(p') / \mathrm{term}(p)",
        claim=sp.Max(1, s * A) ** (1 / (2 * m)) * N ** (1 / (4 * m)),
        source=Provenance.DERIVED,
        statement="Most that rounding p up to the grid costs; bounded when m >= L + log N.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=rounding_factor,
        depends_on=("rounding_scale_exponent", "rounding_size_exponent"),
    ),
)
