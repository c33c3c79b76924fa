r"""Every bound in every regime, as one SymPy expression assembled from the ledger.

A network has L layers with one N x N matrix each, :math:`\gamma = 1`, and
:math:`\alpha^{(l)} = \lambda^{L-l}`. All matrices attain the same class: rank at most r, Frobenius
norm at most F, spectral norm at most s, or the power law :math:`\sigma_j = s j^{-a}`. Leading
forms: no constants, no logarithms, no :math:`+ \sqrt L`, no :math:`1 +`.

Nothing is typed a second time: powers, Schatten quantities and norms are those of
:mod:`spectral_lib.ledger.expressions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache

import sympy as sp

from spectral_lib.ledger import allocation, gain
from spectral_lib.ledger import expressions as form
from spectral_lib.ledger.symbols import (
    B,
    F,
    K,
    L,
    Lam,
    M,
    N,
    R,
    S,
    V,
    alpha,
    d,
    eps,
    k,
    p,
    q,
    s,
)
from spectral_lib.notation import Provenance

#: Decay of a power law, and the growth of the sensitivity from one layer to the one before.
a = sp.Symbol("a", positive=True)
lam = sp.Symbol("lambda", positive=True)


class Regime(StrEnum):
    """What is known of a matrix."""

    RANK = "rank"  #: rank at most r, spectral norm at most s
    FROBENIUS = "frobenius"  #: Frobenius norm at most F
    SPECTRAL = "spectral"  #: spectral norm at most s
    POWER_LAW = "power_law"  #: sigma_j = s j^-a


class Bound(StrEnum):
    """The bounds that are compared; the last is the minimum of the two before it."""

    SUM = "sum"  #: the paper's form: a sum over matrices
    ROOT_SUM_SQUARE = "rss"  #: the root of a sum of squares
    EDELMAN = "edelman"  #: (2,1) norms
    TRAUGER_TEWARI = "trauger_tewari"  #: (1,1) norms
    FULL_RANK = "full_rank"  #: the full-rank entropy alone
    INTERPOLATED = "q_p"  #: the entropy Q_p alone
    MINIMUM = "min"  #: min(full rank, Q_p)


#: The two members of :attr:`Bound.MINIMUM`.
MEMBERS = (Bound.FULL_RANK, Bound.INTERPOLATED)

SOURCE = {
    Bound.SUM: Provenance.PAPER,
    Bound.ROOT_SUM_SQUARE: Provenance.DERIVED,
    Bound.EDELMAN: Provenance.EARLIER,
    Bound.TRAUGER_TEWARI: Provenance.EARLIER,
    Bound.FULL_RANK: Provenance.EARLIER,
    Bound.INTERPOLATED: Provenance.DERIVED,
    Bound.MINIMUM: Provenance.DERIVED,
}


@cache
def quantities(regime: Regime) -> Mapping[str, sp.Expr]:
    r"""Return p, the largest S_p, (2,1) and (1,1) norms of the class, for q = min(d, k).

    The first three are the ledger's. A power law has
    :math:`S_p = s^p \sum_{j \le q} j^{-ap}`, ``harmonic(q, a p)`` in SymPy, with p left free;
    its mixed norms follow from its Frobenius norm as in the other classes.
    """
    classes = form.class_quantities()
    if regime is Regime.SPECTRAL:
        # N in S_0 is the largest rank, in the norms a number of columns: tell them apart.
        frobenius = s * sp.sqrt(q)
        return {"p": classes["spectral"]["p"], "S": q} | _mixed(frobenius)
    if regime is Regime.POWER_LAW:
        frobenius = sp.sqrt(power_law_schatten(sp.Integer(2)))
        return {"p": p, "S": power_law_schatten(p)} | _mixed(frobenius)
    return classes[regime.value]


def power_law_schatten(exponent: sp.Expr) -> sp.Expr:
    r"""Return :math:`S_p = \sum_{j \le q} (s j^{-a})^p`."""
    return s**exponent * sp.harmonic(q, a * exponent)


def _mixed(frobenius: sp.Expr) -> dict[str, sp.Expr]:
    """Return the mixed norms that the ledger derives from a Frobenius norm."""
    classes = form.class_quantities()["frobenius"]
    return {name: classes[name].subs(F, frobenius) for name in ("norm_21", "norm_11")}


@cache
def equal_form(bound: Bound) -> tuple[sp.Expr, sp.Expr]:
    r"""Return the bound for L equal matrices at one alpha, and the power c of its sum.

    Every bound is :math:`(\sum_l t_l^c)^{1/c}`: c = 1, 2, or 2/3 for the norm-based ones.
    """
    root = sp.Integer(2)
    if bound is Bound.SUM:
        return form.leading_sum(), sp.Integer(1)
    if bound is Bound.ROOT_SUM_SQUARE:
        return form.leading_root_sum_square(), root
    if bound in (Bound.EDELMAN, Bound.TRAUGER_TEWARI):
        return form.leading_baseline(), allocation.allocation_inner()[0]
    if bound is Bound.FULL_RANK:
        entropy = gain.geometric_mean()[0]
    elif bound is Bound.INTERPOLATED:
        entropy = form.interpolated_entropy()
    else:
        raise ValueError(f"{bound} is no single form")
    # The paper's leading forms write N for every dimension and drop constants and logarithms;
    # each of the L matrices gets the share 1/(L alpha) of the scale.
    price = _bare_tail_cost().subs({K: N, B: 1, eps: 1 / (L * alpha)})
    at = {V: price, d + k: N, Lam: 1, M: S}
    return sp.powdenest(sp.sqrt(L * entropy.subs(at)), force=True), root


@cache
def _bare_tail_cost() -> sp.Expr:
    """Return the ledger's cost of the tail's energy without its number."""
    cost = form.tail_cost()
    return cost / cost.subs({B: 1, K: 1, eps: 1})


def growth(expression: sp.Expr, parameter: sp.Symbol) -> sp.Expr:
    """Return the log-derivative d log(expression) / d log(parameter), simplified."""
    logarithm = sp.expand_log(sp.log(expression), force=True)
    return sp.simplify(parameter * sp.diff(logarithm, parameter))


def class_value(bound: Bound, regime: Regime) -> dict[sp.Symbol, sp.Expr]:
    """Return what the regime puts in place of S, p and R in the bound."""
    known = quantities(regime)
    norm = known["norm_11" if bound is Bound.TRAUGER_TEWARI else "norm_21"]
    return {S: known["S"], R: norm, p: known["p"]}


def combination(bound: Bound) -> sp.Expr:
    r"""Return the power c in which a bound adds its terms up: :math:`(\sum t^c)^{1/c}`."""
    return equal_form(bound)[1]


@cache
def reach(bound: Bound, regime: Regime) -> sp.Expr:
    """Return the power x of alpha in a bound: p/(p+2), p/2, 0 or 1."""
    return growth(equal_form(bound)[0].subs(p, quantities(regime)["p"]), alpha)


@cache
def leading(
    bound: Bound, regime: Regime, *, geometric: bool = False, square: bool = True
) -> sp.Expr:
    r"""Return the leading form of a bound in a regime.

    Parameters
    ----------
    bound, regime
        Which.
    geometric
        Whether :math:`\alpha^{(l)} = \lambda^{L-l}` (valid for lambda other than 1); otherwise
        alpha = 1.
    square
        Whether the largest rank q is N; otherwise the symbol ``q`` stays.

    Returns
    -------
    An expression in ``L, N, r, s, F, a, p, lambda``: only those that the regime has. The sum over
    layers of :math:`\lambda^{(L-l) x c}` is written in closed form, x being the power of alpha in
    the bound. The minimum is that of the two whole bounds.
    """
    if bound is Bound.MINIMUM:
        return sp.Min(
            *(leading(member, regime, geometric=geometric, square=square) for member in MEMBERS)
        )
    equal, power = equal_form(bound)
    at = class_value(bound, regime)
    equal = equal.subs(p, at.pop(p))
    value = equal.subs(alpha, 1)
    of_alpha = reach(bound, regime)
    if geometric and of_alpha != 0:
        ratio = lam ** (of_alpha * power)
        value *= ((ratio**L - 1) / (ratio - 1) / L) ** (1 / power)
    value = value.subs(at)
    value = value.subs(q, N) if square else value
    return sp.powdenest(sp.powsimp(value, force=True), force=True)


def table() -> list[dict[str, object]]:
    """Return one row for each regime and bound: ``regime``, ``bound``, ``source``, ``form``."""
    return [
        {
            "regime": str(regime),
            "bound": str(bound),
            "source": str(SOURCE[bound]),
            "form": leading(bound, regime),
        }
        for regime in Regime
        for bound in Bound
    ]
