"""Peeling: the weights of grid points and levels, and what the grids of norms cost."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.interpolation import p_max
from spectral_lib.ledger.layers import C_QK_h, C_V_h, lambda_a, lambda_b
from spectral_lib.ledger.symbols import C_M, C_QK, C_V, C_in, C_out, L, m
from spectral_lib.notation import Provenance

_CHAPTER = "peeling"
_level = sp.Symbol("k", integer=True, nonnegative=True)
_ratio = sp.Symbol("rho", positive=True)
_WEIGHT = 1 / ((_level + 1) * (_level + 2))


def grid_size() -> tuple[sp.Expr, str]:
    """Count the points 0, 1/m, ..., up to the largest p."""
    value = sp.expand(p_max()[0] / (1 / m) + 1)
    return value, f"{value} points, step 1/m"


def radius_level_mass() -> tuple[sp.Expr, str]:
    """Sum the weights of the levels k = 0, 1, ... by telescoping."""
    top = sp.Symbol("K", integer=True, nonnegative=True)
    primitive = 1 / (_level + 1)
    step = primitive - primitive.subs(_level, _level + 1)
    require(sp.simplify(step - _WEIGHT) == 0, "the weights do not telescope")
    partial = primitive.subs(_level, 0) - primitive.subs(_level, top + 1)
    value = sp.limit(partial, top, sp.oo)
    require(sp.summation(_WEIGHT, (_level, 0, sp.oo)) == value, "the sum is another")
    return value, f"partial sums {partial}, limit {value}"


def peeling_weight() -> tuple[sp.Expr, str]:
    """Divide the grid's share by the number of its points; the sum over all pairs is one."""
    value = _WEIGHT / radius_level_mass()[0] / grid_size()[0]
    total = grid_size()[0] * sp.summation(value, (_level, 0, sp.oo))
    require(sp.simplify(total) == 1, f"the weights sum to {total}")
    return value, "uniform over the grid, telescoping over levels: sums to 1"


def norm_level_mass() -> tuple[sp.Expr, str]:
    """Sum 1/((|k|+1)(|k|+2)) over all integers: both half-lines, level 0 once."""
    value = 2 * radius_level_mass()[0] - _WEIGHT.subs(_level, 0)
    return value, f"2 * {radius_level_mass()[0]} - {_WEIGHT.subs(_level, 0)} = {value}"


def zero_level_mass() -> tuple[sp.Expr, str]:
    """Give the zero matrix, which no level k reaches, the weight of level 0."""
    value = _WEIGHT.subs(_level, 0)
    total = norm_level_mass()[0] + value
    return value, f"{value}, so that all weights of a norm sum to {total}"


def radius_ratio() -> tuple[sp.Expr, str]:
    """Find the ratio of the doubling grid; no budget exceeds the observed value by more.

    On a doubling grid the next step is as long as the way so far, rho^(k+1) - rho^k = rho^k.
    """
    ratio = solve_for((_ratio - 1) - 1, _ratio)
    observed = sp.Symbol("S", positive=True)  # in (rho^(k-1), rho^k], with budget rho^k
    excess = sp.limit(ratio**_level / observed, observed, ratio ** (_level - 1), "+")
    value = sp.simplify(excess)
    return value, f"budget/observed < {value} above M_0, for levels M_0 {ratio}^k (a choice)"


def _degree(layer: sp.Expr, norms: tuple[sp.Symbol, ...]) -> sp.Expr:
    """Return the least power of rho that bounds the growth of lambda when all norms grow by rho."""
    grown = layer.subs({norm: _ratio * norm for norm in norms}, simultaneous=True)
    degree = sp.degree(sp.expand(grown), _ratio)
    excess = sp.Symbol("e", nonnegative=True)
    slack = sp.expand((_ratio**degree * layer - grown).subs(_ratio, 1 + excess))
    require(slack.is_nonnegative, f"lambda grows faster than rho^{degree}")
    return sp.Integer(degree)


def norms_per_layer_a() -> tuple[sp.Expr, str]:
    """Count the norms that multiply in lambda of class A."""
    value = _degree(lambda_a()[0], (C_QK, C_V, C_M))
    return value, f"lambda grows at most by rho^{value} when every norm grows by rho >= 1"


