"""Batches: the promised shares, and nothing random but the seed and the step."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spectral_lib.experiments import batches
from spectral_lib.experiments.batches import held_out_batches, training_batch, unigram_entropy
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.vocabulary import MASK, SEPARATOR, SPECIAL, START

RECIPE = Recipe(2, 32, vocabulary=100, batch=4096)


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(1)
    texts = (np.append(rng.integers(len(SPECIAL), 100, 19), SEPARATOR) for _ in range(2000))
    return np.concatenate(list(texts)).astype(np.uint16)


@pytest.fixture(scope="module")
def batch(stream):
    return training_batch(stream, RECIPE, 3)


def original(batch):
    whole = batch.tokens.copy()
    whole[batch.chosen] = batch.targets
    return whole


def assert_share(count, total, share):
    """Five standard deviations of a binomial count."""
    assert abs(count - share * total) < 5 * math.sqrt(share * (1 - share) * total)


def test_shares_of_chosen_masked_replaced_and_kept_tokens(batch):
    words = original(batch) >= len(SPECIAL)
    shown, number = batch.tokens[batch.chosen], batch.targets.size
    assert_share(number, words.sum(), 0.15)
    by_chance = 0.1 / (100 - len(SPECIAL))  # replaced by the same piece
    assert_share((shown == MASK).sum(), number, 0.8)
    assert_share((shown == batch.targets).sum(), number, 0.1 + by_chance)
    assert_share(((shown != batch.targets) & (shown != MASK)).sum(), number, 0.1 - by_chance)
    replaced = shown[(shown != batch.targets) & (shown != MASK)]
    assert replaced.min() >= len(SPECIAL)


def test_no_special_token_is_chosen_and_each_window_starts_with_one(batch):
    assert batch.targets.min() >= len(SPECIAL)
    assert (batch.tokens[:, 0] == START).all()
    assert not batch.chosen[original(batch) == SEPARATOR].any()


def test_windows_are_pieces_of_the_stream_up_to_both_ends(stream):
    recipe = replace(RECIPE, length=8)
    short = stream[:9]  # 7 tokens fit at three places
    rows = {tuple(row[1:]) for row in original(training_batch(short, recipe, 0))}
    assert rows == {tuple(short[i : i + 7].tolist()) for i in range(3)}


def test_a_batch_depends_on_seed_and_step_alone(stream, batch):
    training_batch(stream, RECIPE, 9)
    held_out_batches(stream, RECIPE)
    np.random.default_rng(0)
    again = training_batch(stream, replace(RECIPE, steps=7, learning_rate=1.0), 3)
    for name in ("tokens", "chosen", "targets"):
        np.testing.assert_array_equal(getattr(again, name), getattr(batch, name))
    for other in (training_batch(stream, RECIPE, 4), training_batch(stream, _seeded(1), 3)):
        assert not np.array_equal(original(other), original(batch))


def _seeded(seed):
    return replace(RECIPE, seed=seed)


def test_held_out_windows_cover_the_text_once_in_order(stream):
    recipe = replace(RECIPE, batch=32)
    parts = held_out_batches(stream, recipe)
    text = np.concatenate([original(part)[:, 1:].ravel() for part in parts])
    np.testing.assert_array_equal(text, stream[: text.size])
    assert 0 <= stream.size - text.size < recipe.length - 1
    again = held_out_batches(stream, recipe)
    assert all(np.array_equal(a.tokens, b.tokens) for a, b in zip(parts, again, strict=True))


def test_a_limit_spreads_the_held_out_windows(stream):
    recipe = replace(RECIPE, batch=32)
    rows = np.concatenate([original(part)[:, 1:] for part in held_out_batches(stream, recipe, 10)])
    windows = stream[: stream.size // 63 * 63].reshape(-1, 63)
    places = [int(np.flatnonzero((windows == row).all(axis=1))[0]) for row in rows]
    assert 10 <= len(places) <= 13
    assert set(np.diff(places)) == {len(windows) // 10}


def test_unigram_entropy_of_a_known_stream():
    stream = np.array([7, 7, SEPARATOR, 8, 9, 1, 1], dtype=np.uint16)
    assert unigram_entropy(stream) == pytest.approx(1.5 * math.log(2), rel=1e-14)
    assert unigram_entropy(np.array([7, 7, 7])) == 0.0


def test_the_digest_sees_both_streams(stream):
    tokens = batches.Tokens(stream, stream[:50])
    assert tokens.digest == batches.Tokens(stream.copy(), stream[:50].copy()).digest
    for other in (batches.Tokens(stream[1:], stream[:50]), batches.Tokens(stream, stream[:49])):
        assert other.digest != tokens.digest
