"""Gaussian maxima: the tail's expected norm in the sample and in the operator metric."""

from __future__ import annotations

from functools import cache

import sympy as sp

from spectral_lib.ledger.algebra import require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import T, d, k, mu, n
from spectral_lib.notation import Provenance

_CHAPTER = "covering-numbers"
_y = sp.Symbol("y", real=True)
_DENSITY = sp.exp(-(_y**2) / 2) / sp.sqrt(2 * sp.pi)


@cache
def expected_maximum(count: sp.Expr) -> sp.Expr:
    """Minimise (log count + log E exp(lambda X)) / lambda, X sub-Gaussian with variance 1."""
    rate, size = sp.symbols("lambda m", positive=True)
    log_mgf = sp.log(sp.simplify(sp.integrate(sp.exp(rate * _y) * _DENSITY, (_y, -sp.oo, sp.oo))))
    bound = (size + sp.expand_log(log_mgf, force=True)) / rate  # size = log count
    best = solve_for(sp.diff(bound, rate), rate)
    require(sp.diff(bound, rate, 2).subs(rate, best).is_positive, "not a minimum")
    return sp.simplify(bound.subs(rate, best)).subs(size, sp.log(count))


def gaussian_maximum() -> tuple[sp.Expr, str]:
    """Optimise the exponential-moment bound of a maximum."""
    bound = expected_maximum(mu)
    value = sp.simplify(bound**2 / sp.log(mu))
    return value, f"E max <= {bound}"


def row_norm() -> tuple[sp.Expr, str]:
    """Bound E||g|| by the root of E||g||^2 (Jensen), and show that no less holds for large k.

    In k and k + 1 coordinates the means multiply to k (the recursion of the Gamma function). The
    bound itself at k + 1 then bounds the mean at k from below.
    """
    second_moment = k * sp.integrate(_y**2 * _DENSITY, (_y, -sp.oo, sp.oo))
    value = sp.sqrt(second_moment)
    x, power = sp.symbols("x j", positive=True)
    chi = sp.integrate(x ** (power - 1) * sp.exp(-(x**2) / 2), (x, 0, sp.oo))
    mean = chi.subs(power, k + 1) / chi.subs(power, k)
    for dimension in (1, 2, 8):
        below = sp.N(value.subs(k, dimension) - mean.subs(k, dimension), 30)
        require(below > 0, f"E||g|| exceeds sqrt k at k = {dimension}")
    product = sp.gammasimp(mean * mean.subs(k, k + 1))
    share = sp.simplify(product / value.subs(k, k + 1) / value)
    ratio = sp.limit(share, k, sp.oo)
    require(ratio == 1, f"E||g|| / sqrt k is only known to exceed {share}")
    return value, f"(E||g||^2)^(1/2) = {value}; E||g||/sqrt k is at least {share} -> {ratio}"


def row_maximum() -> tuple[sp.Expr, str]:
    """Add the mean of a row's norm and the maximum of mu deviations, each 1-Lipschitz in G."""
    value = (row_norm()[0] + expected_maximum(mu)) ** 2
    return value, f"K = {value}"


def operator_norm() -> tuple[sp.Expr, str]:
    """Compare <u, G v> with <g, u> + <h, v> over unit vectors: Sudakov and Fernique apply.

    With a = <u, u'> and b = <v, v'> the increments' squares are polynomials in a and b.
    """
    a, b = sp.symbols("a b")
    separate = (2 - 2 * a) + (2 - 2 * b)  # |u - u'|^2 + |v - v'|^2
    joint = 2 - 2 * a * b  # |u v^T - u' v'^T|_F^2
    gap = sp.factor(separate - joint)
    require(sp.expand(gap - 2 * (1 - a) * (1 - b)) == 0, f"the increments differ by {gap}")
    value = (row_norm()[0].subs(k, d) + row_norm()[0]) ** 2
    return value, f"increments differ by {gap} >= 0, so E||G||_2 <= sqrt d + sqrt k"


def signed_scores() -> tuple[sp.Expr, str]:
    """Compare the two-sided and the one-sided tail of a Gaussian score."""
    u = sp.Symbol("u", positive=True)
    one = sp.integrate(_DENSITY, (_y, u, sp.oo))
    both = one + sp.integrate(_DENSITY, (_y, -sp.oo, -u))
    value = sp.simplify(both / one)
    return value, f"P(|g| > u) = {value} P(g > u): each score counts with both signs"


def score_maximum() -> tuple[sp.Expr, str]:
    """Take the maximum over the signed scores of T^2 token pairs in n sequences."""
    value = expected_maximum(signed_scores()[0] * n * T**2)
    return value, f"E max |x_t G x_j^T| <= {value}"


ENTRIES = (
    Entry(
        name="gaussian_maximum",
        symbol=r"\sqrt{2 \log\mu}",
        claim=sp.Integer(2),
        source=Provenance.EARLIER,
        statement="E max of mu centred sub-Gaussian variables of variance 1, squared, per log mu.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=gaussian_maximum,
        constant="GAUSSIAN_MAXIMUM",
    ),
    Entry(
        name="row_norm",
        symbol=r"\mathbb{E}\|g\|_2",
        claim=sp.sqrt(k),
        source=Provenance.EARLIER,
        statement="Upper bound of the expected norm of a Gaussian vector with k coordinates.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=row_norm,
    ),
    Entry(
        name="row_maximum",
        symbol="K",
        claim=(sp.sqrt(k) + sp.sqrt(2 * sp.log(mu))) ** 2,
        source=Provenance.DERIVED,
        statement="Squared bound of E max_i ||x_i G|| over mu rows of the unit ball.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=row_maximum,
        depends_on=("row_norm", "gaussian_maximum"),
    ),
    Entry(
        name="operator_norm",
        symbol=r"K_{\mathrm{op}}",
        claim=(sp.sqrt(d) + sp.sqrt(k)) ** 2,
        source=Provenance.DERIVED,
        statement="Squared bound of E||G||_2; with it the cover knows neither n nor T.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=operator_norm,
        depends_on=("row_norm",),
    ),
    Entry(
        name="signed_scores",
        symbol=r"2 n T^2",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="Gaussians per score whose absolute value is maximised.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=signed_scores,
        constant="SIGNED_SCORES",
    ),
    Entry(
        name="score_maximum",
        symbol=r"\sqrt{2 \log(2 n T^2)}",
        claim=sp.sqrt(2 * sp.log(2 * n * T**2)),
        source=Provenance.DERIVED,
        statement="E max |x_t G x_j^T|: the tail's expected norm in the QK metric.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=score_maximum,
        depends_on=("gaussian_maximum", "signed_scores"),
    ),
)
