"""The forms that the regimes substitute into, as SymPy expressions in the ledger's symbols.

Assembled from derived pieces, so that a regime's exponent rests on the ledger and not on a second
copy of a formula. A class of equal matrices has J members; p > 0 unless a function says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import sympy as sp

from spectral_lib.ledger import allocation, gain, root_sum_square
from spectral_lib.ledger.chaining import dudley
from spectral_lib.ledger.deviation import centered_range
from spectral_lib.ledger.interpolation import balance
from spectral_lib.ledger.nets import full_rank_net, low_rank_net
from spectral_lib.ledger.sudakov import dual_sudakov_offset, dual_sudakov_tail
from spectral_lib.ledger.symbols import (
    A,
    B,
    F,
    J,
    K,
    L,
    M,
    N,
    R,
    S,
    alpha,
    b,
    beta,
    d,
    eps,
    k,
    n,
    p,
    q,
    r,
    s,
)


def c_p() -> sp.Expr:
    r"""Return :math:`c_p = (p/2)^{-p/(p+2)} + (p/2)^{2/(p+2)}`."""
    return balance()[0]


def net_logarithm() -> sp.Expr:
    r"""Return :math:`\Lambda = \log(1 + 8 s B / \varepsilon)`."""
    return sp.log(1 + low_rank_net()[0] * s * B / eps)


def tail_cost() -> sp.Expr:
    r"""Return :math:`V = 32 B^2 K / \varepsilon^2`."""
    return dual_sudakov_tail()[0] * B**2 * K / eps**2


def closed_entropy() -> sp.Expr:
    r"""Return the balanced entropy in Lambda and V, without the log 2.

    :math:`c_p (M (d+k) \Lambda)^{2/(p+2)} (q V)^{p/(p+2)}`.
    """
    return gain.closed_entropy()[0]


def interpolated_entropy() -> sp.Expr:
    r"""Return :math:`Q_p = M ((d+k) \Lambda)^{1-p/2} V^{p/2}`, in Lambda and V."""
    return gain.q_p()[0]


def full_rank_entropy() -> sp.Expr:
    r"""Return :math:`d k \log(1 + 2 s B / \varepsilon)`."""
    return d * k * sp.log(1 + full_rank_net()[0] * s * B / eps)


@cache
def leading_entropy() -> sp.Expr:
    r"""Return the leading form of Theorem 4.1.

    :math:`M^{2/(p+2)} (B/\varepsilon)^{2p/(p+2)} N^{2(p+1)/(p+2)}`.
    """
    of_budget, of_scale, of_size = gain.entropy_exponents()[0]
    return M**of_budget * (B / eps) ** of_scale * N**of_size


@cache
def leading_term() -> sp.Expr:
    r"""Return one matrix's term in Theorem 3.1, :math:`A = \gamma\alpha L`.

    :math:`S_p^{1/(p+2)} A^{p/(p+2)} N^{(p+1)/(p+2)}`.
    """
    of_schatten, of_scale, of_size = gain.leading_exponents()[0]
    return S**of_schatten * A**of_scale * N**of_size


def leading_sum() -> sp.Expr:
    r"""Return the sum of L equal terms at :math:`\gamma = 1`, scale :math:`\alpha L`."""
    return L * leading_term().subs(A, alpha * L)


def leading_root_sum_square() -> sp.Expr:
    r"""Return the root of the sum of L equal squared terms, scale :math:`\alpha L`."""
    return sp.sqrt(L) * leading_term().subs(A, alpha * L)


@cache
def leading_baseline() -> sp.Expr:
    r"""Return the norm-based baselines for L equal matrices of norm R.

    :math:`(\sum (\alpha R)^{2/3})^{3/2}`, R the (2,1) norm (Edelman et al.) or the (1,1) norm
    (Trauger and Tewari).
    """
    summand = (alpha * R) ** allocation.allocation_inner()[0]
    return sp.powdenest((L * summand) ** allocation.allocation_outer()[0], force=True)


@cache
def class_quantities() -> Mapping[str, Mapping[str, sp.Expr]]:
    """Return, for each constraint on an N x N matrix, p and the largest S_p and mixed norms.

    Keys ``rank`` (at most r, spectral norm s), ``frobenius`` (at most F), ``spectral`` (at most
    s); inner keys ``p``, ``S``, ``norm_21``, ``norm_11``. The mixed norms follow from the
    Frobenius norm by Cauchy and Schwarz, over N columns and over N^2 entries.
    """

    def quantities(exponent: int, schatten: sp.Expr, frobenius: sp.Expr) -> dict[str, sp.Expr]:
        return {
            "p": sp.Integer(exponent),
            "S": schatten,
            "norm_21": sp.sqrt(N) * frobenius,
            "norm_11": N * frobenius,
        }

    return {
        "rank": quantities(0, r, s * sp.sqrt(r)),
        "frobenius": quantities(2, F**2, F),
        "spectral": quantities(0, N, s * sp.sqrt(N)),
    }


def _explicit_parts(shift: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return M (d+k) (Lambda + shift) and q V at the scale eps = D / (J beta), D = b/2."""
    scale = centered_range()[0] * b / (J * beta)
    principal = M * (d + k) * (net_logarithm().subs(eps, scale) + shift)
    return principal, q * tail_cost().subs(eps, scale)


