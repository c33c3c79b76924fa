"""Dual Sudakov: separated points, the Gaussian measure of shifted balls, Markov."""

from __future__ import annotations

from functools import cache

import sympy as sp

from spectral_lib.ledger.algebra import require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.nets import tail_share
from spectral_lib.ledger.symbols import eps
from spectral_lib.notation import Provenance

_CHAPTER = "covering-numbers"
_mean, _median, _shift, _scale = sp.symbols("E Med h lambda", positive=True)
_level = sp.Symbol("theta", positive=True)


@cache
def gaussian_shift() -> tuple[sp.Expr, str]:
    """Compare the Gaussian measure of a symmetric set and of its shift by h, along the shift.

    The density ratio, averaged over y and -y, is exp(-h^2/2) cosh(h y); it is smallest at y = 0,
    and intervals that shrink to 0 attain it.
    """
    y, radius = sp.symbols("y R", positive=True)
    density = sp.exp(-(y**2) / 2) / sp.sqrt(2 * sp.pi)
    ratios = [sp.simplify(density.subs(y, v + _shift) / density.subs(y, v)) for v in (y, -y)]
    average = sum(ratios) / 2
    value = average.subs(y, 0)
    excess = average / value - 2 * sp.sinh(_shift * y / 2) ** 2 - 1
    require(sp.simplify(sp.expand(excess.rewrite(sp.exp))) == 0, "ratio is not cosh(h y)")
    mass = sp.integrate(density, (y, _shift - radius, _shift + radius))
    attained = sp.limit(mass / sp.integrate(density, (y, -radius, radius)), radius, 0)
    require(sp.simplify(attained - value) == 0, f"small intervals attain {attained}")
    return value, f"averaged density ratio {value} cosh(h y) >= {value}, attained as R -> 0"


def _log_size(level: sp.Expr, threshold: sp.Expr) -> sp.Expr:
    """Bound the log of the number of eps-separated points of the unit ball.

    Balls of radius lambda eps / 2 around the points times lambda are disjoint; each has at least
    exp(-lambda^2/2) times the mass ``level`` of the ball of radius ``threshold`` around 0.
    """
    scale = solve_for(_scale * eps / 2 - threshold, _scale)
    least_mass = gaussian_shift()[0].subs(_shift, scale) * level
    return sp.expand_log(-sp.log(least_mass), force=True)


def dual_sudakov_family() -> tuple[sp.Expr, str]:
    """Keep Markov's level theta free: a ball of radius E/(1 - theta) has mass at least theta."""
    radius = sp.Symbol("R", positive=True)
    threshold = solve_for(1 - _mean / radius - _level, radius)
    value = sp.simplify(_log_size(_level, threshold))
    return value, f"log N <= {value} for every theta in (0, 1)"


def markov_level() -> tuple[sp.Expr, str]:
    """Leave half of the mass in the ball, so that its radius also bounds the median."""
    value = solve_for(_level - (1 - _level), _level)
    return value, f"ball and complement share the mass: {value} (a choice, not an optimum)"


def _coefficient(expression: sp.Expr, size: sp.Symbol) -> sp.Expr:
    """Return the factor of size^2 / eps^2."""
    return sp.simplify(sp.diff(expression, size, 2) * eps**2 / 2)


def dual_sudakov_offset() -> tuple[sp.Expr, str]:
    """Read off what remains of the bound when the Gaussian mean vanishes."""
    value = sp.limit(dual_sudakov_family()[0].subs(_level, markov_level()[0]), _mean, 0)
    return sp.expand_log(value), f"-log(theta) = {value} at theta = {markov_level()[0]}"


def dual_sudakov() -> tuple[sp.Expr, str]:
    """Instantiate the family at Markov's level 1/2."""
    free = _coefficient(dual_sudakov_family()[0], _mean)
    value = free.subs(_level, markov_level()[0])
    return value, f"factor {free} of E^2/eps^2; {value} at 1/2, limit {sp.limit(free, _level, 0)}"


def dual_sudakov_median() -> tuple[sp.Expr, str]:
    """Put the ball's radius at the median: mass 1/2 without Markov."""
    value = _coefficient(_log_size(markov_level()[0], _median), _median)
    return value, f"factor {value} of Med^2/eps^2"


def dual_sudakov_tail() -> tuple[sp.Expr, str]:
    """Use dual Sudakov at the tail's share of eps."""
    share = tail_share()[0]
    scaled = dual_sudakov()[0] / eps**2
    value = sp.simplify(scaled.subs(eps, share * eps) * eps**2)
    return value, f"{dual_sudakov()[0]} / ({share})^2 = {value}"


ENTRIES = (
    Entry(
        name="gaussian_shift",
        symbol=r"\gamma(K + h) / \gamma(K)",
        claim=sp.exp(-(_shift**2) / 2),
        source=Provenance.EARLIER,
        statement="Least factor by which a shift of length h shrinks a symmetric set's mass.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=gaussian_shift,
    ),
    Entry(
        name="markov_level",
        symbol=r"\theta",
        claim=sp.Rational(1, 2),
        source=Provenance.EARLIER,
        statement="Gaussian mass that Markov's inequality leaves in the ball (a choice).",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=markov_level,
        constant="MARKOV_LEVEL",
    ),
    Entry(
        name="dual_sudakov_family",
        symbol=r"\log N(\mathbb{B}_2, \varepsilon)",
        claim=-sp.log(_level) + 2 * _mean**2 / (eps**2 * (1 - _level) ** 2),
        source=Provenance.DERIVED,
        statement="Dual Sudakov with Markov's level free: a bound for each theta in (0, 1).",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dual_sudakov_family,
        depends_on=("gaussian_shift",),
    ),
    Entry(
        name="dual_sudakov_offset",
        symbol=r"-\log\theta",
        claim=sp.log(2),
        source=Provenance.EARLIER,
        statement="Additive term of dual Sudakov.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dual_sudakov_offset,
        depends_on=("dual_sudakov_family", "markov_level"),
        constant="DUAL_SUDAKOV_OFFSET",
    ),
    Entry(
        name="dual_sudakov",
        symbol=r"\log 2 + 8 E^2 / \varepsilon^2",
        claim=sp.Integer(8),
        source=Provenance.EARLIER,
        statement="Factor of E^2/eps^2 in dual Sudakov with the Gaussian mean E.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dual_sudakov,
        depends_on=("dual_sudakov_family", "markov_level"),
        constant="DUAL_SUDAKOV",
    ),
    Entry(
        name="dual_sudakov_median",
        symbol=r"\log 2 + 2 \mathrm{Med}^2 / \varepsilon^2",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="Factor of Med^2/eps^2 in dual Sudakov with the Gaussian median.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dual_sudakov_median,
        depends_on=("gaussian_shift", "markov_level"),
        constant="DUAL_SUDAKOV_MEDIAN",
    ),
    Entry(
        name="dual_sudakov_tail",
        symbol=r"\log 2 + 32 R^2 B^2 K / \varepsilon^2",
        claim=sp.Integer(32),
        source=Provenance.DERIVED,
        statement="Dual Sudakov at the tail's share of eps: 32 = 8 * 4.",
        derived_in="theorem-4-1",
        method=Method.PROOF_STEP,
        derive=dual_sudakov_tail,
        depends_on=("dual_sudakov", "tail_share"),
        constant="DUAL_SUDAKOV_TAIL",
    ),
)
