"""How the lemma tests speak: which statement they guard, and how near to equality it comes.

A single step of a proof is tested at an input built to make it tight. The test then runs twice:
with the constant of the step, where the inequality must hold, and with the constant scaled by the
stated factor, where it must fail. A composite bound is tested for the inequality alone, and the
ratio of measured to bounded is recorded in the report.
"""

import math

import pytest

#: Rounding allowed to a measured quantity, relative.
ROUNDING = 1e-9
#: Phi(1), the standard normal distribution function at 1.
CDF_AT_ONE = 0.5 * (1 + math.erf(1 / math.sqrt(2)))
#: sup of the GELU's derivative on [-1, 1], attained at 1: Phi(1) + pdf(1).
GELU_SLOPE_ON_BALL = CDF_AT_ONE + math.exp(-0.5) / math.sqrt(2 * math.pi)


def statement(label: str) -> pytest.MarkDecorator:
    """Mark a test with the label of the statement of the book that it guards."""
    return pytest.mark.statement(label)


def perturbed(factor: float) -> pytest.MarkDecorator:
    """Run a test with its constant as it is, then scaled by a factor at which it must fail."""
    return pytest.mark.parametrize(
        ("scale", "holds"),
        [pytest.param(1.0, True, id="as stated"), pytest.param(factor, False, id=f"x {factor}")],
    )


def at_most(measured: float, bound: float) -> bool:
    """Whether measured <= bound up to rounding."""
    return bool(measured <= bound + ROUNDING * abs(bound))