def norms_per_layer_b() -> tuple[sp.Expr, str]:
    """Count the norms that multiply in lambda of class B."""
    value = _degree(lambda_b()[0], (*C_QK_h, *C_V_h, C_in, C_out))
    return value, f"lambda grows at most by rho^{value} when every norm grows by rho >= 1"


def norm_grid_inflation() -> tuple[sp.Expr, str]:
    """Raise 1 + 1/y to the power y = (norms per layer) L; it increases to its limit."""
    y = sp.Symbol("y", positive=True)
    for norms in (norms_per_layer_a()[0], norms_per_layer_b()[0]):
        grid = (1 + 1 / (norms * L)) ** (norms * L)
        require(is_zero(grid.subs(L, y / norms) - (1 + 1 / y) ** y), "not of the form (1+1/y)^y")
    growth = sp.diff(y * sp.log(1 + 1 / y), y)
    require(sp.limit(growth, y, sp.oo) == 0, "the growth rate does not vanish at infinity")
    require(sp.factor(sp.diff(growth, y)).is_negative, "the growth rate does not decrease to 0")
    value = sp.limit((1 + 1 / y) ** y, y, sp.oo)
    return value, f"(1 + 1/y)^y increases to {value}, y = 3L or 4L"


ENTRIES = (
    Entry(
        name="grid_size",
        symbol=r"|P_m|",
        claim=2 * m + 1,
        source=Provenance.SCRIPTS,
        statement="Number of exponents on the grid {0, 1/m, ..., 2}.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=grid_size,
        depends_on=("p_max",),
    ),
    Entry(
        name="radius_level_mass",
        symbol=r"\sum_{k \ge 0} \frac{1}{(k+1)(k+2)}",
        claim=sp.Integer(1),
        source=Provenance.DERIVED,
        statement="Total weight of the levels of a radius.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=radius_level_mass,
        constant="RADIUS_LEVEL_MASS",
    ),
    Entry(
        name="peeling_weight",
        symbol=r"w(p, k)",
        claim=1 / ((2 * m + 1) * (_level + 1) * (_level + 2)),
        source=Provenance.DERIVED,
        statement="Weight of an exponent and a level; over all of them the weights sum to one.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=peeling_weight,
        depends_on=("grid_size", "radius_level_mass"),
    ),
    Entry(
        name="norm_level_mass",
        symbol=r"\sum_{k \in \mathbb{Z}} \frac{1}{(|k|+1)(|k|+2)}",
        claim=sp.Rational(3, 2),
        source=Provenance.DERIVED,
        statement="Total of the norms' weights over all integer levels, before normalisation.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=norm_level_mass,
        depends_on=("radius_level_mass",),
        constant="NORM_LEVEL_MASS",
    ),
    Entry(
        name="zero_level_mass",
        symbol=r"w(0)",
        claim=sp.Rational(1, 2),
        source=Provenance.DERIVED,
        statement="Weight of the zero matrix among the levels of a norm, before normalisation.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=zero_level_mass,
        depends_on=("norm_level_mass",),
        constant="ZERO_LEVEL_MASS",
    ),
    Entry(
        name="radius_ratio",
        symbol=r"M / S_p",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="Most that a peeled budget exceeds the observed quantity (a choice: doubling).",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=radius_ratio,
        constant="RADIUS_RATIO",
    ),
    Entry(
        name="norms_per_layer_a",
        symbol=r"\deg_\rho \lambda(\rho C)",
        claim=sp.Integer(3),
        source=Provenance.DERIVED,
        statement="Norms that multiply in a layer of class A.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=norms_per_layer_a,
        depends_on=("lambda_a",),
        constant="NORMS_PER_LAYER_A",
    ),
    Entry(
        name="norms_per_layer_b",
        symbol=r"\deg_\rho \lambda^{\mathrm{B}}(\rho C)",
        claim=sp.Integer(4),
        source=Provenance.DERIVED,
        statement="Norms that multiply in a layer of class B.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=norms_per_layer_b,
        depends_on=("lambda_b",),
        constant="NORMS_PER_LAYER_B",
    ),
    Entry(
        name="norm_grid_inflation",
        symbol=r"\sup_L (1 + \tfrac{1}{3L})^{3L}",
        claim=sp.E,
        source=Provenance.DERIVED,
        statement="Most that gamma alpha grows on the grid of norms, in both classes.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=norm_grid_inflation,
        depends_on=("norms_per_layer_a", "norms_per_layer_b"),
        constant="NORM_GRID_INFLATION",
    ),
)
