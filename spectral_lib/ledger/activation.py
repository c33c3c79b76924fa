"""Lipschitz constants of the GELU: the exact form, the tanh form, and the scripts' rounding."""

from __future__ import annotations

from typing import Any

import sympy as sp
from mpmath import iv

from spectral_lib.ledger import enclosure
from spectral_lib.ledger.algebra import is_zero, require
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.notation import Provenance

_CHAPTER = "propagation"
#: The cubic coefficient of the tanh form, as its definition gives it.
CUBIC = sp.Rational(44715, 10**6)
_x = sp.Symbol("x", real=True)
_c = sp.Symbol("c", positive=True)  # sqrt(2 / pi)


def _normal_cdf(x: sp.Expr) -> sp.Expr:
    return (1 + sp.erf(x / sp.sqrt(2))) / 2


def gelu() -> tuple[sp.Expr, str]:
    """Differentiate x Phi(x) twice; its slope runs from 0 to 1 and turns where x^2 = 2."""
    slope = sp.diff(_x * _normal_cdf(_x), _x)
    turns = sp.solve(sp.simplify(sp.diff(slope, _x) * sp.exp(_x**2 / 2)), _x)
    ends = [sp.limit(slope, _x, end) for end in (-sp.oo, sp.oo)]
    candidates = [slope.subs(_x, x) for x in turns] + ends
    value = max((abs(v) for v in candidates), key=lambda v: sp.N(v, 30))
    return sp.simplify(value), f"GELU'' = 0 at x = {turns}, ends {ends}: sup {sp.N(value, 12)}"


def scripts_rounding() -> tuple[sp.Expr, str]:
    """Round the exact GELU constant up to two decimals."""
    exact = gelu()[0]
    value = sp.Rational(sp.ceiling(100 * exact), 100)
    require(value >= exact, "rounded below the supremum")
    return value, f"{sp.N(exact, 8)} rounded up to two decimals is {sp.N(value, 3)}"


def _argument(x: Any, root: Any, cubic: Any) -> Any:
    return root * (x + cubic * x**3)


def _tanh_slope(order: int) -> sp.Expr:
    """Return the derivative of the given order of the slope of the tanh GELU, in x and c."""
    return sp.diff(_x * (1 + sp.tanh(_argument(_x, _c, CUBIC))) / 2, _x, 1 + order)


def _as_interval_function(expression: sp.Expr) -> enclosure.IntervalFunction:
    """Evaluate an expression in x, c and tanh(u(x)) by intervals; tanh as 1 - 2/(exp(2u) + 1)."""
    squash = sp.Symbol("h")
    (tanh,) = expression.atoms(sp.tanh)
    numerator, denominator = sp.fraction(sp.together(expression.subs(tanh, squash)))
    require(denominator.is_Integer, "the slope is no polynomial in x, c and tanh(u)")
    terms = sp.lambdify((_x, squash, _c), sp.horner(sp.expand(numerator), wrt=squash))

    def evaluate(x: Any) -> Any:
        c = iv.sqrt(2 / iv.pi)
        u = _argument(x, c, iv.mpf(int(CUBIC.p)) / int(CUBIC.q))
        return terms(x, 1 - 2 / (iv.exp(2 * u) + 1), c) / int(denominator)

    return evaluate


def gelu_tanh() -> tuple[sp.Interval, str]:
    """Enclose the slope's supremum over all reals: symmetry, a tail bound, then intervals."""
    slope, derivative, curvature = (_tanh_slope(order) for order in range(3))
    require(is_zero(slope + slope.subs(_x, -_x) - 1), "slope(x) + slope(-x) is not 1")
    edge = sp.Integer(4)
    beyond = _tail_bound(edge)
    near_two = (sp.Rational(13, 10), sp.Rational(31, 20))
    supremum = enclosure.enclose_unimodal_maximum(
        _as_interval_function(slope),
        _as_interval_function(derivative),
        _as_interval_function(curvature),
        (sp.Integer(0), edge),
        near_two,
    )
    require(beyond < supremum.start, "the slope may be larger beyond the compact interval")
    # On x <= 0 the slope is 1 - slope(-x) <= 1/2, since slope >= 1/2 on x >= 0 term by term, and
    # it is >= 1 - sup: so its absolute value stays below the supremum as well.
    require(supremum.start > 1, "the supremum does not exceed the limit 1")
    digits = sp.N(supremum.start, 18)
    return supremum, f"sup = {digits} in a 1e-{len(str(enclosure.WIDTH.q)) - 1} bracket of x"


def _tail_bound(edge: sp.Integer) -> sp.Expr:
    """Bound the slope for x >= edge by its first term plus the sech^2 term at the edge.

    There sech(u)^2 <= 4 exp(-2u), so slope <= 1 + 2 x u' exp(-2u); the second term decreases,
    because x u'/2 has logarithmic derivative <= 3/x while exp(-2u) has <= -2c.
    """
    c = sp.sqrt(2 / sp.pi)
    x = sp.Symbol("x", positive=True)
    u = _argument(x, c, CUBIC)
    growth = sp.diff(sp.log(x * sp.diff(u, x)), x)
    require(sp.simplify(3 / x - growth).is_positive, "x u' grows faster than x^3")
    require(3 / edge < 2 * c, "the tail term does not yet decrease at the edge")
    require(sp.simplify(sp.diff(u, x) - c).is_positive, "u' is below c")
    return 1 + (2 * x * sp.diff(u, x) * sp.exp(-2 * u)).subs(x, edge)


ENTRIES = (
    Entry(
        name="l_phi_gelu",
        symbol=r"L_\phi",
        claim=(1 + sp.erf(1)) / 2 + sp.exp(-1) / sp.sqrt(sp.pi),
        source=Provenance.EARLIER,
        statement="Lipschitz constant of the GELU, attained at x = sqrt 2.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=gelu,
        constant="L_PHI_GELU",
    ),
    Entry(
        name="l_phi_scripts",
        symbol=r"L_\phi^{\mathrm{scripts}}",
        claim=sp.Rational(113, 100),
        source=Provenance.SCRIPTS,
        statement="The GELU's Lipschitz constant, rounded up to two decimals.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=scripts_rounding,
        depends_on=("l_phi_gelu",),
        constant="L_PHI_SCRIPTS",
    ),
    Entry(
        name="l_phi_gelu_tanh",
        symbol=r"L_\phi^{\tanh}",
        claim=sp.Rational(1128993068658772, 10**15),
        source=Provenance.DERIVED,
        statement="Upper bound of the Lipschitz constant of the GELU's tanh form over all reals.",
        derived_in=_CHAPTER,
        method=Method.ENCLOSURE,
        derive=gelu_tanh,
        constant="L_PHI_GELU_TANH",
    ),
)
