"""Certified suprema: interval arithmetic with outward rounding, through ``mpmath.iv``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sympy as sp
from mpmath import iv

from spectral_lib.ledger.algebra import require

#: Working precision of the intervals, in decimal digits, and the width asked of the maximiser.
DIGITS = 40
WIDTH = sp.Rational(1, 10**22)

IntervalFunction = Callable[[Any], Any]


@contextmanager
def working_precision() -> Iterator[None]:
    """Compute intervals with :data:`DIGITS` digits; the former precision comes back."""
    former = iv.dps
    iv.dps = DIGITS
    try:
        yield
    finally:
        iv.dps = former


def interval(low: sp.Rational, high: sp.Rational) -> Any:
    """Return an interval that contains [low, high], ends rounded outwards."""
    left = iv.mpf(int(low.p)) / int(low.q)
    right = iv.mpf(int(high.p)) / int(high.q)
    return iv.mpf([left.a, right.b])


def exact_end(end: Any) -> sp.Rational:
    """Return the end of an interval as the exact rational that it is."""
    sign, mantissa, exponent, _ = end._mpi_[0]
    return sp.Rational((-1) ** sign * mantissa) * sp.Rational(2) ** exponent


@working_precision()
def enclose_unimodal_maximum(
    function: IntervalFunction,
    slope: IntervalFunction,
    curvature: IntervalFunction,
    domain: tuple[sp.Rational, sp.Rational],
    peak: tuple[sp.Rational, sp.Rational],
) -> sp.Interval:
    """Enclose the maximum of a function over a compact domain.

    Inside ``peak`` the curvature is certified negative and the slope changes sign, so that its
    only critical point can be bisected to :data:`WIDTH`; outside, every piece is certified to
    stay below the value found there.
    """
    left, right = peak
    _require_below(curvature, left, right, iv.mpf(0))
    require(bool(slope(interval(left, left)).a > 0), "slope is not positive left of the peak")
    require(bool(slope(interval(right, right)).b < 0), "slope is not negative right of the peak")
    while right - left > WIDTH:
        middle = (left + right) / 2
        sign = slope(interval(middle, middle))
        require(bool(sign.a > 0 or sign.b < 0), f"the slope's sign is undecided at {middle}")
        left, right = (middle, right) if sign.a > 0 else (left, middle)
    top = function(interval(left, right))
    for low, high in ((domain[0], peak[0]), (peak[1], domain[1])):
        _require_below(function, low, high, top.a)
    return sp.Interval(exact_end(top.a), exact_end(top.b))


def _require_below(
    function: IntervalFunction, low: sp.Rational, high: sp.Rational, bound: Any
) -> None:
    """Certify function < bound over [low, high], halving where one interval does not decide."""
    pieces = [(low, high)]
    while pieces:
        left, right = pieces.pop()
        if function(interval(left, right)).b < bound:
            continue
        require(right - left > sp.Rational(1, 2**20), f"undecided near {sp.N(left, 8)}")
        middle = (left + right) / 2
        pieces += [(left, middle), (middle, right)]
