"""Dudley's integral: the constant as a function of the chaining ratio."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.gaussian import expected_maximum
from spectral_lib.notation import Provenance

_CHAPTER = "entropy-to-generalization"
_ratio, _scale, _log_size, _links = sp.symbols("rho varepsilon_j h_j l", positive=True)


def _chain(length: sp.Expr, log_links: sp.Expr) -> sp.Expr:
    """Return the integral's factor: a link of the given length, per width of its scale.

    A maximum over finitely many Rademacher averages is sub-Gaussian like a Gaussian one, because
    (log cosh)'' <= 1; scales decrease by the ratio, so scale j stands over the interval from
    rho eps_j to eps_j, on which the entropy is at least that at eps_j.
    """
    rate = sp.Symbol("lambda", positive=True)
    excess = 1 - sp.diff(sp.log(sp.cosh(rate)), rate, 2) - sp.tanh(rate) ** 2
    require(is_zero(excess), "(log cosh)'' is not 1 - tanh^2")
    width = _scale - _ratio * _scale
    link = expected_maximum(_links).subs(_links, sp.exp(log_links)) * length
    return sp.factor(sp.simplify(link / (sp.sqrt(_log_size) * width)))


def _pairs() -> sp.Expr:
    """Link nets outside the class: all pairs, each at most eps_j + eps_(j-1) long."""
    return _chain(_scale + _scale / _ratio, _log_size + _log_size)


def _tree() -> sp.Expr:
    """Link nets inside the class: each point to its parent, at most eps_(j-1) away."""
    return _chain(_scale / _ratio, _log_size)


def _best(factor: sp.Expr) -> sp.Expr:
    """Return the ratio in (0, 1) that minimises the factor, which is infinite at both ends."""
    ends = [sp.limit(factor, _ratio, 0, "+"), sp.limit(factor, _ratio, 1, "-")]
    require(ends == [sp.oo, sp.oo], f"the factor tends to {ends}")
    inside = [x for x in sp.solve(sp.diff(factor, _ratio), _ratio) if 0 < x < 1]
    require(len(inside) == 1, f"stationary ratios {inside}")
    return inside[0]


def chaining_ratio() -> tuple[sp.Expr, str]:
    """Take the best ratio of the tree chain; the chain of pairs traditionally uses it too."""
    value = _best(_tree())
    return value, f"factor {_tree()} of the tree is least at rho = {value}"


def dudley() -> tuple[sp.Expr, str]:
    """Instantiate the chain of pairs at the ratio 1/2."""
    value = sp.nsimplify(_pairs().subs(_ratio, chaining_ratio()[0]))
    return value, f"factor {_pairs()}; {value} at rho = {chaining_ratio()[0]}"


def dudley_best_ratio() -> tuple[sp.Expr, str]:
    """Minimise the chain of pairs over its ratio."""
    best = _best(_pairs())
    value = sp.radsimp(_pairs().subs(_ratio, best))
    return value, f"at rho = {best}: {value} = {sp.N(value, 6)}"


def dudley_tree() -> tuple[sp.Expr, str]:
    """Minimise the tree chain over its ratio."""
    best = _best(_tree())
    value = sp.simplify(_tree().subs(_ratio, best))
    return value, f"at rho = {best}: {value} = {sp.N(value, 6)}, up to eps_1 = D/2"


def dudley_remainder() -> tuple[sp.Expr, str]:
    """Stop the chain at the last scale whose next is at least a: the one after is below a."""
    ratio = chaining_ratio()[0]
    stop = sp.Symbol("a", positive=True)
    value = solve_for(_scale * ratio**2 - stop, _scale) / stop
    return value, f"eps_m rho^2 < a <= eps_m rho: what is left is below {value} a"


ENTRIES = (
    Entry(
        name="chaining_ratio",
        symbol=r"\rho",
        claim=sp.Rational(1, 2),
        source=Provenance.EARLIER,
        statement="Ratio of successive scales in the chaining.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=chaining_ratio,
        depends_on=("gaussian_maximum",),
        constant="CHAINING_RATIO",
    ),
    Entry(
        name="dudley",
        symbol=r"\frac{12}{\sqrt n} \int_0^D \sqrt{\log N}",
        claim=sp.Integer(12),
        source=Provenance.EARLIER,
        statement="Dudley's constant: chains of pairs, scales halved.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dudley,
        depends_on=("chaining_ratio", "gaussian_maximum"),
        constant="DUDLEY",
    ),
    Entry(
        name="dudley_remainder",
        symbol=r"4 a + \frac{12}{\sqrt n} \int_a^D \sqrt{\log N}",
        claim=sp.Integer(4),
        source=Provenance.EARLIER,
        statement="What a chain leaves that stops at scale a, for entropies that grow as 1/eps^2.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=dudley_remainder,
        depends_on=("chaining_ratio",),
        constant="DUDLEY_REMAINDER",
    ),
    Entry(
        name="dudley_best_ratio",
        symbol=r"\min_\rho \frac{2 (1 + \rho)}{\rho (1 - \rho)}",
        claim=6 + 4 * sp.sqrt(2),
        source=Provenance.DERIVED,
        statement="The same chain at its best ratio, sqrt 2 - 1.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=dudley_best_ratio,
        depends_on=("gaussian_maximum",),
        constant="DUDLEY_BEST_RATIO",
    ),
    Entry(
        name="dudley_tree",
        symbol=r"\min_\rho \frac{\sqrt 2}{\rho (1 - \rho)}",
        claim=4 * sp.sqrt(2),
        source=Provenance.DERIVED,
        statement="Dudley's constant for covers inside the class, integrated up to D/2.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=dudley_tree,
        depends_on=("gaussian_maximum",),
        constant="DUDLEY_TREE",
    ),
)
