"""A run that takes a second: one small model, on a text of 64 word pieces that can be learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from spectral_lib.experiments.batches import Tokens
from spectral_lib.experiments.preparation import Prepared, write_prepared
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.vocabulary import LETTERS, SPECIAL

PIECES = (*SPECIAL, *LETTERS)[:64]

RECIPE = Recipe(
    2,
    32,
    vocabulary=len(PIECES),
    length=16,
    batch=8,
    steps=60,
    warmup=6,
    learning_rate=1e-2,
    snapshots=(0, 20, 60),
)

#: Long enough to be interrupted: some seconds where every step is stored.
LONG = replace(RECIPE, steps=400, snapshots=(0, 150, 151, 400))


def tokens() -> Tokens:
    """Return runs through the alphabet, from two of its letters, between separators."""
    rng = np.random.default_rng(7)
    runs = (rng.choice([5, 20]) + np.arange(rng.integers(4, 10)) for _ in range(600))
    stream = np.concatenate([[*run, 3] for run in runs]).astype(np.uint16)
    return Tokens(stream[:-400], stream[-400:])


def prepared() -> Prepared:
    facts = {
        "sha256": "f" * 64,
        "versions": {"python": "3"},
        "characters": 9,
        "docstrings": 2,
        "held_out_docstrings": 1,
    }
    return Prepared(tokens(), PIECES, facts)


def prepare(folder: Path) -> Prepared:
    folder.mkdir(parents=True, exist_ok=True)
    write_prepared(folder, prepared())
    return prepared()
