"""Domains: a value outside the range of a formula is refused in one line that says the range."""

import numpy as np
import pytest

from spectral_lib.bounds import (
    Chain,
    MatrixClasses,
    OperatorMetric,
    SampleMetric,
    ScoreMetric,
    allocate,
    deviation,
    exact_entropy,
    grid_size,
    log_balance,
    norm_levels,
    norm_ratio,
    profile_entropy,
    radius_levels,
    round_up,
)
from spectral_lib.errors import DomainError

GOOD = {"d": 4, "k": 3, "s": 1.0, "p": 1.0, "m": 2.0, "b": 1.0, "log_beta": 0.0}


@pytest.mark.parametrize(
    ("name", "value", "range_"),
    [
        ("p", -0.1, r"p must be in \[0, 2\], got -0.1"),
        ("p", 2.1, r"p must be in \[0, 2\]"),
        ("p", np.nan, r"p must be in \[0, 2\]"),
        ("m", -1.0, "M must be finite and >= 0"),
        ("m", np.inf, "M must be finite"),
        ("s", -1.0, "s must be finite and >= 0"),
        ("b", 0.0, "B must be finite and > 0"),
        ("d", 0, "d must be an integer >= 1"),
        ("k", 2.5, "k must be an integer >= 1"),
        ("log_beta", np.inf, "log beta must be"),
        ("log_beta", np.nan, "log beta must be"),
    ],
)
def test_class_domain(name, value, range_):
    with pytest.raises(DomainError, match=range_) as caught:
        MatrixClasses.of(**(GOOD | {name: [GOOD[name], value]}))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("eps", [0.0, -1.0, np.nan, np.inf])
def test_scale_domain(eps):
    with pytest.raises(DomainError, match="eps must be finite and > 0"):
        exact_entropy(MatrixClasses.of(**GOOD), eps, OperatorMetric())


@pytest.mark.parametrize(
    "call",
    [
        lambda: SampleMetric(0),
        lambda: Chain(0.5, 1.0),
        lambda: Chain(10, 0.0),
        lambda: Chain(10, 1.0, count=0),
        lambda: deviation(10, 1.0, 0.0),
        lambda: deviation(10, 1.0, 1.0),
        lambda: deviation(0, 1.0, 0.5),
        lambda: deviation(10, -1.0, 0.5),
        lambda: log_balance(3.0),
        lambda: grid_size(0, 4),
        lambda: round_up(2.01, 4),
        lambda: norm_ratio(0),
        lambda: norm_ratio(3, norms_per_layer=5.0),
        lambda: norm_levels(0.0, 1.0),
        lambda: norm_levels(np.nan, 1.1),
        lambda: radius_levels(0.0, 0.0, -1.0, 4),
        lambda: allocate([0.0], [0.0], 0.0),
        lambda: allocate([np.inf], [0.0]),
        lambda: profile_entropy([1.0, 2.0], 0.1, OperatorMetric(), d=2, k=2),
        lambda: profile_entropy([1.0], 0.1, OperatorMetric(), d=2, k=2),
    ],
)
def test_other_domains(call):
    with pytest.raises(DomainError) as caught:
        call()
    assert "must be" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_batch_indexing_and_shape():
    classes = MatrixClasses.of([4, 5], 3, s=1.0, p=[0.0, 1.0], m=2.0)
    assert classes.shape == (2,)
    assert classes.size == 2
    assert classes[1].p == 1.0
    assert classes.q.tolist() == [3, 3]
    assert classes.full_rank().m.tolist() == [3.0, 3.0]


@pytest.mark.statement("lem-score-maximum")
def test_score_metric_bounds_the_largest_gaussian_score():
    """The width is at least the squared mean maximum over token pairs, and near it in order."""
    rng = np.random.default_rng(0)
    samples, tokens, size = 3, 8, 6
    x = rng.standard_normal((samples, tokens, size))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    scores = x @ rng.standard_normal((2000, 1, size, size)) @ np.swapaxes(x, -1, -2)
    mean = np.abs(scores).max(axis=(1, 2, 3)).mean()
    classes = MatrixClasses.of(**(GOOD | {"d": size, "k": size}))
    width = ScoreMetric(samples, tokens).width_squared(classes)
    assert 0.5 < mean / np.sqrt(width) <= 1


def test_score_metric_is_for_tokens_of_the_unit_ball():
    with pytest.raises(DomainError, match="B must be 1 in the score metric"):
        ScoreMetric(1, 1).width_squared(MatrixClasses.of(**(GOOD | {"b": 2.0})))
    for samples, tokens in ((0, 1), (1, 0), (np.nan, 1)):
        with pytest.raises(DomainError, match=">= 1"):
            ScoreMetric(samples, tokens)
