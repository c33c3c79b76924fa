"""The library against the naive route: random shapes, scales, rank-deficient and zero matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectral_lib
from spectral_lib.notation import CONSISTENT, LIPSCHITZ, PAPER, Convention
from tests import naive

CONVENTIONS = {
    "paper": PAPER,
    "consistent": CONSISTENT,
    "mixed": Convention(1.0, 1.13, True, False, 3.0, "N", "J"),
}


def assert_agrees(spectra, layers, num_heads, convention):
    """Compare every number of the analysis with the naive route."""
    l_phi = LIPSCHITZ["gelu"] if convention.l_phi == "exact" else convention.l_phi
    table, alpha, *proxies = naive.analyse(layers, num_heads, convention, l_phi)
    found = spectral_lib.analyze(spectra, convention)
    names = ("spectral", "edelman", "trauger_tewari")
    for name, expected in zip(names, proxies, strict=True):
        assert found.proxies[name].value == pytest.approx(expected, rel=1e-9), name
    assert np.exp(found.propagation.log_alpha) == pytest.approx(alpha, rel=1e-10)
    for row, expected in zip(found.rows(), table.values(), strict=True):
        assert row["shape"] == expected["shape"]
        assert row["rank"] == expected["rank"]
        norms = {"spectral_norm": "C", "frobenius_norm": "frobenius"}
        for name, short in (norms | {"norm_21": "n21", "norm_11": "n11"}).items():
            assert row[name] == pytest.approx(expected[short], rel=1e-10, abs=0), name
        logs = {"log_gamma": "gamma", "log_scale": "scale", "log_contribution": "contribution"}
        for name, short in logs.items():
            if expected[short] == 0:
                assert row[name] is None, name
            else:
                assert math.exp(row[name]) == pytest.approx(expected[short], rel=1e-9), name
        assert row["p_star"] == expected["p_star"]
    return found


@st.composite
def models(draw):
    """A random model: shape, overall scale, and some matrices made rank-deficient or zero."""
    num_heads, size = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    hidden, inner = num_heads * size, draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    layers = naive.random_layers(rng, draw(st.integers(1, 3)), hidden, inner)
    for layer in layers:
        for name in layer:
            layer[name] *= 10.0 ** draw(st.integers(-8, 8))
            damage = draw(st.sampled_from(["none"] * 6 + ["deficient", "zero"]))
            if damage == "zero":
                layer[name][:] = 0
            elif damage == "deficient":
                layer[name][:, 1:] = layer[name][:, :1] * rng.integers(
                    -2, 3, layer[name].shape[1] - 1
                )
    return layers, num_heads


@settings(max_examples=60, deadline=None, derandomize=True)
@given(model=models(), convention=st.sampled_from(sorted(CONVENTIONS)))
def test_random_models_agree_with_the_naive_route(tmp_path_factory, model, convention):
    layers, num_heads = model
    directory = naive.write_bert(tmp_path_factory.mktemp("model"), layers, num_heads)
    assert_agrees(spectral_lib.load(directory), layers, num_heads, CONVENTIONS[convention])


def steep(rng, shape):
    """A matrix with singular values j^-2, at a random scale."""
    left, _, right = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
    return 10 ** rng.uniform(-1, 1) * (left * np.arange(1.0, min(shape) + 1) ** -2) @ right


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_p_star_in_the_interior_agrees(tmp_path, convention):
    """Small scales and steep spectra: the minimum leaves both ends of the grid."""
    rng = np.random.default_rng(7)
    layers = naive.random_layers(rng, 3, 24, 96)
    layers = [{name: steep(rng, w.shape) for name, w in layer.items()} for layer in layers]
    spectra = spectral_lib.load(naive.write_bert(tmp_path, layers, num_heads=1))
    found = assert_agrees(spectra, layers, 1, CONVENTIONS[convention])
    p_star = np.concatenate([p.ravel() for p in found.spectral.p_star.values()])
    assert ((p_star > 0) & (p_star < 2)).any()


@pytest.mark.parametrize("dead", ["out", "value", "query"])
def test_a_zero_matrix_is_legal_and_cuts_its_paths(tmp_path, dead):
    rng = np.random.default_rng(3)
    layers = naive.random_layers(rng, 3, 8, 16)
    layers[1][dead][:] = 0
    spectra = spectral_lib.load(naive.write_bert(tmp_path, layers, num_heads=2))
    found = assert_agrees(spectra, layers, 2, PAPER)
    cut = dead in ("out", "value")  # a zero QK matrix leaves uniform attention, which still passes
    assert (found.to_dict()["log_alpha"][0] is None) == cut
    assert all(math.isfinite(proxy.log) for proxy in found.proxies.values())


@pytest.mark.packaged
def test_minilm_check_values():
    """The published check values of a real checkpoint."""
    found = spectral_lib.analyze(spectral_lib.load("all-MiniLM-L6-v2"))
    assert found.spectral.value == pytest.approx(20573.0297323, rel=1e-11)
    assert found.edelman.log / math.log(10) == pytest.approx(28.8359238, rel=1e-8)


def test_three_hundred_layers_stay_finite_in_logs(tmp_path):
    rng = np.random.default_rng(1)
    layers = naive.random_layers(rng, 300, 8, 16, scale=1e3)
    spectra = spectral_lib.load(naive.write_bert(tmp_path, layers, num_heads=2))
    found = spectral_lib.analyze(spectra)
    assert found.edelman.log > 1000
    assert found.edelman.value == math.inf
    result = found.to_dict()
    assert result["proxies"]["edelman"]["value"] is None
    assert np.isfinite(
        [
            value
            for row in result["matrices"]
            for value in (row["log_scale"], row["log_contribution"])
        ]
    ).all()
