"""Statements of the chapter on propagation and telescoping."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib import PAPER, Kind, TransformerSpectra, propagate, proxies
from spectral_lib.constants import KAPPA_SHARP
from spectral_lib.function_class import LayerA, Network, attention, project_rows, propagate_a
from spectral_lib.matrices import spectrum_of_dense, stack

from ..lemmas.tightness import at_most, statement

#: Phi(1) + phi(1) and Phi(1): the GELU's slope and size on the unit ball.
SLOPE, SIZE = 1.0833154705876864, 0.8413447460685429


def random_spectra(seed, layers=3, heads=2, size=8, inner=12):
    rng = np.random.default_rng(seed)
    scale = 10 ** rng.uniform(-2, 1)
    shapes = {
        Kind.QK: (heads, size, size), Kind.VO: (heads, size, size),
        Kind.FF_IN: (1, size, inner), Kind.FF_OUT: (1, inner, size),
    }  # fmt: skip

    def draw(count, d, k):
        return stack([spectrum_of_dense(scale * rng.standard_normal((d, k))) for _ in range(count)])

    by_kind = {kind: stack([draw(*shape) for _ in range(layers)]) for kind, shape in shapes.items()}
    return TransformerSpectra("random", size, heads, "gelu", by_kind)


@statement("prop-gamma-rescale")
@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_rescaled_sensitivities_move_the_proxies_little(seed):
    spectra = random_spectra(seed)
    scaled = replace(PAPER, l_phi_in_gamma=True)
    c = PAPER.lipschitz(spectra.activation)
    for proxy, most in (
        (proxies.spectral, c**0.5),
        (proxies.edelman, c),
        (proxies.trauger_tewari, c),
    ):
        ratio = np.exp(proxy(spectra, scaled).log - proxy(spectra, PAPER).log)
        assert 1 - 1e-12 <= ratio <= most * (1 + 1e-12)


@statement("prop-gamma-rescale")
def test_the_largest_change_is_reached():
    """With norms so small that p = 2 is best, the factor sqrt(c) is reached."""
    spectra = random_spectra(0, layers=1)
    scaled = replace(PAPER, l_phi_in_gamma=True)
    c = PAPER.lipschitz(spectra.activation)
    by_kind = {
        kind: stack([stack([spectrum_of_dense(1e-9 * np.eye(8))] * (2 if kind.per_head else 1))])
        for kind in Kind
    }
    tiny = replace(spectra, by_kind=by_kind)
    without_offset = [
        np.exp(proxies.spectral(tiny, convention).log) - 1.0 for convention in (scaled, PAPER)
    ]
    assert proxies.spectral(tiny, PAPER).p_star[Kind.QK].max() == 2.0
    assert without_offset[0] / without_offset[1] == pytest.approx(c**0.5, rel=1e-6)


@statement("prop-scripts-gelu")
@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_scripts_weights_fail_only_at_the_end(seed):
    """The valid weights, with the GELU's constants on the ball, against the scripts' weights."""
    spectra = random_spectra(seed, layers=5)
    scripts = propagate(spectra, PAPER)
    on_ball = replace(PAPER, l_phi=SLOPE, l_phi_in_gamma=True)
    valid = propagate(spectra, on_ball)
    for kind in Kind:
        weight = valid.log_scale(kind, 1)
        if kind is Kind.FF_OUT:
            weight = weight + np.log(SIZE / SLOPE)
        excess = np.exp(weight - scripts.log_scale(kind, 1)).max(axis=1)
        if kind is Kind.FF_OUT:
            assert (excess < 1).all()
        else:
            assert (excess[:-2] < 1).all()
            assert ((excess[-2:] > 1) & (excess[-2:] <= SLOPE * (1 + 1e-12))).all()


def greedy(matrices, movement, eps):
    centres, left = [], np.arange(len(matrices))
    while len(left):
        centres.append(left[0])
        left = left[movement(matrices[left] - matrices[left[0]]) > eps]
    return centres


def rows(z):
    return lambda d: np.linalg.norm(z @ d, axis=-1).max(axis=-1)


@statement("thm-entropies-add")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_tree_of_covers_covers_the_class(seed, record_property):
    """Two layers, two sequences: every network is near the leaf that its own walk ends in."""
    rng = np.random.default_rng(seed)
    eps, count, x = 0.15, 15, project_rows(rng.standard_normal((2, 4, 3)))
    sets = 0.4 * rng.standard_normal((2, 3, count, 3, 3))
    norms = np.linalg.norm(sets, 2, axis=(-2, -1)).max(axis=-1)
    c = propagate_a(*norms.T, kappa=KAPPA_SHARP, l_phi=1.0)
    gammas = np.stack([c.log_gamma_qk, c.log_gamma_v, c.log_gamma_m])
    radius = eps * np.exp(gammas + c.log_alpha).sum()
    w = np.eye(3)[0]
    worst = 0.0
    for pick in rng.integers(0, count, (100, 2, 3)):
        layers, tokens = [], x
        for (qks, vs, ms), (i, j, k) in zip(sets, pick, strict=True):
            flat = tokens.reshape(-1, 3)
            near = []
            for family, own, inputs in ((qks, i, flat), (vs, j, flat), (ms, k, None)):
                if inputs is None:
                    inner = project_rows(attention(tokens, qks[near[0]], vs[near[1]]))
                    inputs = np.maximum(inner, 0.0).reshape(-1, 3)
                centres = greedy(family, rows(inputs), eps)
                distances = rows(inputs)(family[centres] - family[own])
                assert distances.min() <= eps
                near.append(centres[int(distances.argmin())])
            layers.append(LayerA(qks[near[0]], vs[near[1]], ms[near[2]]))
            tokens = layers[-1](tokens, "relu")
        own = [
            LayerA(*(s[n] for s, n in zip(f, p, strict=True)))
            for f, p in zip(sets, pick, strict=True)
        ]
        f, leaf = (Network(tuple(chosen), w, "relu") for chosen in (own, layers))
        worst = max(worst, np.abs(f(x) - leaf(x)).max())
    record_property("ratio", worst / radius)
    assert worst > 0
    assert at_most(worst, radius)


@statement("thm-telescoping-a")
def test_feed_forward_first_is_not_controlled_on_the_tokens():
    """W' equals W on the rows that it meets, and still V's step exceeds its term ten times.

    One token e1 with values e1: the inner row is a multiple of e1, where W and W' agree. When W'
    comes in before V', the change of the values leads out of that line, and W' stretches it.
    """
    e1, e2 = np.eye(2)
    x, small, stretch = e1[None], 1e-3, 50.0
    v, v_new = np.outer(e1, e1) / 2, np.outer(e1, e1 / 2 + small * e2)
    w, w_new = np.eye(2) / 2, np.diag([0.5, stretch])

    def layer(values, m):
        return LayerA(np.zeros((2, 2)), values, m)(x, "relu")

    right_order = np.linalg.norm(layer(v, w) - layer(v_new, w))
    wrong_order = np.linalg.norm(layer(v, w_new) - layer(v_new, w_new))
    assert np.allclose(layer(v, w), layer(v, w_new))  # no displacement on the original rows
    gamma = np.linalg.norm(w, 2)
    assert at_most(right_order, gamma * small)
    assert not at_most(wrong_order, 10 * gamma * small)


@statement("thm-telescoping-a")
def test_every_rung_of_the_ladder_obeys_its_term():
    rng = np.random.default_rng(0)
    for _ in range(20):
        depth = int(rng.integers(1, 4))
        w, dw = rng.standard_normal((2, depth, 3, 4, 4)) * [[[[[1.0]]]], [[[[0.05]]]]]
        x = project_rows(rng.standard_normal((5, 4)))
        norms = np.linalg.norm(w, 2, axis=(-2, -1)).T
        c = propagate_a(*norms, kappa=KAPPA_SHARP, l_phi=1.0)
        gammas = np.stack([c.log_gamma_qk, c.log_gamma_v, c.log_gamma_m], axis=1)
        weights = np.exp(gammas + c.log_alpha[:, None])
        current = w.copy()

        def value(weights, x=x):
            return Network(tuple(LayerA(*layer) for layer in weights), np.eye(4)[0], "relu")(x)

        tokens = x
        for layer, place in itertools.product(range(depth), range(3)):
            qk, v, _ = w[layer] + dw[layer]
            inner = np.maximum(project_rows(attention(tokens, qk, v)), 0.0)
            delta = dw[layer, place]
            displacement = {
                0: np.abs(tokens @ delta @ tokens.T).max(),
                1: rows(tokens)(delta),
                2: rows(inner)(delta),
            }[place]
            before = value(current)
            current[layer, place] += delta
            assert at_most(abs(value(current) - before), weights[layer, place] * displacement)
            if place == 2:
                tokens = LayerA(*current[layer])(tokens, "relu")
