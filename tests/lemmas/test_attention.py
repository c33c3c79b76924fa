"""A head and a layer: Lipschitz constants in the tokens, and one matrix swapped at a time.

The extremal inputs. Values +v and -v in equal parts put half the softmax mass on either side of the
output; a query q with q W_QK = C w turns the keys' motion along w into logits; the query's own
motion along u, with u W_QK = C v, turns the values into logits of opposite sign.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib.constants import KAPPA_SHARP
from spectral_lib.function_class import (
    LayerA,
    LayerB,
    Network,
    attention,
    head_modulus,
    project_rows,
    propagate_a,
    sharp_head_modulus,
    softmax_modulus,
)
from spectral_lib.notation import LIPSCHITZ, Convention
from spectral_lib.packing import operator_norm
from spectral_lib.propagation import propagate

from .networks import spectra_of
from .tightness import at_most, perturbed, statement

V, W, Q, U = np.eye(4)
COPIES = 400
seeds = st.integers(0, 2**32 - 1)


def row_distance(x, y):
    """The 2 -> inf distance: the largest 2-norm of a row."""
    return np.linalg.norm(x - y, axis=-1).max()


def norm(matrix):
    return operator_norm(matrix[None])[0]


def extremal_head(c_qk, step):
    """W_QK of norm c_qk, tokens in the unit ball and the same tokens moved the worst way."""
    qk = c_qk * (np.outer(Q, W) + np.outer(U, V))
    tokens = np.array([Q] + [V] * COPIES + [-V] * COPIES) / (1 + step)
    up, down = ((V + side * c_qk * W) / np.hypot(1, c_qk) for side in (1, -1))
    motion = np.array([U] + [up] * COPIES + [down] * COPIES) * step
    return qk, tokens, tokens + motion / (1 + step)


def head_ratio(c_qk):
    """How far the head's output moves, over how far its tokens move."""
    qk, tokens, moved = extremal_head(c_qk, 1e-6 / (1 + c_qk))
    out, out_moved = (attention(x, qk, np.eye(4)) for x in (tokens, moved))
    return row_distance(out[:1], out_moved[:1]) / row_distance(tokens, moved)


def random_tokens(rng, t, n):
    return project_rows(rng.standard_normal((t, n)) * rng.uniform(0.2, 2.0))


@statement("lem-head-lipschitz")
@perturbed(0.99)
@pytest.mark.parametrize("c_qk", [1e-3, 200.0], ids=["small scores", "large scores"])
def test_head_constant_is_near_equality_at_both_ends(c_qk, scale, holds, record_property):
    record_property("ratio", head_ratio(c_qk) / head_modulus(c_qk, 1.0, kappa=KAPPA_SHARP))
    # At small scores the values' motion alone counts: the whole constant is scaled.
    bound = scale * head_modulus(c_qk, 1.0, kappa=KAPPA_SHARP)
    assert at_most(head_ratio(c_qk), bound) is holds


@statement("lem-head-sharp")
@perturbed(0.99)
@pytest.mark.parametrize("c_qk", [0.01, 0.3, 1.0, 4.0, 50.0])
def test_best_head_constant_is_reached(c_qk, scale, holds, record_property):
    record_property("ratio", head_ratio(c_qk) / sharp_head_modulus(c_qk, 1.0))
    assert at_most(head_ratio(c_qk), scale * sharp_head_modulus(c_qk, 1.0)) is holds


@statement("lem-head-sharp")
@settings(derandomize=True, max_examples=150, deadline=None)
@given(seeds)
def test_no_head_exceeds_its_best_constant(seed):
    rng = np.random.default_rng(seed)
    t, n = rng.integers(2, 6, 2)
    qk, v = rng.standard_normal((2, n, n)) * rng.uniform(0.1, 3.0, (2, 1, 1))
    x = random_tokens(rng, t, n)
    y = project_rows(x + rng.standard_normal((t, n)) * 10 ** rng.uniform(-4, 0))
    moved = row_distance(attention(x, qk, v), attention(y, qk, v))
    best = sharp_head_modulus(norm(qk), norm(v))
    assert at_most(moved, best * row_distance(x, y))
    assert best <= head_modulus(norm(qk), norm(v), kappa=KAPPA_SHARP) * (1 + 1e-12)


