"""Batches of masked-language-model training, each a function of the seed and the step alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.vocabulary import MASK, SPECIAL, START

#: Second seed of the held-out masks: no training step has this number.
HELD_OUT_SEED = 2**31


@dataclass(frozen=True, eq=False)
class Tokens:
    """The corpus as two streams of token numbers, uint16."""

    train: np.ndarray
    held_out: np.ndarray

    @property
    def digest(self) -> str:
        """Hash of both streams."""
        found = hashlib.sha256(self.train.tobytes())
        found.update(b"held out" + self.held_out.tobytes())
        return found.hexdigest()


@dataclass(frozen=True, eq=False)
class Batch:
    """What the model sees, which tokens it must predict, and what they are.

    Attributes
    ----------
    tokens
        int64 [B, T], after masking.
    chosen
        bool [B, T], the tokens to predict.
    targets
        int64 [m], the true tokens at the m chosen places.
    """

    tokens: np.ndarray
    chosen: np.ndarray
    targets: np.ndarray

    def all_masked(self) -> Batch:
        """Return the batch with a mask at every chosen place: nothing there can be copied."""
        return replace(self, tokens=np.where(self.chosen, MASK, self.tokens))


def training_batch(stream: np.ndarray, recipe: Recipe, step: int) -> Batch:
    """Return the batch of one step: windows of the stream at random places, masked at random."""
    rng = np.random.default_rng([recipe.seed, step])
    starts = rng.integers(0, stream.size - recipe.length + 2, size=recipe.batch)
    return _masked(_windows(stream, starts, recipe.length), recipe, rng)


def held_out_batches(stream: np.ndarray, recipe: Recipe, limit: int | None = None) -> list[Batch]:
    """Return the held-out text once, in windows side by side, with masks that never change.

    With a limit, about so many of the windows, evenly spaced: the sources follow each other in
    the text, so that its beginning alone would be another text.
    """
    inner = recipe.length - 1
    starts = np.arange(0, stream.size - inner + 1, inner)
    starts = starts[:: 1 if limit is None else max(1, starts.size // limit)]
    rng = np.random.default_rng([recipe.seed, HELD_OUT_SEED])
    windows = _windows(stream, starts, recipe.length)
    parts = (windows[i : i + recipe.batch] for i in range(0, len(windows), recipe.batch))
    return [_masked(part, recipe, rng) for part in parts]


def unigram_entropy(stream: np.ndarray) -> float:
    r"""Return :math:`-\sum_v q_v \log q_v` in nats, q the token frequencies of the stream itself.

    No predictor that gives every place the same distribution has a smaller loss on the stream, one
    that knows q included; one that may copy the token shown at the place itself has
    (:func:`own_token_entropy`). Special tokens are left out, ``[UNK]`` among them, as they are
    never predicted.
    """
    counts = np.bincount(stream[stream >= len(SPECIAL)])
    return _entropy(counts / counts.sum())


def own_token_entropy(stream: np.ndarray, recipe: Recipe) -> float:
    r"""Return the least loss of a predictor that sees the token at its own place and no other.

    .. math:: H(q) - (b + c) \, \big(H(r) - h\big), \qquad
        r_u = \frac{c \, q_u + b / V}{b + c}

    in nats, with q the token frequencies of the stream, b and c the shares of chosen tokens that
    are replaced by one of the V word pieces and left alone, and h the entropy of the shown token
    given the true one. It is smaller than H(q): a token left alone can be copied.

    Source: derived in the book, chapter on the family.
    """
    counts = np.bincount(stream, minlength=recipe.vocabulary)[len(SPECIAL) :]
    true = counts / counts.sum()
    replaced = 0.5 / true.size  # of the tokens shown, half are replaced and half left alone
    shown = 0.5 * true + replaced
    given_true = np.append(np.full(true.size - 1, replaced), 0.5 + replaced)
    return _entropy(true) - 0.2 * (_entropy(shown) - _entropy(given_true))


def _entropy(probabilities: np.ndarray) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


def _windows(stream: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    inside = stream[starts[:, None] + np.arange(length - 1)]
    return np.hstack([np.full((len(starts), 1), START), inside]).astype(np.int64)


def _masked(tokens: np.ndarray, recipe: Recipe, rng: np.random.Generator) -> Batch:
    chosen = (rng.random(tokens.shape) < recipe.masked) & (tokens >= len(SPECIAL))
    fate = rng.random(tokens.shape)
    other = rng.integers(len(SPECIAL), recipe.vocabulary, tokens.shape)
    shown = np.where(chosen & (fate < 0.8), MASK, tokens)
    shown = np.where(chosen & (fate >= 0.9), other, shown)
    return Batch(shown, chosen, tokens[chosen])
