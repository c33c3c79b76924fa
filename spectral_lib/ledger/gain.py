"""What the interpolation buys: exponents, the geometric mean, Q_p, the truncation profile."""

from __future__ import annotations

import sympy as sp

from spectral_lib.ledger.algebra import is_zero, require, same, solve_for
from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.interpolation import balance, principal_rank, tail_energy
from spectral_lib.ledger.symbols import A, B, Lam, M, N, V, d, eps, k, p, q, tau
from spectral_lib.notation import Provenance

_CHAPTER = "interpolation-gain"
_gain = sp.Symbol("x", positive=True)  # a factor by which N or B/eps grows
_t = sp.Symbol("t", positive=True)


def split_costs() -> tuple[sp.Expr, sp.Expr]:
    r"""Return a and b of the split's cost :math:`a \tau^{-p} + b \tau^2`, in Lambda and V.

    Each singular value above tau costs (d + k) Lambda. At most q = min(d, k) lie below, each of
    energy at most tau^2, and energy costs V.
    """
    principal = principal_rank()[0] * (d + k) * Lam
    return sp.simplify(principal * tau**p), q * V


def closed_entropy() -> tuple[sp.Expr, str]:
    """Insert the costs of the split into the balance."""
    principal, tail = split_costs()
    value = balance()[0] * principal ** (2 / (p + 2)) * tail ** (p / (p + 2))
    return value, f"c_p a^(2/(p+2)) b^(p/(p+2)), a = {principal}, b = {tail}"


def _growth(expression: sp.Expr, parameter: sp.Symbol) -> sp.Expr:
    """Return the exponent of a parameter: d log(expression) / d log(parameter)."""
    slope = sp.diff(sp.expand_log(sp.log(expression), force=True), parameter) * parameter
    return sp.factor(sp.simplify(slope))


def entropy_exponents() -> tuple[sp.Tuple, str]:
    """Read the powers of M, B/eps and N off the closed form at d = k = q = N, K = 4 N."""
    tail_cost = 32 * (B / eps) ** 2 * 4 * N  # the exponents do not see the numbers
    square = {d: N, k: N, q: N, V: tail_cost}
    form = closed_entropy()[0].subs(square, simultaneous=True)
    value = sp.Tuple(*(_growth(form, x) for x in (M, B, N)))
    require(is_zero(_growth(form, eps) + value[1]), "eps and B do not enter as B/eps")
    return value, f"of M, B/eps, N: {value}"


def leading_exponents() -> tuple[sp.Tuple, str]:
    """Halve the entropy's exponents, as its square root enters Dudley's integral."""
    value = sp.Tuple(*(sp.factor(x / 2) for x in entropy_exponents()[0]))
    return value, f"of S_p, gamma alpha L, N: {value}"


def depth_exponents() -> tuple[sp.Tuple, str]:
    """Let J equal matrices, scale proportional to J, enter the sum and the root of squares."""
    power = leading_exponents()[0][1]
    term = A**power
    scaled = term.subs(A, _gain * A) / term
    value = sp.Tuple(
        *(sp.simplify(_growth(form, _gain)) for form in (_gain * scaled, sp.sqrt(_gain) * scaled))
    )
    return value, f"sum form, root-sum-square form: {value}"


def q_p() -> tuple[sp.Expr, str]:
    """Cut where one more singular value costs the same in either part.

    There r values above and the energy below cost, for any spectrum within the budget M,
    at most (d + k) Lambda (r + (M - r tau^p) tau^-p), in which r cancels.
    """
    cut = solve_for((d + k) * Lam - V * tau**2, tau)
    r = sp.Symbol("r", nonnegative=True)
    energy = tail_energy()[0].subs(M, M - r * tau**p)
    total = sp.expand((d + k) * Lam * r + V * energy).subs(tau, cut)
    require(is_zero(sp.diff(total, r)), "the cost depends on how many values lie above the cut")
    value = _as_monomial(total.subs(r, 0))
    return value, f"at tau = {cut} every split costs at most {value}"


def _as_monomial(expression: sp.Expr) -> sp.Expr:
    logs = sp.expand_log(sp.log(sp.factor(expression)), force=True)
    return sp.exp(sp.simplify(sp.collect(sp.expand(logs), sp.log(V), sp.simplify)))


