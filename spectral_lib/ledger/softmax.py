"""Softmax and attention: both moduli, and the Lipschitz constant of a head."""

from __future__ import annotations

from functools import cache
from itertools import product

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import C_QK, C_V, kappa
from spectral_lib.notation import Provenance

_CHAPTER = "softmax-and-attention"
_TOKENS = 3


@cache
def _jacobian() -> tuple[sp.Matrix, tuple[sp.Symbol, ...]]:
    """Differentiate the softmax; return its Jacobian in terms of the weights s."""
    logits = sp.symbols(f"z:{_TOKENS}", real=True)
    weights = sp.symbols(f"s:{_TOKENS}", positive=True)
    total = sum(sp.exp(z) for z in logits)
    softmax = sp.Matrix([sp.exp(z) / total for z in logits])
    derived = softmax.jacobian(logits)
    expected = sp.diag(*softmax) - softmax * softmax.T
    require(sp.simplify(derived - expected).is_zero_matrix, "Jacobian is not diag(s) - s s^T")
    column = sp.Matrix(weights)
    return sp.diag(*weights) - column * column.T, weights


def _on_simplex(expression: sp.Expr, weights: tuple[sp.Symbol, ...]) -> sp.Expr:
    return sp.expand(expression.subs(weights[-1], 1 - sum(weights[:-1])))


def kappa_edelman() -> tuple[sp.Expr, str]:
    """Bound the inf -> 1 norm of the Jacobian by the sum of its entries' absolute values."""
    jacobian, weights = _jacobian()
    # On the simplex the diagonal is >= 0 and the rest <= 0: absolute values are signs.
    size = range(_TOKENS)
    absolute = sum(jacobian[i, j] * (1 if i == j else -1) for i in size for j in size)
    bound = 2 * (1 - sum(w**2 for w in weights))
    require(_on_simplex(absolute - bound, weights) == 0, "entry sum is not 2 (1 - sum s^2)")
    tokens = sp.Symbol("m", positive=True)
    uniform = tokens * (1 / tokens) * (1 - 1 / tokens) + tokens * (tokens - 1) / tokens**2
    value = sp.limit(uniform, tokens, sp.oo)
    require((value - bound).is_positive, "the limit is no upper bound")
    return value, f"entry sum 2 (1 - sum s_i^2) <= {value}, approached by uniform weights"


def kappa_sharp() -> tuple[sp.Expr, str]:
    """Maximise the 1-norm of J v over the sign vectors v, the extreme points of the cube."""
    a = sp.Symbol("a", nonnegative=True)
    jacobian, weights = _jacobian()
    mean = a - (1 - a)
    norm = a * (1 - mean) + (1 - a) * (1 + mean)
    for signs in product((1, -1), repeat=_TOKENS):
        mass = sum((w for w, v in zip(weights, signs, strict=True) if v > 0), sp.Integer(0))
        image = jacobian * sp.Matrix(signs)
        # J v has the sign of v: its coordinates are s_i (v_i - <s, v>) and |<s, v>| <= 1.
        length = sum(v * y for v, y in zip(signs, image, strict=True))
        require(
            _on_simplex(length - norm.subs(a, mass), weights) == 0,
            f"||J v||_1 differs from 4 a (1 - a) at v = {signs}",
        )
    value = sp.maximum(norm, a, sp.Interval(0, 1))
    return value, f"||J v||_1 = {sp.factor(norm)}, at most {value}, at subset mass 1/2"


def softmax_modulus() -> tuple[sp.Expr, str]:
    """Maximise the l_1 distance over the mass a of the tokens whose logits rise by t."""
    odds, growth, t = sp.symbols("o E t", positive=True)
    # The other logits fall by t, so the odds of the subset grow by E^2 = exp(2 t).
    distance = 2 * (odds * growth**2 / (1 + odds * growth**2) - odds / (1 + odds))
    best = solve_for(sp.numer(sp.together(sp.diff(distance, odds))), odds)
    require(best == 1 / growth, f"stationary odds are {best}")
    curvature = sp.diff(distance, odds, 2).subs({odds: best}).subs(growth, 1 + t)
    require(sp.factor(curvature).is_negative, "the stationary point is not a maximum")
    value = 2 * sp.tanh(t / 2)
    gap = distance.subs(odds, best).subs(growth, sp.exp(t)) - value.rewrite(sp.exp)
    require(is_zero(gap), "maximal distance is not 2 tanh(t/2)")
    slope = sp.limit(value / t, t, 0)
    require(slope == kappa_sharp()[0], "slope at 0 is not the sharp modulus")
    return value, f"largest distance {value}, at odds exp(-t); slope {slope} at t = 0"


