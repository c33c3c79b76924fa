"""The entropy integral in closed form: sum form and root-sum-square form.

With u = eps/D in (0, 1) the entropy of one matrix is at most
a u^(-2x) (Lambda + log(1/u))^(1-x) + log 2, where x = p/(p+2) is in [0, 1/2].
"""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import D, eps, p
from spectral_lib.notation import Provenance

_CHAPTER = "theorem-3-1"
#: x = p/(p+2) of one matrix, and the exponent c of the Cauchy-Schwarz weight u^(-c).
x = sp.Symbol("x", positive=True)
c = sp.Symbol("c", positive=True)
_u = sp.Symbol("u", positive=True)
_slack = sp.Symbol("w", positive=True)


def power_integral(exponent: sp.Expr) -> sp.Expr:
    """Integrate u^exponent over (0, 1); the exponent must exceed -1."""
    return sp.integrate(_u ** (_slack - 1), (_u, 0, 1)).subs(_slack, exponent + 1)


def mean_logarithm(exponent: sp.Expr) -> sp.Expr:
    """Return the mean of log(1/u) under the density proportional to u^exponent on (0, 1)."""
    moment = sp.integrate(-sp.log(_u) * _u ** (_slack - 1), (_u, 0, 1))
    return sp.simplify(moment.subs(_slack, exponent + 1) / power_integral(exponent))


def split_logarithm() -> tuple[sp.Expr, str]:
    """Bound log(1 + a/u) - log(1 + a) - log(1/u) for 0 < u <= 1."""
    a, step = sp.symbols("a e", positive=True)
    ratio = (1 + a / _u) / ((1 + a) / _u)
    rest = sp.factor(1 - ratio)
    require(sp.simplify(rest.subs(_u, 1 / (1 + step))).is_positive, f"1 - ratio = {rest}")
    value = sp.log(ratio.subs(_u, 1))
    return value, f"(1 + a/u) u/(1 + a) = 1 - {rest} <= 1: the excess is at most {value}"


def sum_form_factor() -> tuple[sp.Expr, str]:
    """Integrate eps^(-p/(p+2)) up to D; the mean of log(D/eps) is the same number (Jensen)."""
    value = sp.simplify(power_integral(-p / (p + 2)))
    antiderivative = value * eps ** (1 / value)
    require(
        sp.powsimp(sp.expand(sp.simplify(sp.diff(antiderivative, eps)))) == eps ** (-p / (p + 2)),
        "not the antiderivative of eps^(-p/(p+2))",
    )
    require((1 / value).is_positive, "the integral diverges at 0")
    require(is_zero(mean_logarithm(-p / (p + 2)) - value), "the mean logarithm differs")
    return value, f"integral {antiderivative.subs(eps, D)}, no log n; mean of log(D/eps) {value}"


def weight() -> tuple[sp.Expr, str]:
    """Integrate the Cauchy-Schwarz weight u^(-c)."""
    value = power_integral(-c)
    return value, f"(int sqrt h)^2 <= {value} int u^c h, for c < 1"


def root_sum_square() -> tuple[sp.Expr, str]:
    """Integrate u^(c - 2x); the mean of log(1/u) under it is the same number (Jensen)."""
    value = power_integral(c - 2 * x)
    require(is_zero(mean_logarithm(c - 2 * x) - value), "the mean logarithm differs")
    return value, f"z = {value}, also the shift of Lambda"


def offset() -> tuple[sp.Expr, str]:
    """Integrate u^c: what the additive log 2 is multiplied by."""
    value = power_integral(c)
    return value, f"log 2 enters as {value} log 2"


def best_weight() -> tuple[sp.Expr, str]:
    """Minimise the product of both integrals over c, all matrices having the same x."""
    product = weight()[0] * root_sum_square()[0]
    best = solve_for(sp.numer(sp.together(sp.diff(product, c))), c)
    # The reciprocal (1 - c)(1 + c - 2x) is a concave parabola in c: one maximum.
    require(sp.diff(sp.expand(1 / product), c, 2) == -2, "the reciprocal is not concave")
    factor = sp.factor(product.subs(c, best).subs(x, p / (p + 2)))
    require(is_zero(sp.sqrt(factor) - sum_form_factor()[0]), "equal x does not recover (p+2)/2")
    return best, f"c = {best}; the factor is then ((p+2)/2)^2, as in the sum form"


def half_weight() -> tuple[sp.Expr, str]:
    """Take c = 1/2, the largest x of all, whatever the matrices' own x."""
    largest = (p / (p + 2)).subs(p, 2)
    value = sp.factor((weight()[0] * root_sum_square()[0]).subs(c, largest))
    return value, f"at c = {largest}: {value}"


ENTRIES = (
    Entry(
        name="split_logarithm",
        symbol=r"\log(1 + a/u) - \log(1 + a) - \log(1/u)",
        claim=sp.Integer(0),
        source=Provenance.DERIVED,
        statement="Upper bound that takes the scale out of the net's logarithm.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=split_logarithm,
    ),
    Entry(
        name="sum_form_factor",
        symbol=r"\int_0^1 u^{-p/(p+2)} du",
        claim=(p + 2) / 2,
        source=Provenance.DERIVED,
        statement="Factor of the entropy integral in the sum form, and the shift of Lambda.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=sum_form_factor,
    ),
    Entry(
        name="cauchy_schwarz_weight",
        symbol=r"\int_0^1 u^{-c} du",
        claim=1 / (1 - c),
        source=Provenance.DERIVED,
        statement="Price of the weight u^(-c) in the root-sum-square form.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=weight,
    ),
    Entry(
        name="root_sum_square",
        symbol=r"z_i",
        claim=1 / (1 + c - 2 * x),
        source=Provenance.DERIVED,
        statement="Factor of a matrix in the root-sum-square form, and the shift of Lambda.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=root_sum_square,
    ),
    Entry(
        name="root_sum_square_offset",
        symbol=r"\int_0^1 u^{c} du",
        claim=1 / (1 + c),
        source=Provenance.DERIVED,
        statement="Factor of the additive log 2 in the root-sum-square form.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=offset,
    ),
    Entry(
        name="best_weight",
        symbol=r"\arg\min_c \frac{1}{(1-c)(1+c-2x)}",
        claim=x,
        source=Provenance.DERIVED,
        statement="Best exponent of the weight where all matrices have the same p.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=best_weight,
        depends_on=("cauchy_schwarz_weight", "root_sum_square", "sum_form_factor"),
    ),
    Entry(
        name="half_weight",
        symbol=r"\frac{1}{1-c} z_i \Big|_{c = 1/2}",
        claim=4 / (3 - 4 * x),
        source=Provenance.DERIVED,
        statement="Factor of a matrix at c = 1/2, which serves every p in [0, 2] at once.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=half_weight,
        depends_on=("cauchy_schwarz_weight", "root_sum_square"),
    ),
)
