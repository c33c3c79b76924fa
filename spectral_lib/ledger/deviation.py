"""From Rademacher averages to the gap: symmetrisation, centring, confidence, certificate."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import b, delta, eps, n
from spectral_lib.notation import Provenance

_CHAPTER = "entropy-to-generalization"


def centered_range() -> tuple[sp.Expr, str]:
    """Choose the centre c of a loss in [0, b] so that max(c, b - c) is least."""
    c = sp.Symbol("c", nonnegative=True)
    centre = solve_for(c - (b - c), c)
    # max(c, b - c) is at least the mean of its arguments, and equals it at this centre.
    mean = sp.expand((c + (b - c)) / 2)
    require(mean == centre, "the centre does not attain the mean")
    value = centre / b
    return value, f"D = {centre} at the centre {centre}, no centre does better"


def symmetrization() -> tuple[sp.Expr, str]:
    """Bound the gap by two Rademacher averages; attain the two by the class of all sets.

    One uniform draw from m atoms: the set of all other atoms has gap 1 - 1/m, while the
    Rademacher average is E max(sign, 0) = 1/2.
    """
    sample, ghost, sign = sp.symbols("f(x) f(x') epsilon")
    swapped = sp.expand(sign * (ghost - sample))
    copies = sum(abs(swapped.coeff(value).coeff(sign)) for value in (sample, ghost))
    atoms = sp.Symbol("m", positive=True)
    average = sum(sp.Max(s, 0) for s in (-1, 1)) / sp.Integer(2)
    attained = sp.limit((1 - 1 / atoms) / average, atoms, sp.oo)
    require(copies == attained, f"{copies} copies, but the free class attains {attained}")
    return attained, f"{copies} copies of the average; the class of all sets attains {attained}"


def bounded_differences() -> tuple[sp.Expr, str]:
    """Integrate the largest variance twice (Hoeffding's lemma), then apply Chernoff and solve."""
    chance, rate, top, deviation = sp.symbols("pi lambda t u", positive=True)
    variance = sp.maximum(chance * (1 - chance), chance, sp.Interval(0, 1))
    step = b / n  # one sample moves the average by at most b/n
    inner = sp.integrate(variance * step**2, (top, 0, top))
    log_mgf = n * sp.integrate(inner, (top, 0, rate))
    exponent = log_mgf - rate * deviation
    best = solve_for(sp.diff(exponent, rate), rate)
    require(sp.diff(exponent, rate, 2).is_positive, "Chernoff's exponent is not convex")
    cost = sp.Symbol("c", positive=True)  # log(1/delta)
    bound = solve_for(exponent.subs(rate, best) + cost, deviation)
    value = sp.simplify(b**2 * cost / (n * bound**2))
    return value, f"deviation {bound.subs(cost, sp.log(1 / delta))}"


def certificate_slack() -> tuple[sp.Expr, str]:
    """Replace a function by its cover element in the risk and in the empirical risk."""
    risk, empirical = sp.symbols("R r")
    worst = (risk + eps) - (empirical - eps)
    value = sp.simplify((worst - (risk - empirical)) / eps)
    return value, f"gap <= gap of the cover element + {value} eps"


ENTRIES = (
    Entry(
        name="centered_range",
        symbol="D / b",
        claim=sp.Rational(1, 2),
        source=Provenance.DERIVED,
        statement="Half-range of a loss in [0, b], centred at b/2.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=centered_range,
        constant="CENTERED_RANGE",
    ),
    Entry(
        name="symmetrization",
        symbol=r"\mathbb{E}\sup(\mathbb{E} f - \mathbb{E}_n f) / R_n",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="Expected gap per Rademacher complexity; no smaller factor holds.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=symmetrization,
        constant="SYMMETRIZATION",
    ),
    Entry(
        name="bounded_differences",
        symbol=r"b \sqrt{\log(1/\delta) / (2n)}",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="Denominator of the confidence term, from McDiarmid's inequality.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=bounded_differences,
        constant="BOUNDED_DIFFERENCES",
    ),
    Entry(
        name="certificate_slack",
        symbol=r"2 \varepsilon",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="What the fixed finite cover costs in the direct certificate.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=certificate_slack,
        constant="CERTIFICATE_SLACK",
    ),
)
