"""Statements of the chapters on notation and on softmax and attention."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib.constants import KAPPA_EDELMAN, KAPPA_SHARP, L_PHI_GELU_TANH
from spectral_lib.function_class import (
    LayerA,
    LayerB,
    attention,
    head_modulus,
    project_rows,
    softmax,
)
from spectral_lib.matrices import spectrum_of_dense

from ..lemmas.tightness import at_most, perturbed, statement

seeds = st.integers(0, 2**32 - 1)
derandomised = settings(derandomize=True, max_examples=100, deadline=None)


def rows_norm(rows):
    return np.linalg.norm(rows, axis=-1).max()


@statement("lem-norm-order")
@derandomised
@given(seeds)
def test_norms_are_ordered(seed):
    rng = np.random.default_rng(seed)
    t, d, k = rng.integers(1, 7, 3)
    w, x = rng.standard_normal((d, k)), rng.standard_normal((t, d))
    s = spectrum_of_dense(w)
    chain = [s.spectral_norm, s.frobenius_norm, s.norm_21, s.norm_11]
    assert all(at_most(small, large) for small, large in itertools.pairwise(chain))
    assert at_most(s.norm_21, np.sqrt(k) * s.frobenius_norm)
    assert at_most(s.norm_11, np.sqrt(d) * s.norm_21)
    assert at_most(rows_norm(x @ w), rows_norm(x) * s.spectral_norm)


@statement("lem-norm-order")
@perturbed(0.99)
def test_factors_between_the_norms_are_reached(scale, holds):
    s = spectrum_of_dense(np.ones((5, 7)))
    assert at_most(s.norm_21, scale * np.sqrt(7) * s.frobenius_norm) is holds
    assert at_most(s.norm_11, scale * np.sqrt(5) * s.norm_21) is holds


@statement("lem-schatten")
@derandomised
@given(seeds)
def test_schatten_quantities_are_continuous_and_log_convex(seed):
    rng = np.random.default_rng(seed)
    d, k, r = rng.integers(1, 6, 3)
    w = rng.standard_normal((d, r)) @ rng.standard_normal((r, k)) * 10 ** rng.uniform(-3, 3)
    s = spectrum_of_dense(w)
    p = np.linspace(0, 2, 201)
    logs = np.array([s.log_schatten(index) for index in p])
    assert s.rank == min(d, k, r)
    assert logs[0] == pytest.approx(np.log(s.rank))
    assert s.log_schatten(1e-9) == pytest.approx(logs[0], abs=1e-6)
    assert logs[-1] == pytest.approx(2 * np.log(np.linalg.norm(w)))
    assert (np.diff(logs, 2) > -1e-12).all()
    smallest = s.singular_values[s.rank - 1]
    assert (logs >= logs[0] + p * np.log(smallest) - 1e-9).all()
    assert (logs <= logs[0] + p * np.log(s.spectral_norm) + 1e-9).all()


def by_hand(x, heads, feed_forward, phi):
    """The definitions of the book, entry by entry; ``feed_forward`` holds one matrix or two."""

    def ball(row):
        return row / max(1.0, np.sqrt(sum(entry * entry for entry in row)))

    out = []
    for token in x:
        total = np.zeros(heads[0][1].shape[1])
        for u, v in heads:
            scores = np.array([token @ u @ other for other in x])
            weights = np.exp(scores) / np.exp(scores).sum()
            total = total + sum(a * (other @ v) for a, other in zip(weights, x, strict=True))
        inner = ball(total)
        for w in feed_forward[:-1]:
            inner = ball(inner @ w)
        out.append(ball(phi(inner) @ feed_forward[-1]))
    return np.array(out)


@statement("def-class-a")
@statement("def-class-b")
def test_networks_are_the_defined_classes():
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 3.0):
        x = project_rows(rng.standard_normal((4, 5)))
        qk, vo = rng.standard_normal((2, 3, 5, 5)) * scale
        ff_in, ff_out = rng.standard_normal((5, 6)) * scale, rng.standard_normal((6, 5)) * scale
        b = LayerB(qk, vo, ff_in, ff_out)
        heads = list(zip(qk, vo, strict=True))
        np.testing.assert_allclose(b(x, "tanh"), by_hand(x, heads, [ff_in, ff_out], np.tanh))
        m = rng.standard_normal((5, 5)) * scale
        a = LayerA(qk[0], vo[0], m)
        np.testing.assert_allclose(a(x, "tanh"), by_hand(x, heads[:1], [m], np.tanh))


@statement("lem-softmax-two")
@perturbed(0.99)
def test_entry_sum_of_the_softmax_jacobian(scale, holds):
    """The entry sum reaches 2 with many equal weights; the norm itself stays at 1."""
    a = softmax(np.zeros(400))
    jacobian = np.diag(a) - np.outer(a, a)
    assert np.abs(jacobian).sum() == pytest.approx(2 * (1 - a @ a))
    assert at_most(np.abs(jacobian).sum(), scale * KAPPA_EDELMAN) is holds
    signs = np.where(np.arange(400) < 200, 1.0, -1.0)
    assert np.abs(jacobian @ signs).sum() == pytest.approx(KAPPA_SHARP)


@statement("lem-head-lipschitz")
@statement("lem-head-weights")
@derandomised
@given(seeds)
def test_head_moduli_hold_on_random_pairs(seed):
    rng = np.random.default_rng(seed)
    t, n = rng.integers(2, 6, 2)
    u, du, v, dv = rng.standard_normal((4, n, n)) * 10 ** rng.uniform(-1, 1, (4, 1, 1))
    x = project_rows(rng.standard_normal((t, n)))
    y = project_rows(x + rng.standard_normal((t, n)) * 10 ** rng.uniform(-3, 0))
    out, c_u, c_v = attention(x, u, v), np.linalg.norm(u, 2), np.linalg.norm(v, 2)
    in_tokens = head_modulus(c_u, c_v, kappa=KAPPA_SHARP) * rows_norm(x - y)
    assert at_most(rows_norm(out - attention(y, u, v)), in_tokens)
    score = np.abs(x @ du @ x.T).max()
    in_scores = KAPPA_SHARP * rows_norm(x @ v) * score
    assert at_most(rows_norm(out - attention(x, u + du, v)), in_scores)
    assert at_most(rows_norm(out - attention(x, u, v + dv)), rows_norm(x @ dv))
    assert at_most(score, rows_norm(x @ du))


@statement("lem-projection")
@derandomised
@given(seeds)
def test_the_projection_does_not_expand(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 200, rng.integers(1, 5))) * 10 ** rng.uniform(-1, 1)
    before = np.linalg.norm(x - y, axis=1)
    after = np.linalg.norm(project_rows(x) - project_rows(y), axis=1)
    assert (after <= before * (1 + 1e-12)).all()


@statement("prop-gelu-tanh")
def test_the_tanh_gelu_is_enclosed():
    """The majorant of the chapter on a million cells, and the maximum from below."""
    root, c = np.sqrt(2 / np.pi), 0.044715
    x = np.linspace(0, 3, 10**6 + 1)
    tanh = np.tanh(root * (x + c * x**3))
    slope_part = root * (x + 3 * c * x**3)
    cells = (1 + tanh[1:]) / 2 + slope_part[1:] * (1 - tanh[:-1] ** 2) / 2
    values = (1 + tanh) / 2 + slope_part * (1 - tanh**2) / 2
    assert 1.12899 < values.max() <= L_PHI_GELU_TANH <= cells.max() < 1.12900