def geometric_mean() -> tuple[sp.Expr, str]:
    """Divide the balanced entropy by c_p and by the power of Q_p: what is left is full rank."""
    form = closed_entropy()[0] / balance()[0]
    weight = 2 / (p + 2)
    rest = sp.log(form) - weight * sp.log(q_p()[0])
    rest = sp.simplify(sp.expand_log(rest, force=True) / (1 - weight))
    value = sp.exp(sp.logcombine(rest, force=True))
    require(same(value, q * (d + k) * Lam), f"the rest is {value}")
    return value, f"closed form / c_p = Q_p^(2/(p+2)) ({value})^(p/(p+2))"


def truncation() -> tuple[sp.Tuple, str]:
    """Compare min(1, t^2) with t^p on both sides of t = 1, for every p in [0, 2]."""
    exponents = [sp.simplify(sp.expand_log(sp.log(x)) / sp.log(_t)) for x in (_t**p / _t**2, _t**p)]
    value = sp.Tuple(*exponents)
    for exponent, sign in zip(exponents, (-1, 1), strict=True):
        # log t is <= 0 below 1 and >= 0 above; an affine exponent keeps its sign on [0, 2].
        ends = [sign * exponent.subs(p, end) for end in (0, 2)]
        require(sp.degree(exponent, p) == 1 and min(ends) >= 0, f"exponent {exponent}")
    return value, f"t^p/t^2 = t^({value[0]}) >= 1 below 1, t^p = t^({value[1]}) >= 1 above"


_x = p / (p + 2)
ENTRIES = (
    Entry(
        name="closed_entropy",
        symbol=r"\log N - \log 2",
        claim=((p / 2) ** (-_x) + (p / 2) ** (2 / (p + 2)))
        * (M * (d + k) * Lam) ** (2 / (p + 2))
        * (q * V) ** _x,
        source=Provenance.DERIVED,
        statement="Theorem 4.1 in closed form, with V the cost of the tail's energy.",
        derived_in="theorem-4-1",
        method=Method.PROOF_STEP,
        derive=closed_entropy,
        depends_on=("balance", "principal_rank"),
    ),
    Entry(
        name="entropy_exponents",
        symbol=r"M^{\cdot} (B/\varepsilon)^{\cdot} N^{\cdot}",
        claim=sp.Tuple(2 / (p + 2), 2 * p / (p + 2), 2 * (p + 1) / (p + 2)),
        source=Provenance.PAPER,
        statement="Powers of M, B/eps and N in Theorem 4.1.",
        derived_in="theorem-4-1",
        method=Method.EXACT,
        derive=entropy_exponents,
        depends_on=("closed_entropy",),
    ),
    Entry(
        name="leading_exponents",
        symbol=r"S_p^{\cdot} (\gamma\alpha L)^{\cdot} N^{\cdot}",
        claim=sp.Tuple(1 / (p + 2), p / (p + 2), (p + 1) / (p + 2)),
        source=Provenance.PAPER,
        statement="Powers of S_p, gamma alpha L and N in Theorem 3.1.",
        derived_in="theorem-3-1",
        method=Method.EXACT,
        derive=leading_exponents,
        depends_on=("entropy_exponents",),
    ),
    Entry(
        name="depth_exponents",
        symbol=r"L^{\cdot}",
        claim=sp.Tuple(1 + _x, sp.Rational(1, 2) + _x),
        source=Provenance.DERIVED,
        statement="Powers of the depth at alpha = 1: sum form and root-sum-square form.",
        derived_in="theorem-3-1",
        method=Method.EXACT,
        derive=depth_exponents,
        depends_on=("leading_exponents",),
    ),
    Entry(
        name="q_p",
        symbol=r"Q_p",
        claim=M * ((d + k) * Lam) ** (1 - p / 2) * V ** (p / 2),
        source=Provenance.DERIVED,
        statement="Entropy of the split at tau^2 = (d + k) Lambda / V, for any spectrum.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=q_p,
        depends_on=("tail_energy",),
    ),
    Entry(
        name="geometric_mean",
        symbol=r"q (d+k) \Lambda",
        claim=q * (d + k) * Lam,
        source=Provenance.DERIVED,
        statement="What Q_p is averaged with in the closed form: the full-rank entropy.",
        derived_in=_CHAPTER,
        method=Method.EXACT,
        derive=geometric_mean,
        depends_on=("closed_entropy", "q_p", "balance"),
    ),
    Entry(
        name="truncation",
        symbol=r"\min(1, t^2) \le t^p",
        claim=sp.Tuple(p - 2, p),
        source=Provenance.DERIVED,
        statement="Exponents of t in t^p/t^2 (t <= 1) and t^p/1 (t >= 1): the profile is <= Q_p.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=truncation,
    ),
)
