"""Norm-based coverings and their bounds: constructions that meet the counts they are proved by."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad

from spectral_lib.bounds import (
    Chain,
    baseline_bound,
    edelman_entropy,
    posthoc_bound,
    trauger_tewari_entropy,
)
from spectral_lib.bounds.baselines import (
    edelman_price,
    log_inverse_square_complexity,
    trauger_tewari_price,
)
from spectral_lib.constants import COLUMN_STEPS
from spectral_lib.errors import DomainError
from tests.bounds.models import encoder

SETTING = {"samples": 1e4, "tokens": 16, "delta": 0.05, "loss_range": 1.0}


def perceptron(x, w, eps_j):
    """Reach <x_i, w> within eps_j for all i by steps along the violated x_i; count the steps."""
    v, steps = np.zeros_like(w), 0
    while (violation := np.abs(x @ (w - v))).max() > eps_j:
        i = violation.argmax()
        v = v + eps_j * np.sign(x[i] @ (w - v)) * x[i]
        steps += 1
    return v, steps


def test_column_perceptron_meets_its_count(record_property):
    """The (2,1) cover: within eps on the sample, in at most 4 (RB/eps)^2 / (1 - share) steps."""
    rng = np.random.default_rng(70)
    closest = 0.0
    for _ in range(30):
        d, k, mu = rng.integers(2, 12, 3)
        x = rng.normal(size=(mu, d))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        w = rng.normal(size=(d, k)) * 10 ** rng.uniform(-2, 0, k)
        norms = np.linalg.norm(w, axis=0)
        radius = norms.sum()
        eps, share = radius * rng.uniform(0.1, 0.8), rng.uniform(0.2, 0.8)
        theta = share * eps**2 / radius
        counts = np.floor(norms / theta)
        cover, steps = np.zeros_like(w), 0
        for j in np.flatnonzero(counts):
            eps_j = eps * math.sqrt((1 - share) * counts[j] * theta / radius)
            cover[:, j], used = perceptron(x, w[:, j], eps_j)
            assert used <= (norms[j] / eps_j) ** 2
            steps += used
        assert np.linalg.norm(x @ (w - cover), axis=1).max() <= eps * (1 + 1e-12)
        assert counts.sum() <= radius / theta
        limit = COLUMN_STEPS * (radius / eps) ** 2 / (1 - share)
        closest = max(closest, steps / limit)
        assert steps <= limit
        # The entropy counts both: multisets of columns and sequences of signed inputs.
        log_count = radius / theta * math.log(k + 1) + limit * math.log(2 * mu + 1)
        assert log_count >= edelman_entropy(radius, eps, k=k, vectors=mu) * (1 - 1e-12)
    record_property("steps / limit", closest)


def test_one_step_of_the_perceptron_is_tight():
    """One unit column along one input, eps_j just below its norm: the one step allowed is used."""
    x = np.eye(3)
    _, steps = perceptron(x, x[0], 0.999)
    assert steps == 1 == math.floor((1 / 0.999) ** 2)


def test_edelman_price_is_the_best_share():
    """(sqrt a + sqrt b)^2 = min over the share of a/share + b/(1 - share)."""
    share = np.linspace(1e-4, 1 - 1e-4, 200_001)
    a, b = math.log(6), COLUMN_STEPS * math.log(201)
    assert edelman_price(5, 100) == pytest.approx(np.min(a / share + b / (1 - share)), rel=1e-8)


def test_maurey_draws_meet_the_count(record_property):
    """A mean of ceil((R/eps)^2) signed units lies within eps in Frobenius norm, on average."""
    rng = np.random.default_rng(71)
    d, k = 6, 5
    w = rng.laplace(size=(d, k))
    radius, eps = np.abs(w).sum(), 0.4 * np.abs(w).sum()
    draws = math.ceil((radius / eps) ** 2)
    chance = np.abs(w).ravel() / radius
    squares = []
    for _ in range(4000):
        picked = rng.choice(d * k, size=draws, p=chance)
        mean = np.bincount(picked, minlength=d * k) * np.sign(w).ravel() * radius / draws
        squares.append(np.square(mean - w.ravel()).sum())
    ratio = np.mean(squares) / eps**2
    record_property("ratio", ratio)
    assert 0.5 < ratio < 1
    entropy = trauger_tewari_entropy(radius, eps, d=d, k=k)
    assert entropy == pytest.approx(draws * math.log(2 * d * k + 1), rel=1e-14)


@pytest.mark.parametrize("additive", [0.0, 7.0])
def test_truncated_chain_against_its_numeric_minimum(additive, record_property):
    """4a + (12/sqrt n) int_a^D sqrt(S^2/eps^2 + A) d eps, minimised over a, is not above it."""
    n, b = 1e4, 2.0
    chain = Chain(n, b)
    for s in (0.01, 1.0, 30.0, 1e4):
        value = math.exp(log_inverse_square_complexity(math.log(s), chain, additive))
        stops = np.geomspace(1e-6, 1, 300) * (b / 2)
        numeric = [
            4 * a
            + 12
            / math.sqrt(n)
            * quad(lambda e, s=s: math.exp(e) * math.hypot(s / math.exp(e), additive**0.5),
                   math.log(a), math.log(b / 2))[0]
            for a in stops
        ]  # fmt: skip
        # Beyond D the trivial bound R_n <= D is smaller still.
        assert value >= min(*numeric, b / 2) * (1 - 1e-4)
        if 3 * s / math.sqrt(n) < b / 2 and additive == 0:
            record_property(f"ratio at S = {s:g}", value / min(numeric))
            assert value <= min(numeric) * 1.001
    assert math.exp(log_inverse_square_complexity(-math.inf, chain, 4.0)) == pytest.approx(
        12 * 1.0 / 100 * 2
    )


@pytest.mark.parametrize("norm", ["21", "11"])
def test_bound_written_out(norm):
    """One allocation over all matrices and the readout, radii rounded up to powers of two."""
    spectra = encoder(scale=0.3)
    found = baseline_bound(spectra, norm=norm, **SETTING)
    reference = posthoc_bound(spectra, **SETTING)
    log_beta = reference.classes.log_beta
    total, additive = 0.0, 0.0
    for i, (layer, kind, head) in enumerate(spectra.positions()):
        d, k = spectra[kind].shape
        observed = getattr(spectra[kind], f"norm_{norm}")[layer, head]
        radius = 2.0 ** math.ceil(math.log2(observed))
        price = edelman_price(k, 16e4) if norm == "21" else trauger_tewari_price(d, k)
        total += (radius**2 * price * math.exp(2 * log_beta[i])) ** (1 / 3)
        additive += 0 if norm == "21" else float(price)
    if norm == "21":
        total += float(edelman_price(1, 16e4)) ** (1 / 3)
    else:
        price = float(trauger_tewari_price(8, 1))
        total += (8 * price) ** (1 / 3)
        additive += price
    expected = log_inverse_square_complexity(1.5 * math.log(total), Chain(1e4, 1.0), additive)
    assert found.log_complexity == pytest.approx(expected + math.log(2), rel=1e-12)
    assert np.isfinite(found.log_value)
    json.dumps(found.to_dict(), allow_nan=False)


def test_depth_makes_norm_based_bounds_explode():
    """At 200 layers of norm 3 the log stays finite and the value is null; ours stays small."""
    spectra = encoder(layers=200, heads=1, hidden=4, inner=4, scale=30.0)
    found = baseline_bound(spectra, norm="21", **SETTING)
    assert found.to_dict()["bound"]["value"] is None
    assert np.isfinite(found.log_value)
    assert posthoc_bound(spectra, **SETTING).log_value < found.log_value / 10


def test_refusals():
    with pytest.raises(DomainError, match="norm must be '21' or '11'"):
        baseline_bound(encoder(), norm="22", **SETTING)
    with pytest.raises(DomainError, match="R must be finite and >= 0"):
        edelman_entropy(-1.0, 0.1, k=3, vectors=10)
    with pytest.raises(DomainError, match="eps must be finite and > 0"):
        trauger_tewari_entropy(1.0, 0.0, d=2, k=2)
