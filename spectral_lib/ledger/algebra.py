"""What the derivations ask of SymPy: identities, unique zeros, and decisions instead of trust."""

from __future__ import annotations

import sympy as sp

from spectral_lib.errors import SpectralLibError


class DerivationError(SpectralLibError):
    """A step of a derivation does not hold."""


def require(condition: object, otherwise: str) -> None:
    """Raise :class:`DerivationError` unless SymPy or Python *decides* that the condition holds."""
    if condition is not True and condition != sp.true:
        raise DerivationError(otherwise)


def same(left: sp.Basic, right: sp.Basic) -> bool:
    """Whether two expressions (or tuples of them) are identical; undecided counts as no."""
    if isinstance(left, sp.Tuple) or isinstance(right, sp.Tuple):
        return (
            isinstance(left, sp.Tuple)
            and isinstance(right, sp.Tuple)
            and len(left) == len(right)
            and all(same(a, b) for a, b in zip(left, right, strict=True))
        )
    if left.is_number and right.is_number and sp.N(left - right, 15, chop=1e-30) != 0:
        return False  # decided without simplifying; equality still has to be proved
    if left == right or is_zero(left - right):
        return True
    return bool(left.is_positive and right.is_positive) and is_zero(sp.log(left / right))


def is_zero(expression: sp.Expr) -> bool:
    """Whether SymPy reduces the expression to zero, logarithms of products expanded."""
    return any(reduce(expression) == 0 for reduce in (sp.expand, sp.simplify, _logs_apart))


def _logs_apart(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.expand_log(sp.expand_log(expression), force=True))


def solve_for(expression: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """Return the only zero of the expression in the unknown, under its assumptions."""
    zeros = sp.solve(expression, unknown)
    require(len(zeros) == 1, f"{len(zeros)} zeros {zeros} where one was expected")
    return zeros[0]
