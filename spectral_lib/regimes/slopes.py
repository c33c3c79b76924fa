r"""The explicit forms: local slopes against SymPy's log-derivative, logarithms included.

A plain log-log fit of an explicit form does not reach the exponent at any size in use, since
:math:`\Lambda = \log(1 + 8 s B J \beta / D)` grows with the depth. So the slope at a point is
compared with the log-derivative there, and the limit of the log-derivative is the exponent.

L matrices, d = k = q = N, one a layer, covers in operator norm, :math:`K = 4N`, B = b = n = 1.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

from spectral_lib.bounds import Chain, MatrixClasses, OperatorMetric, root_sum_square_form, sum_form
from spectral_lib.errors import DomainError
from spectral_lib.ledger import expressions as form
from spectral_lib.ledger.symbols import B, F, J, K, L, M, N, b, beta, d, k, n, p, q, s
from spectral_lib.regimes.evaluation import SYMBOLS, class_numbers
from spectral_lib.regimes.symbolic import Bound, Regime, growth, lam, quantities

#: The explicit forms that the ledger has.
FORMS = (Bound.SUM, Bound.ROOT_SUM_SQUARE)
#: (sqrt d + sqrt k)^2 at d = k = N.
_SQUARE_WIDTH = 4


@cache
def explicit_form(bound: Bound, regime: Regime) -> sp.Expr:
    """Return the ledger's explicit form for L equal matrices of a regime, alpha = 1.

    The Frobenius class has no spectral norm of its own: s = F, the largest it allows.

    Raises
    ------
    DomainError
        A bound other than the sum and the root-sum-square form.
    """
    if bound not in FORMS:
        raise DomainError(f"explicit forms are those of {', '.join(FORMS)}, got {bound}")
    ledger = form.rademacher_sum if bound is Bound.SUM else form.rademacher_root_sum_square
    known = quantities(regime)
    # No tail at p = 0, and c_p is continuous there: the value is the limit.
    expression = ledger(sp.Integer(0)) if known["p"] == 0 else ledger()
    expression = expression.subs({p: known["p"], M: known["S"]})
    if regime is Regime.FROBENIUS:
        expression = expression.subs(s, F)
    square = {d: N, k: N, q: N, K: _SQUARE_WIDTH * N, J: L, B: 1, beta: 1, b: 1, n: 1}
    return expression.subs(square)


@cache
def log_derivative(bound: Bound, regime: Regime, parameter: sp.Symbol) -> sp.Expr:
    """Return d log(explicit form) / d log(parameter), logarithms included."""
    return parameter * sp.diff(sp.log(explicit_form(bound, regime)), parameter)


def explicit_exponent(bound: Bound, regime: Regime, parameter: sp.Symbol) -> sp.Expr:
    """Return the limit of the log-derivative: the exponent (not for the power law)."""
    if regime is Regime.POWER_LAW:
        raise DomainError("the power law's exponents are those of the cases")
    return sp.simplify(sp.limit(log_derivative(bound, regime, parameter), parameter, sp.oo))


def slope_at(bound: Bound, regime: Regime, parameter: str, **at: float) -> float:
    """Evaluate the log-derivative at a point given by the symbols' names."""
    expression = log_derivative(bound, regime, SYMBOLS[parameter])
    values = {SYMBOLS[name]: value for name, value in at.items()}
    return float(expression.subs(values).evalf())


def log_explicit(bound: Bound, regime: Regime, *, lam: float = 1.0, **at: float) -> float:
    r"""Return the log of the numeric bound :mod:`spectral_lib.bounds` has for the same network.

    Parameters
    ----------
    lam
        :math:`\beta_l = \lambda^{L-l}`.
    at
        ``L, N`` and what the regime has of ``r, s, F, a, p``.
    """
    size, depth = int(at["N"]), int(at["L"])
    found = class_numbers(regime, **{"q": size, "s": at.get("F", 1.0), **at})
    norm = at["F"] if regime is Regime.FROBENIUS else at["s"]
    log_beta = np.arange(depth)[::-1] * np.log(lam)
    classes = MatrixClasses.of(size, size, s=norm, p=found["p"], m=found["S"], log_beta=log_beta)
    whole = sum_form if bound is Bound.SUM else root_sum_square_form
    return whole(classes, OperatorMetric(), Chain(1, 1.0), minimum=False).log


def local_slope(
    bound: Bound, regime: Regime, parameter: str, *, step: float = 0.02, **at: float
) -> float:
    """Return the slope of the numeric bound between two neighbours of a point.

    L and N move by whole numbers, at least one either way.
    """
    x = at[parameter]
    whole = parameter in ("L", "N")
    move = max(1, round(step * x)) if whole else step * x
    ends = (x - move, x + move)
    logs = [log_explicit(bound, regime, **{**at, parameter: end}) for end in ends]
    return float((logs[1] - logs[0]) / np.log(ends[1] / ends[0]))


def rate_fit(
    bound: Bound, regime: Regime, depths: tuple[int, ...], *, lam: float, **at: float
) -> float:
    """Return the slope of the log of the explicit bound against the depth, by least squares."""
    logs = [log_explicit(bound, regime, lam=lam, L=depth, **at) for depth in depths]
    return float(np.polyfit(depths, logs, 1)[0])


@cache
def depth_through_logarithms(bound: Bound) -> tuple[sp.Expr, sp.Expr]:
    r"""Return exponent and factor of the depth at p = 0 for :math:`\lambda > 1`, through the logs.

    At p = 0 alpha enters through :math:`\Lambda_l = \log(1 + c L \lambda^{L-l})` alone. With
    :math:`L - l = v L` SymPy takes :math:`\Lambda_l / L \to v \log\lambda`, so that the sum form
    grows as :math:`L^{3/2} \int_0^1 \sqrt{v \log\lambda}\, dv` and the root-sum-square form as
    :math:`L (\int_0^1 v \log\lambda\, dv)^{1/2}`.

    Returns
    -------
    The exponent, and the integral as the factor of :math:`\sqrt{M (d+k)}`, in lambda.
    """
    if bound not in FORMS:
        raise DomainError(f"explicit forms are those of {', '.join(FORMS)}, got {bound}")
    v, c, more = sp.symbols("v c w", positive=True)
    per_layer = sp.limit(sp.log(1 + c * L * (1 + more) ** (v * L)) / L, L, sp.oo)
    logarithm = per_layer.subs(more, lam - 1)
    power = sp.Rational(1, 2) if bound is Bound.SUM else sp.Integer(1)
    root = 1 if bound is Bound.SUM else 2
    factor = sp.integrate(v**power, (v, 0, 1)) * (logarithm / v) ** power
    whole = (L * (L**power)) ** sp.Rational(1, root)
    return growth(whole, L), sp.simplify(factor ** sp.Rational(1, root))