def softmax_diameter() -> tuple[sp.Expr, str]:
    """Let the logits part without bound in the global modulus."""
    modulus = softmax_modulus()[0]
    (t,) = modulus.free_symbols
    value = sp.limit(modulus, t, sp.oo)
    return value, f"lim {modulus} = {value}, the l_1 diameter of the simplex"


def score_occurrences() -> tuple[sp.Expr, str]:
    """Count the displacements in a score x W y^T, and attain the count with scalars."""
    x, y, u, v, w = sp.symbols("x y u v W", commutative=False)
    swaps = (u * w * (y + v), x * w * v)
    difference = (x + u) * w * (y + v) - x * w * y
    require(sp.expand(difference - sum(swaps)) == 0, "the score does not telescope")
    step, norm = sp.symbols("delta C", positive=True)
    attained = sp.limit((norm - norm * (1 - step) ** 2) / (norm * step), step, 0)
    require(attained == len(swaps), f"{len(swaps)} swaps, but the scalar score attains {attained}")
    return attained, f"{len(swaps)} swaps of one factor each; C x^2 at x = 1 attains {attained} C"


def head_lipschitz() -> tuple[sp.Expr, str]:
    """Add the two ways in which the input moves the output of a head."""
    moved, fixed, x, y, v = sp.symbols("P Q X Y W_V", commutative=False)
    swaps = (moved * (x - y) * v, (moved - fixed) * y * v)
    require(sp.expand(moved * x * v - fixed * y * v - sum(swaps)) == 0, "head does not telescope")
    values = C_V  # rows of P are convex weights
    weights = kappa * score_occurrences()[0] * C_QK * C_V  # l_1 change of weights, rows of Y <= 1
    return values + weights, f"values {values}, weights {weights}"


_J = r"\operatorname{diag}(s) - s s^\top"
ENTRIES = (
    Entry(
        name="kappa_edelman",
        symbol=r"\kappa",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="The softmax is 2-Lipschitz from l_inf to l_1: entry sum of its Jacobian.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=kappa_edelman,
        constant="KAPPA_EDELMAN",
    ),
    Entry(
        name="kappa_sharp",
        symbol=rf"\|{_J}\|_{{\infty\to1}}",
        claim=sp.Integer(1),
        source=Provenance.DERIVED,
        statement="The softmax is 1-Lipschitz from l_inf to l_1, and no less.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=kappa_sharp,
        constant="KAPPA_SHARP",
    ),
    Entry(
        name="softmax_modulus",
        symbol=r"\sup \|\mathrm{softmax}(z) - \mathrm{softmax}(z')\|_1",
        claim=2 * sp.tanh(sp.Symbol("t", positive=True) / 2),
        source=Provenance.DERIVED,
        statement="The largest l_1 distance of two softmaxes whose logits differ by at most t.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=softmax_modulus,
        depends_on=("kappa_sharp",),
    ),
    Entry(
        name="softmax_diameter",
        symbol=r"\lim_{t\to\infty} 2\tanh(t/2)",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="The softmax modulus saturates at the diameter of the simplex.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=softmax_diameter,
        depends_on=("softmax_modulus",),
        constant="SOFTMAX_DIAMETER",
    ),
    Entry(
        name="score_occurrences",
        symbol=r"|x W y^\top - x' W y'^\top| / (C_{QK}\,\delta)",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="The input enters an attention score twice, as query and as key.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=score_occurrences,
        constant="SCORE_OCCURRENCES",
    ),
    Entry(
        name="head_lipschitz",
        symbol=r"\mathrm{Lip}(A)",
        claim=C_V * (1 + 2 * kappa * C_QK),
        source=Provenance.EARLIER,
        statement="Lipschitz constant of an attention head in its input, in the largest row norm.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=head_lipschitz,
        depends_on=("score_occurrences",),
    ),
)
