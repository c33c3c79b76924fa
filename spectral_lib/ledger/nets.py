"""Nets: the volumetric net of a ball and the net of low-rank factors."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import require, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.symbols import B, d, eps, k, r, s
from spectral_lib.notation import Provenance

_CHAPTER = "covering-numbers"
_share = sp.Symbol("theta", positive=True)
_radius = sp.Symbol("h", positive=True)


def volumetric_net() -> tuple[sp.Expr, str]:
    """Compare volumes: disjoint balls of radius rho h / 2 lie in one of radius rho (1 + h/2).

    Their centres are a maximal subset of the ball of radius rho with distances above rho h, hence
    a net inside the ball; the value is the number of centres, to the power 1/dimension.
    """
    rho = sp.Symbol("rho", positive=True)
    ratio = sp.expand((rho + rho * _radius / 2) / (rho * _radius / 2))
    return ratio, f"(volume ratio)^(1/D) = {ratio} for radius h relative to the ball"


def full_rank_net() -> tuple[sp.Expr, str]:
    """Instantiate the volumetric net at ||dW||_2 <= eps / B in the ball ||W||_2 <= s."""
    ratio = volumetric_net()[0].subs(_radius, eps / B / s)
    value = sp.simplify((ratio - 1) * eps / (s * B))
    return value, f"log(1 + {sp.simplify(ratio - 1)}) per entry"


def _factor_net(share: sp.Expr) -> sp.Expr:
    """Return the factor of s B / eps in the net of A B^T at scale share * eps.

    A lies in the ball of radius x, B in that of radius s/x; relative radii h_1, h_2.
    """
    a, a_net, b, b_net = sp.symbols("A A' B B'", commutative=False)
    swaps = (a - a_net) * b + a_net * (b - b_net)
    require(sp.expand(a * b - a_net * b_net - swaps) == 0, "the product does not telescope")
    x, h_1, h_2 = sp.symbols("x h_1 h_2", positive=True)
    # The net of A lies inside its ball, so that A' is bounded like A.
    error = sp.simplify((h_1 * x) * (s / x) + x * (h_2 * s / x))
    require(error.free_symbols == {s, h_1, h_2}, "the split of the norm between factors matters")
    # At a given h_1 + h_2 the equal split is best (d = k): log(1 + 2/h) is convex in h.
    log_net = sp.log(volumetric_net()[0])
    require(sp.factor(sp.diff(log_net, _radius, 2)).is_positive, "log(1 + 2/h) is not convex")
    radius = solve_for(error.subs({h_1: _radius, h_2: _radius}) * B - share * eps, _radius)
    ratio = volumetric_net()[0].subs(_radius, radius)
    return sp.simplify((ratio - 1) * eps / (s * B))


def pure_rank_net() -> tuple[sp.Expr, str]:
    """Spend the whole of eps on the factors."""
    value = _factor_net(sp.Integer(1))
    return value, f"factor {_factor_net(_share)} at share theta; {value} at the whole of eps"


def tail_share() -> tuple[sp.Expr, str]:
    """Give both parts of W the same share of eps: the choice behind 8 and 32."""
    value = solve_for(_share - (1 - _share), _share)
    return value, f"equal shares of two parts: {value} (a choice, not an optimum)"


def low_rank_net() -> tuple[sp.Expr, str]:
    """Spend on the factors what the tail leaves of eps."""
    share = 1 - tail_share()[0]
    value = _factor_net(share)
    return value, f"factor {_factor_net(_share)} at share theta; {value} at theta = {share}"


def low_rank_dimension() -> tuple[sp.Expr, str]:
    """Count the entries of the two factors, d x r and k x r."""
    value = sum(sp.MatrixSymbol(name, rows, r).shape[0] * r for name, rows in (("A", d), ("B", k)))
    return value, f"entries of A and B: {value}"


ENTRIES = (
    Entry(
        name="volumetric_net",
        symbol=r"N(\rho h)^{1/D}",
        claim=1 + 2 / _radius,
        source=Provenance.EARLIER,
        statement="A ball has an internal net of relative radius h with (1 + 2/h)^D points.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=volumetric_net,
    ),
    Entry(
        name="full_rank_net",
        symbol=r"dk \log(1 + 2 s B / \varepsilon)",
        claim=sp.Integer(2),
        source=Provenance.DERIVED,
        statement="Factor of s B / eps in the net of all matrices with ||W||_2 <= s.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=full_rank_net,
        depends_on=("volumetric_net",),
        constant="FULL_RANK_NET",
    ),
    Entry(
        name="pure_rank_net",
        symbol=r"r(d+k) \log(1 + 4 s B / \varepsilon)",
        claim=sp.Integer(4),
        source=Provenance.DERIVED,
        statement="Factor of s B / eps in the net of factors, at the whole of eps.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=pure_rank_net,
        depends_on=("volumetric_net",),
        constant="PURE_RANK_NET",
    ),
    Entry(
        name="tail_share",
        symbol=r"\theta",
        claim=sp.Rational(1, 2),
        source=Provenance.DERIVED,
        statement="Share of eps that goes to the tail of small singular values (a choice).",
        derived_in="theorem-4-1",
        method=Method.PROOF_STEP,
        derive=tail_share,
        constant="TAIL_SHARE",
    ),
    Entry(
        name="low_rank_net",
        symbol=r"r(d+k) \log(1 + 8 s B / \varepsilon)",
        claim=sp.Integer(8),
        source=Provenance.DERIVED,
        statement="Factor of s B / eps in the net of the principal part, at its share of eps.",
        derived_in="theorem-4-1",
        method=Method.PROOF_STEP,
        derive=low_rank_net,
        depends_on=("volumetric_net", "tail_share"),
        constant="LOW_RANK_NET",
    ),
    Entry(
        name="low_rank_dimension",
        symbol=r"\dim\{(A, B)\}",
        claim=r * (d + k),
        source=Provenance.EARLIER,
        statement="Real parameters of the two factors of a matrix of rank r.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=low_rank_dimension,
    ),
)
