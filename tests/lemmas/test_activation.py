"""The activation's constants: on the line, and on the unit ball where the classes use it."""

import numpy as np
import pytest

from spectral_lib.function_class import ACTIVATIONS, activate, project_rows
from spectral_lib.notation import LIPSCHITZ

from .tightness import CDF_AT_ONE, GELU_SLOPE_ON_BALL, at_most, perturbed, statement


def steepest_chord(activation, reach):
    """The largest difference quotient over neighbouring points of [-reach, reach]."""
    x = np.linspace(-reach, reach, 400_001)
    return np.abs(np.diff(activate(x, activation)) / np.diff(x)).max()


@statement("lem-activation")
@statement("prop-gelu")
@statement("prop-gelu-tanh")
@perturbed(0.9999)
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_lipschitz_constants_are_reached(activation, scale, holds, record_property):
    measured = steepest_chord(activation, 4.0)
    record_property("ratio", measured / LIPSCHITZ[activation])
    assert activate(0.0, activation) == 0.0
    assert at_most(measured, scale * LIPSCHITZ[activation]) is holds


@statement("lem-activation-ball")
@perturbed(0.9999)
def test_gelu_is_less_steep_on_the_unit_ball(scale, holds):
    """Entries of a row in the unit ball stay in [-1, 1], and sqrt 2 lies outside."""
    assert LIPSCHITZ["gelu"] > GELU_SLOPE_ON_BALL
    assert at_most(steepest_chord("gelu", 1.0), scale * GELU_SLOPE_ON_BALL) is holds


@statement("lem-activation-ball")
@perturbed(0.9999)
def test_gelu_shrinks_the_unit_ball(scale, holds):
    rows = project_rows(np.random.default_rng(0).standard_normal((2000, 3)) * 2)
    rows = np.concatenate([rows, np.eye(3)])
    largest = np.linalg.norm(activate(rows, "gelu"), axis=1).max()
    assert at_most(largest, scale * CDF_AT_ONE) is holds
