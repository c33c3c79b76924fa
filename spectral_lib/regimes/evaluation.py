r"""The SymPy expressions in numbers: arrays in, natural logs out.

A sum of powers :math:`\sum_{j \le N} j^{-b}` is summed, never approximated by its integral.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from spectral_lib.errors import DomainError
from spectral_lib.ledger.symbols import F, L, N, p, q, r, s
from spectral_lib.regimes.symbolic import (
    MEMBERS,
    Bound,
    Regime,
    a,
    combination,
    leading,
    quantities,
    reach,
)

FloatArray = NDArray[np.float64]

#: The arguments of a leading form at alpha = 1, by name.
SYMBOLS = {"L": L, "N": N, "q": q, "r": r, "s": s, "F": F, "a": a, "p": p}
#: Terms that are added one by one; beyond, Euler's and Maclaurin's formula is exact to rounding.
_SUMMED = 4096


def power_sum(count: ArrayLike, exponent: ArrayLike = 1.0) -> FloatArray:
    r"""Return :math:`\sum_{j \le N} j^{-b}`, for arrays N >= 1 and b; N need not be an integer."""
    return np.asarray(_power_sum(count, exponent), dtype=np.float64)


@np.vectorize(otypes=[float])
def _power_sum(count: float, exponent: float) -> float:
    head = int(min(count, _SUMMED))
    total = float(np.sum(np.arange(1.0, head + 1.0) ** -exponent))
    if count <= head:
        return total
    log_ratio = np.log(count / head)
    gap = 1.0 - exponent
    area = log_ratio if gap == 0 else np.expm1(gap * log_ratio) / gap
    first, last = head**-exponent, count**-exponent
    tail = head**gap * area + (last - first) / 2.0
    return float(total + tail - exponent * (last / count - first / head) / 12.0)


@cache
def _compiled(expression: sp.Expr) -> tuple[tuple[str, ...], Callable[..., Any]]:
    names = tuple(name for name, symbol in SYMBOLS.items() if expression.has(symbol))
    logarithm = sp.expand_log(sp.log(expression), force=True)
    modules = [{"harmonic": power_sum}, "numpy"]
    return names, sp.lambdify([SYMBOLS[name] for name in names], logarithm, modules=modules)


def log_of(expression: sp.Expr, **values: ArrayLike) -> FloatArray:
    """Return the natural log of a positive expression at the given values, broadcast.

    Raises
    ------
    DomainError
        A symbol of the expression without a value, or a value that is not positive.
    """
    names, function = _compiled(expression)
    missing = [name for name in names if values.get(name) is None]
    if missing:
        raise DomainError(f"the expression needs {', '.join(missing)}; got {sorted(values)}")
    arrays = {name: np.asarray(values[name], dtype=np.float64) for name in names}
    for name, array in arrays.items():
        if not np.all((array > 0) | ((name == "p") & (array == 0))):
            raise DomainError(f"{name} must be > 0, got {array.min()}")
    shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
    return np.broadcast_to(np.asarray(function(**arrays), dtype=np.float64), shape).copy()


def log_layers(log_ratio: ArrayLike, depth: ArrayLike) -> FloatArray:
    r"""Return :math:`\log \sum_{l \le L} g^{L-l} = \log \frac{g^L - 1}{g - 1}` from log g."""
    log_ratio, depth = np.broadcast_arrays(
        np.asarray(log_ratio, dtype=np.float64), np.asarray(depth, dtype=np.float64)
    )
    size = np.abs(log_ratio)
    flat = size == 0
    safe = np.where(flat, 1.0, size)
    # Written for g >= 1; for g < 1 the sum is g^(L-1) times the one for 1/g.
    grown = (depth - 1.0) * safe + np.log(np.expm1(-depth * safe) / np.expm1(-safe))
    grown = np.where(log_ratio < 0, grown + (depth - 1.0) * log_ratio, grown)
    return np.asarray(np.where(flat, np.log(depth), grown), dtype=np.float64)


def log_leading(
    bound: Bound, regime: Regime, *, lam: ArrayLike = 1.0, **values: ArrayLike
) -> FloatArray:
    r"""Return the log of a leading form, :math:`\alpha^{(l)} = \lambda^{L-l}`.

    Parameters
    ----------
    bound, regime
        Which.
    lam
        lambda > 0; 1 is allowed.
    values
        ``L, N`` and what the regime has of ``r, s, F, a, p``; ``q`` is N if not given.
    """
    if bound is Bound.MINIMUM:
        return np.minimum(*(log_leading(member, regime, lam=lam, **values) for member in MEMBERS))
    values = {"q": values["N"], **values}
    equal = log_of(leading(bound, regime, square=False), **values)
    power, of_alpha = float(combination(bound)), reach(bound, regime)
    x = sp.lambdify(p, of_alpha)(np.asarray(values.get("p", 0.0), dtype=np.float64))
    depth = np.asarray(values["L"], dtype=np.float64)
    layers = log_layers(x * power * np.log(lam), depth) - np.log(depth)
    return np.asarray(equal + layers / power, dtype=np.float64)


def class_numbers(regime: Regime, **values: ArrayLike) -> dict[str, float]:
    """Return p, S_p and both mixed norms of a class as numbers, from the ledger's expressions."""
    known = quantities(regime)
    index = values.get("p") if known["p"] == p else float(known["p"])
    found = {"p": float(np.asarray(index))}
    for name in ("S", "norm_21", "norm_11"):
        found[name] = float(np.exp(log_of(known[name], **values)))
    return found
