"""The classes' code: shapes, batches, exact small cases, errors."""

import numpy as np
import pytest

from spectral_lib.errors import DomainError
from spectral_lib.function_class import (
    LayerA,
    LayerB,
    Network,
    activate,
    attention,
    head_modulus,
    project_rows,
    propagate_a,
    sharp_head_modulus,
    softmax,
    softmax_modulus,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def networks(rng, n=4, width=6, heads=3):
    a = LayerA(*rng.standard_normal((3, n, n)))
    b = LayerB(
        *rng.standard_normal((2, heads, n, n)),
        rng.standard_normal((n, width)),
        rng.standard_normal((width, n)),
    )
    return [
        Network((a, a), np.ones(n)),
        Network((b, b), np.ones(n), "relu"),
        Network((a, b), np.ones(n)),
    ]


def test_inputs_are_a_batch(rng):
    x = rng.standard_normal((2, 5, 3, 4))
    for network in networks(rng):
        out = network(x)
        assert out.shape == (2, 5)
        assert network.tokens(x).shape == x.shape
        for i, j in np.ndindex(2, 5):
            assert out[i, j] == pytest.approx(network(x[i, j]), rel=1e-12)
        assert (np.linalg.norm(network.tokens(x), axis=-1) <= 1 + 1e-12).all()


def test_a_layer_by_hand():
    x = np.array([[0.6, 0.0], [0.0, 0.8]])
    layer = LayerA(np.zeros((2, 2)), np.eye(2), 2 * np.eye(2))  # equal scores: every row the mean
    np.testing.assert_allclose(layer(x, "relu"), [[0.6, 0.8]] * 2, rtol=1e-15)
    np.testing.assert_allclose(attention(x, np.zeros((2, 2)), np.eye(2)), [[0.3, 0.4]] * 2)


def test_one_head_and_a_wide_identity_make_class_b_class_a(rng):
    qk, v, m = rng.standard_normal((3, 4, 4))
    x = project_rows(rng.standard_normal((3, 4)))
    one_head = LayerB(qk[None], v[None], np.eye(4), m)
    np.testing.assert_allclose(one_head(x, "gelu"), LayerA(qk, v, m)(x, "gelu"), rtol=1e-12)


def test_tokens_may_be_permuted(rng):
    x = rng.standard_normal((5, 4))
    for network in networks(rng):
        np.testing.assert_allclose(network.tokens(x)[::-1], network.tokens(x[::-1]), atol=1e-12)


def test_projection_and_softmax_at_the_edges():
    np.testing.assert_array_equal(project_rows([[0.0, 0.0], [0.3, 0.4]]), [[0.0, 0.0], [0.3, 0.4]])
    np.testing.assert_allclose(project_rows([[3.0, 4.0]], radius=2.0), [[1.2, 1.6]])
    np.testing.assert_array_equal(softmax([1e6, 0.0]), [1.0, 0.0])
    assert softmax_modulus(0.0) == 0.0
    assert softmax_modulus(1e4) == 2.0


def test_activations_agree_with_their_definitions():
    x = np.linspace(-6, 6, 101)
    assert abs(activate(x, "gelu") - activate(x, "gelu_new")).max() < 5e-4
    np.testing.assert_array_equal(activate(x, "gelu_new"), activate(x, "gelu_pytorch_tanh"))
    np.testing.assert_array_equal(activate(x, "relu"), np.maximum(x, 0))


def test_propagation_is_a_product_over_later_layers():
    qk, v, m = np.array([[1.0, 2.0, 3.0], [0.5, 1.5, 2.5], [1.1, 0.9, 0.7]])
    found = propagate_a(qk, v, m, kappa=2.0, l_phi=1.2)
    lambdas = 1.2 * m * head_modulus(qk, v, kappa=2.0)
    np.testing.assert_allclose(np.exp(found.log_lambda), lambdas)
    np.testing.assert_allclose(np.exp(found.log_alpha), [lambdas[1] * lambdas[2], lambdas[2], 1])
    np.testing.assert_allclose(np.exp(found.log_gamma_qk), 2 * 1.2 * v * m)
    np.testing.assert_allclose(np.exp(found.log_gamma_v), 1.2 * m)
    np.testing.assert_allclose(np.exp(found.log_gamma_m), 1.2)


def test_deep_and_zero_networks_stay_in_logs():
    deep = propagate_a(*np.full((3, 5000), 1e3), kappa=2.0, l_phi=1.13)
    assert np.isfinite(deep.log_alpha).all()
    assert deep.log_alpha[0] > 1e4
    cut = propagate_a([1.0, 1.0], [1.0, 0.0], [1.0, 1.0], kappa=2.0, l_phi=1.0)
    assert cut.log_lambda[1] == -np.inf
    assert cut.log_alpha.tolist() == [-np.inf, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: project_rows([[1.0]], radius=0.0), "radius must be > 0"),
        (lambda: softmax_modulus(-1.0), "distance must be >= 0"),
        (lambda: activate(1.0, "swish"), "unknown activation 'swish'; choose one of gelu"),
        (lambda: LayerA(np.ones(2), np.eye(2), np.eye(2)), "qk must be a finite array of 2 axes"),
        (lambda: LayerA(np.eye(2), np.eye(2) * np.nan, np.eye(2)), "v must be a finite array"),
        (lambda: Network((), np.ones((2, 2))), "readout must be a finite array of 1 axes"),
        (lambda: Network((), np.ones(2), "swish"), "unknown activation"),
        (lambda: head_modulus(-1.0, 1.0, kappa=1.0), "norm_qk must hold finite norms >= 0"),
        (lambda: sharp_head_modulus(1.0, np.inf), "norm_v must hold finite norms >= 0"),
        (lambda: head_modulus(1.0, 1.0, kappa=0.0), "kappa must be a finite number > 0"),
        (lambda: propagate_a([1.0], [1.0], [1.0, 2.0], kappa=1, l_phi=1), "three vectors"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(DomainError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_weights_cannot_be_changed_behind_a_network(rng):
    network = networks(rng)[0]
    with pytest.raises(ValueError, match="read-only"):
        network.readout[0] = 2.0