@statement("lem-layer-lipschitz")
@perturbed(0.99)
def test_layer_constant_is_near_equality(scale, holds, record_property):
    c_qk, c_v, c_m = 200.0, 1.5, 2.0
    qk, tokens, moved = extremal_head(c_qk, 1e-7 / c_qk)
    layer = LayerA(qk, c_v * np.eye(4), c_m * np.eye(4))
    measured = row_distance(layer(tokens, "relu"), layer(moved, "relu"))
    constants = propagate_a([c_qk], [c_v], [c_m], kappa=KAPPA_SHARP, l_phi=1.0)
    bound = np.exp(constants.log_lambda[0]) * row_distance(tokens, moved)
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-layer-lipschitz")
@perturbed(0.99)
def test_layer_constant_of_class_b_is_near_equality(scale, holds, record_property):
    """Three heads that move together: the constant of class B adds them up."""
    c_qk, shares, c_in, c_out = 200.0, np.array([0.5, 0.7, 0.3]), 1.4, 2.0
    qk, tokens, moved = extremal_head(c_qk, 1e-7 / c_qk)
    vo = shares[:, None, None] * np.eye(4)
    layer = LayerB(np.stack([qk] * 3), vo, c_in * np.eye(4), c_out * np.eye(4))
    measured = row_distance(layer(tokens, "relu"), layer(moved, "relu"))
    spectra = spectra_of(Network((layer,), V, "relu"))
    found = propagate(spectra, Convention(kappa=KAPPA_SHARP, l_phi="exact"))
    bound = np.exp(found.log_lambda[0]) * row_distance(tokens, moved)
    record_property("ratio", measured / bound)
    assert at_most(measured, scale * bound) is holds


@statement("lem-layer-lipschitz")
@settings(derandomize=True, max_examples=100, deadline=None)
@given(seeds, st.sampled_from(["gelu", "gelu_new", "relu", "tanh"]))
def test_layers_of_both_classes_obey_their_constants(seed, activation):
    rng = np.random.default_rng(seed)
    t, n, width, heads = rng.integers(2, 5, 4)
    qk, vo = rng.standard_normal((2, heads, n, n)) * rng.uniform(0.2, 2.0)
    ff_in, ff_out = rng.standard_normal((n, width)), rng.standard_normal((width, n))
    x = random_tokens(rng, t, n)
    y = project_rows(x + rng.standard_normal((t, n)) * 10 ** rng.uniform(-4, 0))
    l_phi = LIPSCHITZ[activation]

    b = LayerB(qk, vo, ff_in, ff_out)
    head_sum = sum(
        head_modulus(norm(a), norm(c), kappa=KAPPA_SHARP) for a, c in zip(qk, vo, strict=True)
    )
    lambda_b = l_phi * norm(ff_in) * norm(ff_out) * head_sum
    assert at_most(row_distance(b(x, activation), b(y, activation)), lambda_b * row_distance(x, y))

    m = rng.standard_normal((n, n))
    a = LayerA(qk[0], vo[0], m)
    constants = propagate_a([norm(qk[0])], [norm(vo[0])], [norm(m)], kappa=KAPPA_SHARP, l_phi=l_phi)
    lambda_a = np.exp(constants.log_lambda[0])
    assert at_most(row_distance(a(x, activation), a(y, activation)), lambda_a * row_distance(x, y))


E1 = np.diag([1.0, 0.0])
PAIR = np.array([[1.0, 0.0], [-1.0, 0.0]])


