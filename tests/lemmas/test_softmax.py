"""The softmax in the l_inf -> l_1 norms: Jacobian, and the sharp global modulus 2 tanh(t / 2)."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spectral_lib.constants import KAPPA_EDELMAN, KAPPA_SHARP, SOFTMAX_DIAMETER
from spectral_lib.function_class import softmax, softmax_modulus

from .tightness import at_most, perturbed, statement

logits = st.integers(2, 7).flatmap(
    lambda n: arrays(np.float64, (n,), elements=st.floats(-30, 30, allow_subnormal=False))
)


def jacobian_norm(p):
    """The inf -> 1 norm of diag(p) - p p^T, over all sign vectors on both sides."""
    jacobian = np.diag(p) - np.outer(p, p)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(p))))
    return np.abs(signs @ jacobian).sum(axis=1).max()


def subset_variance(p):
    """max 4 a (1 - a) over the masses a of subsets."""
    subsets = np.array(list(itertools.product([0.0, 1.0], repeat=len(p))))
    masses = subsets @ p
    return (4 * masses * (1 - masses)).max()


@statement("lem-softmax-jacobian")
@settings(derandomize=True, max_examples=100, deadline=None)
@given(logits)
def test_the_jacobian_norm_is_a_subset_variance(z):
    p = softmax(z)
    assert jacobian_norm(p) == pytest.approx(subset_variance(p), abs=1e-12)
    assert at_most(jacobian_norm(p), KAPPA_SHARP)


@statement("lem-softmax-jacobian")
@perturbed(0.99)
def test_the_jacobian_norm_reaches_kappa(scale, holds, record_property):
    measured = jacobian_norm(softmax(np.log([1.0, 2.0, 3.0])))  # {1, 2} has mass 1/2
    record_property("ratio", measured / KAPPA_SHARP)
    assert at_most(measured, scale * KAPPA_SHARP) is holds


def distance_ratio(z, w):
    """The measured l_1 distance of two softmax vectors over the sharp modulus."""
    return np.abs(softmax(z) - softmax(w)).sum() / softmax_modulus(np.abs(z - w).max())


@statement("thm-softmax-sharp")
@settings(derandomize=True, max_examples=200, deadline=None)
@given(logits, st.data())
def test_no_pair_exceeds_the_sharp_modulus(z, data):
    step = data.draw(arrays(np.float64, z.shape, elements=st.floats(-8, 8, width=16)))
    if np.abs(step).max() < 1e-3:
        return
    distance = np.abs((z + step) - z).max()
    assert np.abs(softmax(z + step) - softmax(z)).sum() <= softmax_modulus(distance) + 1e-12
    assert softmax_modulus(distance) <= KAPPA_SHARP * distance <= KAPPA_EDELMAN * distance


@statement("thm-softmax-sharp")
@perturbed(0.999)
@pytest.mark.parametrize("t", [1e-3, 0.1, 1.0, 3.0, 10.0])
def test_the_sharp_modulus_is_reached(t, scale, holds, record_property):
    half = np.array([t / 2, -t / 2])
    measured = np.abs(softmax(half) - softmax(-half)).sum()
    record_property("ratio", distance_ratio(half, -half))
    assert at_most(measured, scale * SOFTMAX_DIAMETER * np.tanh(t / 2)) is holds
    assert softmax_modulus(t) == pytest.approx(SOFTMAX_DIAMETER * np.tanh(t / 2), rel=1e-15)


@statement("thm-softmax-sharp")
@perturbed(0.99)
def test_kappa_one_is_sharp_for_close_logits(scale, holds):
    half = np.array([0.05, -0.05])
    measured = np.abs(softmax(half) - softmax(-half)).sum()
    assert at_most(measured, scale * KAPPA_SHARP * np.abs(2 * half).max()) is holds


@statement("thm-softmax-sharp")
def test_ascent_finds_nothing_above_the_modulus(record_property):
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 2.0, (4000, 5))
    signs = rng.choice([-1.0, 1.0], (4000, 5))
    distances = np.abs(softmax(z + signs) - softmax(z)).sum(axis=1)
    # The best of the pairs at distance 1, then the shift that centres its moving mass at 1/2.
    best = np.argmax(distances)
    shifts = np.linspace(-3, 3, 2001)[:, None] * (signs[best] > 0)
    centred = z[best] + shifts
    top = np.abs(softmax(centred + signs[best]) - softmax(centred)).sum(axis=1).max()
    record_property("ratio", top / softmax_modulus(1.0))
    assert 0.99 * softmax_modulus(1.0) < top <= softmax_modulus(1.0) * (1 + 1e-12)
