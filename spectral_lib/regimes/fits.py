"""Exponents read off measured matrices: log-log fits of the leading forms.

Each matrix attains its class; its singular values and mixed norms are measured and put into the
ledger's form of the bound. Left out: the paper's + sqrt L and the baselines' 1 +, which would bend
the lines at small sizes and change no exponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from spectral_lib.errors import DomainError
from spectral_lib.ledger.symbols import L, N, R, S, alpha, p, q
from spectral_lib.matrices import Spectrum, spectrum_of_dense
from spectral_lib.regimes.constructions import attaining
from spectral_lib.regimes.evaluation import SYMBOLS
from spectral_lib.regimes.symbolic import (
    MEMBERS,
    Bound,
    Regime,
    equal_form,
    growth,
    leading,
    quantities,
)


@dataclass(frozen=True)
class Fit:
    """A straight line through log-log points.

    Attributes
    ----------
    slope
        The exponent that is read off.
    x, log_y
        The points: values of the parameter, logs of the bound.
    deviation
        Largest absolute residual of the line.
    """

    slope: float
    x: tuple[float, ...]
    log_y: tuple[float, ...]
    deviation: float


@lru_cache(maxsize=64)
def attained(regime: Regime, **sizes: float) -> Spectrum:
    """Return the measured spectrum and norms of a regime's construction, kept for the process."""
    whole = {name: int(x) if name in ("N", "r") else float(x) for name, x in sizes.items()}
    return spectrum_of_dense(attaining(regime, **whole))  # type: ignore[arg-type]


def log_log_fit(x: Sequence[float], log_y: Sequence[float]) -> Fit:
    """Fit a line to log y over log x by least squares.

    Raises
    ------
    DomainError
        Fewer than three points, or an x that is not positive.
    """
    points, logs = np.asarray(x, dtype=float), np.asarray(log_y, dtype=float)
    if points.size < 3 or not (points > 0).all():
        raise DomainError(f"a fit needs at least 3 positive values, got {list(x)}")
    slope, intercept = np.polyfit(np.log(points), logs, 1)
    residual = float(np.abs(logs - slope * np.log(points) - intercept).max())
    return Fit(float(slope), tuple(points.tolist()), tuple(logs.tolist()), residual)


def measured_log(
    bound: Bound, spectrum: Spectrum, depth: float, index: float, form: sp.Expr | None = None
) -> float:
    """Return the log of a leading form for L copies of a matrix, from its own spectrum and norms.

    Parameters
    ----------
    bound
        Which; the minimum is that of its members.
    spectrum
        The measured matrix, N x N.
    depth
        L; alpha = 1.
    index
        The Schatten index p (for the norm-based bounds it has no effect).
    form
        An expression in ``L, N, S, R, p`` in place of the ledger's.
    """
    if bound is Bound.MINIMUM and form is None:
        return min(measured_log(member, spectrum, depth, index) for member in MEMBERS)
    expression = equal_form(bound)[0].subs(alpha, 1) if form is None else form
    norm = spectrum.norm_11 if bound is Bound.TRAUGER_TEWARI else spectrum.norm_21
    values = {
        L: depth,
        N: spectrum.shape[0],
        q: min(spectrum.shape),
        S: float(np.exp(spectrum.log_schatten(index))),
        R: float(norm),
        p: index,
    }
    return float(np.log(sp.lambdify(list(values), expression)(*values.values())))


def measured_fit(
    bound: Bound,
    regime: Regime,
    parameter: str,
    values: Sequence[float],
    *,
    form: sp.Expr | None = None,
    p: float | None = None,
    **fixed: float,
) -> Fit:
    """Fit the exponent of a parameter on constructed matrices that attain the class.

    Parameters
    ----------
    bound, regime
        Which.
    parameter, values
        Name (``L, N, r, s, F``) and at least three values; N, r powers of two.
    form
        An expression in ``L, N, S, R, p`` in place of the ledger's.
    p
        Index for the power law; the other regimes have their own.
    fixed
        The other parameters, ``L`` and ``N`` among them.

    Raises
    ------
    DomainError
        A missing parameter, a size that has no construction, or fewer than three values.
    """
    own = quantities(regime)["p"]
    index = float(own) if own.is_number else p
    if index is None:
        raise DomainError("the power law needs a Schatten index p")
    logs = []
    for value in values:
        at = {**fixed, parameter: value}
        depth = at.pop("L")
        logs.append(measured_log(bound, attained(regime, **at), depth, index, form))
    return log_log_fit(values, logs)


def leading_slope(bound: Bound, regime: Regime, parameter: str, **at: float) -> float:
    """Return SymPy's log-derivative of the leading form at a point, sums of powers included."""
    slope = growth(leading(bound, regime), SYMBOLS[parameter])
    return float(slope.subs({SYMBOLS[name]: value for name, value in at.items()}).evalf())