@statement("lem-head-weights")
@statement("lem-swap-qk")
@perturbed(0.99)
def test_swapping_the_scores_is_tight(scale, holds, record_property):
    """Tokens +v, -v and W_QK from -(h/2) v v^T to +(h/2) v v^T: all logits move by h/2."""
    h, c_v = 0.1, 3.0
    before, after = (attention(PAIR, side * h / 2 * E1, c_v * np.eye(2)) for side in (-1, 1))
    largest_score = np.abs(PAIR @ (h * E1) @ PAIR.T).max()
    measured = row_distance(before, after)
    record_property("ratio", measured / (KAPPA_SHARP * c_v * largest_score))
    assert measured == pytest.approx(c_v * softmax_modulus(largest_score), rel=1e-12)
    assert at_most(measured, scale * KAPPA_SHARP * c_v * largest_score) is holds


@statement("lem-swap-qk")
@perturbed(0.99)
def test_gamma_of_the_scores_is_tight(scale, holds, record_property):
    h, c_v, c_m = 0.01, 2.0, 1.5
    layers = (LayerA(a * E1, c_v * np.eye(2), c_m * np.eye(2)) for a in (0.0, h))
    outputs = [layer(PAIR, "relu") for layer in layers]
    constants = propagate_a([0.0], [c_v], [c_m], kappa=KAPPA_SHARP, l_phi=1.0)
    bound = np.exp(constants.log_gamma_qk[0]) * h
    record_property("ratio", row_distance(*outputs) / bound)
    assert at_most(row_distance(*outputs), scale * bound) is holds


@statement("lem-swap-v")
@perturbed(0.99)
def test_gamma_of_the_values_is_tight(scale, holds, record_property):
    h, c_m = 0.2, 1.5
    tokens = np.ones((3, 1)) * [1.0, 0.0]
    layers = (LayerA(E1, a * E1, c_m * np.eye(2)) for a in (0.3, 0.3 + h))
    outputs = [layer(tokens, "relu") for layer in layers]
    constants = propagate_a([1.0], [0.3], [c_m], kappa=KAPPA_SHARP, l_phi=1.0)
    bound = np.exp(constants.log_gamma_v[0]) * np.linalg.norm(tokens @ (h * E1), axis=1).max()
    record_property("ratio", row_distance(*outputs) / bound)
    assert at_most(row_distance(*outputs), scale * bound) is holds


@statement("lem-swap-m")
@perturbed(0.99)
def test_gamma_of_the_feed_forward_matrix_is_tight(scale, holds, record_property):
    h = 0.2
    tokens = np.ones((3, 1)) * [1.0, 0.0]
    layers = (LayerA(E1, np.eye(2), a * E1) for a in (0.3, 0.3 + h))
    outputs = [layer(tokens, "relu") for layer in layers]
    constants = propagate_a([1.0], [1.0], [0.3], kappa=KAPPA_SHARP, l_phi=1.0)
    bound = np.exp(constants.log_gamma_m[0]) * h
    record_property("ratio", row_distance(*outputs) / bound)
    assert at_most(row_distance(*outputs), scale * bound) is holds


@statement("thm-telescoping-a")
def test_values_swapped_first_would_break_the_step_of_the_scores():
    """A cover element V' may have a norm beyond C_V; then the scores' step exceeds its gamma."""
    h, c_v, c_cover = 0.01, 1.0, 1.5
    constants = propagate_a([0.0], [c_v], [1.0], kappa=KAPPA_SHARP, l_phi=1.0)
    bound = np.exp(constants.log_gamma_qk[0]) * h

    def step(v_norm):
        layers = [LayerA(a * E1, v_norm * np.eye(2), np.eye(2)) for a in (0.0, h)]
        return row_distance(*(layer(PAIR, "relu") for layer in layers))

    assert at_most(step(c_v), bound)
    assert not at_most(step(c_cover), bound)
