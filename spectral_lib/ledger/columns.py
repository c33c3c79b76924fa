"""The (2,1)-norm ball: small columns dropped, the others reached by perceptron steps.

Columns of norm at most t are dropped; the norm of a kept one lies in [n t, (n + 1) t] with n >= 1,
and it is reached within e, e^2 proportional to n, in at most ((n + 1) t B / e)^2 steps.
"""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import B, R, eps
from spectral_lib.notation import Provenance

_CHAPTER = "baselines"
_norm, _total, _unit = sp.symbols("n n_total t", positive=True)
_drop, _steps, _share = sp.symbols("a b theta", positive=True)


def column_steps() -> tuple[sp.Expr, str]:
    """Compare the steps of one kept column with n times what all columns share."""
    error_squared = eps**2 * _norm / _total  # the kept columns' errors add in squares
    steps = ((_norm + 1) * _unit * B) ** 2 / error_squared
    # At the budget R = t n_total the steps of all columns are (R B / eps)^2 times a mean of this.
    excess = sp.factor(steps / (_norm / _total) / (_total * _unit * B / eps) ** 2)
    require(sp.simplify(-sp.diff(excess, _norm)).is_positive, "the excess does not fall with n")
    value = excess.subs(_norm, 1)
    return value, f"steps <= (R B / eps)^2 times the mean of {excess} <= {value}, as n >= 1"


def dropped_price() -> tuple[sp.Expr, str]:
    """Count the choices of the n of all columns by the threshold that error eps allows.

    The dropped columns have sum of squares at most t R, hence move x W by at most B sqrt(t R);
    the n of the others sum to at most R / t.
    """
    threshold = solve_for(B * sp.sqrt(_unit * R) - eps, _unit)
    value = sp.simplify(R / threshold)
    return value, f"t = {threshold}: at most (k + 1)^({value}) choices"


def column_price() -> tuple[sp.Expr, str]:
    """Split eps^2 between dropped and kept columns, whose errors are orthogonal."""
    cost = _drop / _share + _steps / (1 - _share)
    slope = sp.factor(sp.together(sp.diff(cost, _share)))
    best = sp.sqrt(_drop) / (sp.sqrt(_drop) + sp.sqrt(_steps))
    require(is_zero(sp.simplify(slope.subs(_share, best))), "the split is not stationary")
    value = sp.factor(sp.simplify(cost.subs(_share, best)))
    return value, f"least of a/theta + b/(1 - theta) is {value}"


ENTRIES = (
    Entry(
        name="column_steps",
        symbol=r"\sup_{n \ge 1} (n+1)^2 / n^2",
        claim=sp.Integer(4),
        source=Provenance.DERIVED,
        statement="Factor of (R B / eps)^2 in the steps that reach the kept columns.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=column_steps,
        constant="COLUMN_STEPS",
    ),
    Entry(
        name="dropped_price",
        symbol=r"R / t",
        claim=(R * B / eps) ** 2,
        source=Provenance.DERIVED,
        statement="Units that the kept columns' norms share, at error eps for the dropped ones.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dropped_price,
    ),
    Entry(
        name="column_price",
        symbol=r"\min_\theta a/\theta + b/(1-\theta)",
        claim=(sp.sqrt(_drop) + sp.sqrt(_steps)) ** 2,
        source=Provenance.DERIVED,
        statement="Price of the (2,1)-norm ball: a counts the kept norms, b the steps.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=column_price,
    ),
)