def _prefactor() -> sp.Expr:
    return dudley()[0] * centered_range()[0] * b / sp.sqrt(n)


@cache
def rademacher_sum(tails: sp.Expr = J) -> sp.Expr:
    r"""Return the sum form of the bound on :math:`R_n`, J equal matrices, D = b/2.

    .. math::
        \frac{12 D}{\sqrt n} \Big\{ \sqrt{t \log 2} + J \tfrac{p+2}{2} \sqrt{c_p}
        [M (d+k) (\Lambda + \tfrac{p+2}{2})]^{1/(p+2)}
        [\sqrt{32 q K} B J \beta / D]^{p/(p+2)} \Big\},

    with :math:`\Lambda = \log(1 + 8 s B J \beta / D)` and ``tails`` = t matrices that have a
    tail: J for p > 0, and 0 for the limit p -> 0.
    """
    factor = root_sum_square.sum_form_factor()[0]
    principal, tail = _explicit_parts(factor)
    matrix = sp.sqrt(c_p()) * principal ** (1 / (p + 2)) * sp.sqrt(tail) ** (p / (p + 2))
    return _prefactor() * (sp.sqrt(tails * dual_sudakov_offset()[0]) + J * factor * matrix)


@cache
def rademacher_root_sum_square(tails: sp.Expr = J) -> sp.Expr:
    r"""Return the root-sum-square form of the bound on :math:`R_n`, J equal matrices, D = b/2.

    .. math::
        \frac{12 D}{\sqrt{n (1-c)}} \Big\{ J z c_p [M (d+k) (\Lambda + z)]^{2/(p+2)}
        [32 q K (B J \beta / D)^2]^{p/(p+2)} + \frac{t \log 2}{1+c} \Big\}^{1/2},

    where equal matrices have :math:`c = p/(p+2)` and :math:`z = 1/(1-c)`; ``tails`` = t as in
    :func:`rademacher_sum`.
    """
    at_equal = {root_sum_square.x: p / (p + 2), root_sum_square.c: p / (p + 2)}
    weight, z, offset = (
        sp.simplify(piece()[0].subs(at_equal))
        for piece in (
            root_sum_square.weight,
            root_sum_square.root_sum_square,
            root_sum_square.offset,
        )
    )
    principal, tail = _explicit_parts(z)
    matrix = z * c_p() * principal ** (2 / (p + 2)) * tail ** (p / (p + 2))
    total = J * matrix + tails * offset * dual_sudakov_offset()[0]
    return _prefactor() * sp.sqrt(weight * total)
