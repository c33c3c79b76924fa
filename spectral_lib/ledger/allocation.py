"""The allocation lemma behind both baselines, and Maurey's count."""

from __future__ import annotations

from itertools import product

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import beta, d, eps, k
from spectral_lib.notation import Provenance

_CHAPTER = "baselines"
#: Cost a eps_i^(-2x) of one matrix; tau is the sum over all of them (see allocation_total).
a, x = sp.symbols("a x", positive=True)
_own, _multiplier, _total = sp.symbols("varepsilon_i lambda Tau", positive=True)


def _monomial(expression: sp.Expr) -> sp.Expr:
    logs = sp.expand(sp.expand_log(sp.log(expression), force=True))
    atoms = sorted(logs.atoms(sp.log), key=str)
    return sp.prod(atom.args[0] ** sp.factor(logs.coeff(atom)) for atom in atoms)


def _stationary_share() -> sp.Expr:
    """Solve Lagrange's equation for one share; the cost is convex, the constraint linear."""
    cost = a * _own ** (-2 * x)
    require(sp.simplify(sp.diff(cost, _own, 2)).is_positive, "the cost is not convex")
    # In t = log eps_i both sides of -cost' = lambda beta are monomials.
    t = sp.Symbol("t", real=True)
    slope = sp.expand_log(sp.log(-sp.diff(cost, _own)), force=True)
    equation = slope - sp.log(_multiplier) - sp.log(beta)
    return sp.exp(solve_for(sp.expand(equation.subs(sp.log(_own), t)), t))


def allocation_summand() -> tuple[sp.Expr, str]:
    """Separate the multiplier from what a matrix takes of eps, and from what it costs."""
    share = _stationary_share()
    taken = _monomial(beta * share)
    value = _monomial(taken * (_multiplier / (2 * x)) ** (1 / (2 * x + 1)))
    require(not value.has(_multiplier), "the share does not separate from the multiplier")
    cost = _monomial(a * share ** (-2 * x) / (_multiplier / (2 * x)) ** (2 * x / (2 * x + 1)))
    require(is_zero(sp.log(cost / value)), "share and cost are not proportional to one number")
    return value, f"share beta eps_i and cost a eps_i^(-2x) are both proportional to {value}"


def allocation_value() -> tuple[sp.Expr, str]:
    """Eliminate the multiplier from constraint and cost, given the total of the summands."""
    spread = sp.Symbol("y", positive=True)  # (2 x / lambda)^(1/(2x+1))
    scale = solve_for(spread * _total - eps, spread)
    value = _monomial(_total * scale ** (-2 * x))
    return value, f"least cost {value}, Tau the sum of {allocation_summand()[0]}"


def allocation_inner() -> tuple[sp.Expr, str]:
    """Read the power of R beta in a summand for the cost (R / eps_i)^2, that is x = 1."""
    radius = sp.Symbol("R", positive=True)
    summand = _monomial(allocation_summand()[0].subs({a: radius**2, x: 1}))
    value = sp.simplify(sp.diff(sp.log(summand), radius) * radius)
    require(value == sp.simplify(sp.diff(sp.log(summand), beta) * beta), "R and beta differ")
    return value, f"the summand is (R beta)^({value})"


def allocation_outer() -> tuple[sp.Expr, str]:
    """Read the power of the sum off the square root of the least cost, x = 1."""
    root = sp.sqrt(allocation_value()[0].subs(x, 1))
    value = sp.simplify(sp.diff(sp.log(root), _total) * _total)
    return value, f"sqrt(log N) is {sp.simplify(root)}"


def maurey_signs() -> tuple[sp.Expr, str]:
    """Count the extreme points of the l_1 ball per coordinate, by enumeration.

    A lattice point of the ball is extreme iff it is not the midpoint of two others.
    """
    counts = []
    for dimension in (1, 2, 3):
        points = [v for v in product((-1, 0, 1), repeat=dimension) if sum(abs(e) for e in v) <= 1]
        doubled = {
            tuple(e + f for e, f in zip(v, w, strict=True))
            for v in points
            for w in points
            if v != w
        }
        counts.append(sum(tuple(2 * e for e in v) not in doubled for v in points))
    dimension = sp.Symbol("D", positive=True)
    fitted = sp.interpolate(list(zip((1, 2, 3), counts, strict=True)), dimension)
    value = sp.simplify(fitted / dimension)
    require(value.is_Integer, f"counts {counts} are not proportional to the dimension")
    return value, f"{counts} extreme points in dimensions 1, 2, 3"


