"""The grid and its recipe: which models are trained, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from spectral_lib.errors import DomainError

#: L and N of the grid: the depths of the paper's 24 checkpoints, and widths that two cores train.
DEPTHS = (2, 4, 6, 8, 10, 12)
WIDTHS = (32, 64, 96, 128)

#: Peak learning rate at the largest width; it grows as N^(-1/2) towards the smaller ones. Twice as
#: much at N = 128 left 12 layers at the unigram entropy in a trial.
PEAK_RATE = 1e-3


@dataclass(frozen=True)
class Recipe:
    """Every choice that decides the weights of one model.

    Attributes
    ----------
    num_layers, hidden_size
        L and N; there are N / ``head_size`` heads and the feed-forward width is 4N.
    vocabulary, length, batch
        Number of word pieces, tokens a sequence (the first is ``[CLS]``), sequences a step.
    steps, warmup
        Optimiser steps, of which the first ``warmup`` raise the learning rate linearly from 0 to
        ``learning_rate``; it falls linearly to 0 over the others.
    weight_decay, clip
        AdamW's decay, of matrices only, and the largest gradient norm.
    masked
        Share of tokens to predict: 80 % of them masked, 10 % replaced, 10 % left alone.
    seed
        Of the initial weights; batches and masks are drawn from (seed, step), so that a resumed
        run needs no generator's state.
    snapshots
        Steps at which the spectra are kept.
    """

    num_layers: int
    hidden_size: int
    head_size: int = 16
    vocabulary: int = 4096
    length: int = 64
    batch: int = 32
    steps: int = 1500
    warmup: int = 150
    learning_rate: float = PEAK_RATE
    weight_decay: float = 0.01
    clip: float = 1.0
    masked: float = 0.15
    seed: int = 0
    snapshots: tuple[int, ...] = (0, 50, 150, 500, 1500)

    @property
    def name(self) -> str:
        """Name of the run, as in ``L2-N32``."""
        return f"L{self.num_layers}-N{self.hidden_size}"

    @property
    def model(self) -> str:
        """Name that the library gives the model, as in ``grid/L2-N32``."""
        return f"grid/{self.name}"

    @property
    def cost(self) -> float:
        """About proportional to the time that the training takes: steps times L N^1.3."""
        return self.steps * self.num_layers * math.pow(self.hidden_size, 1.3)


def grid() -> tuple[Recipe, ...]:
    """Return the recipes of the 24 models, the most expensive first.

    Two workers that take them in this order finish at nearly the same time.
    """
    recipes = (
        Recipe(depth, width, learning_rate=PEAK_RATE * math.sqrt(WIDTHS[-1] / width))
        for depth in DEPTHS
        for width in WIDTHS
    )
    return tuple(sorted(recipes, key=lambda recipe: -recipe.cost))


def rehearsal(recipe: Recipe, steps: int) -> Recipe:
    """Return the recipe over another number of steps.

    The warm-up keeps its share of them; the spectra are kept at the same steps as far as they
    come, and after the last one. The recipe's own number of steps gives the recipe itself.

    Raises
    ------
    DomainError
        There are fewer than two steps: one that warms up and one that does not.
    """
    if steps < 2:
        raise DomainError(f"steps must be >= 2, got {steps}")
    return replace(
        recipe,
        steps=steps,
        warmup=max(1, steps * recipe.warmup // recipe.steps),
        snapshots=(*(step for step in recipe.snapshots if step < steps), steps),
    )


def select(recipes: tuple[Recipe, ...], names: list[str]) -> tuple[Recipe, ...]:
    """Return the recipes of the given names, in their own order; all of them where none is given.

    Raises
    ------
    DomainError
        A name is not that of a recipe.
    """
    for name in names:
        if name not in [recipe.name for recipe in recipes]:
            raise DomainError(
                f"the grid has no model {name!r}; it has L{{L}}-N{{N}} for L in {DEPTHS} and N in "
                f"{WIDTHS}"
            )
    return tuple(recipe for recipe in recipes if not names or recipe.name in names)