def maurey_origin() -> tuple[sp.Expr, str]:
    """Weigh the vertices by |w|/R; the mass that is left over goes to one more point, the origin.

    The variance of the draw then is R ||W||_{1,1} - ||W||_F^2 <= R^2, so that m draws come
    within R / sqrt m in Frobenius norm.
    """
    radius, norm, frobenius = sp.symbols("R w f", nonnegative=True)
    left_over = 1 - norm / radius
    masses = {radius: norm / radius, sp.Integer(0): left_over}  # by the drawn point's norm
    variance = sum(length**2 * mass for length, mass in masses.items()) - frobenius**2
    slack = radius * (radius - norm) + frobenius**2  # >= 0 on the ball
    require(sp.expand(radius**2 - variance - slack) == 0, "the variance exceeds R^2")
    value = sp.Integer(sum(length != radius for length in masses))
    return value, f"{value} further point, of mass {left_over}; variance <= R^2"


def maurey_count() -> tuple[sp.Expr, str]:
    """Count the averages of m draws: multisets of points are no more than sequences."""
    points = maurey_signs()[0] * d * k + maurey_origin()[0]
    extra, index = sp.symbols("v j", nonnegative=True)
    # The number of multisets is the product over j < m of (V + j) / (1 + j), V >= 1 points.
    factor_slack = sp.expand((1 + extra) * (1 + index) - (1 + extra + index))
    require(factor_slack.is_nonnegative, "a factor exceeds the number of points")
    return points, f"at most ({points})^m averages of m draws"


ENTRIES = (
    Entry(
        name="allocation_summand",
        symbol=r"\beta_i \varepsilon_i \propto",
        claim=(a * beta ** (2 * x)) ** (1 / (2 * x + 1)),
        source=Provenance.DERIVED,
        statement="Share of eps, and of the cost, of one matrix at the optimum.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=allocation_summand,
    ),
    Entry(
        name="allocation_value",
        symbol=r"\min \sum a_i \varepsilon_i^{-2x}",
        claim=eps ** (-2 * x) * _total ** (2 * x + 1),
        source=Provenance.DERIVED,
        statement="Least total cost under sum beta_i eps_i = eps; Tau is the summands' sum.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=allocation_value,
        depends_on=("allocation_summand",),
    ),
    Entry(
        name="allocation_inner",
        symbol=r"(R\beta)^{2/3}",
        claim=sp.Rational(2, 3),
        source=Provenance.EARLIER,
        statement="Inner power of the norm-based baselines.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=allocation_inner,
        depends_on=("allocation_summand",),
        constant="ALLOCATION_INNER",
    ),
    Entry(
        name="allocation_outer",
        symbol=r"(\textstyle\sum \cdot)^{3/2}",
        claim=sp.Rational(3, 2),
        source=Provenance.EARLIER,
        statement="Outer power of the norm-based baselines.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=allocation_outer,
        depends_on=("allocation_value",),
        constant="ALLOCATION_OUTER",
    ),
    Entry(
        name="maurey_signs",
        symbol=r"\pm e_i e_j^\top",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="Extreme points of the (1,1)-norm ball per matrix entry.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=maurey_signs,
        constant="MAUREY_SIGNS",
    ),
    Entry(
        name="maurey_origin",
        symbol=r"0",
        claim=sp.Integer(1),
        source=Provenance.EARLIER,
        statement="The origin, drawn with the mass that the norm leaves over.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=maurey_origin,
        constant="MAUREY_ORIGIN",
    ),
    Entry(
        name="maurey_count",
        symbol=r"\log N \le \lceil (RB/\varepsilon)^2 \rceil \log(\cdot)",
        claim=2 * d * k + 1,
        source=Provenance.EARLIER,
        statement="Points that Maurey's draws choose from; averages of m are at most its power m.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=maurey_count,
        depends_on=("maurey_signs", "maurey_origin"),
    ),
)
