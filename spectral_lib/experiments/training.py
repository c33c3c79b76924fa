"""Train one model of the grid, from its first step or from a stored state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from spectral_lib.errors import MissingExtraError

try:
    import torch
    from transformers import BertConfig, BertForMaskedLM
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"the training needs {error.name}; install the extra: pip install 'spectral-lib[torch]'"
    ) from error

from spectral_lib.experiments.batches import Batch, Tokens, held_out_batches, training_batch
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.state import (
    STORE_EVERY,
    TrainingState,
    read_state,
    run_digest,
    spectra_path,
    write_state,
)
from spectral_lib.families.folder import file_sha256
from spectral_lib.loading import load

#: Held-out windows of an intermediate evaluation; the last one takes all.
WINDOWS = 256
#: Steps between two evaluations.
EVALUATE_EVERY = 100

#: Called after every step with its number; returns whether to stop and store.
Watch = Callable[[int], bool]


def train(
    recipe: Recipe, tokens: Tokens, folder: Path, watch: Watch = lambda step: False
) -> TrainingState:
    """Train a model until its last step, or until ``watch`` asks to stop; store the state.

    One thread computes: the same recipe and tokens give the same weights bit by bit, wherever the
    run was interrupted.

    Parameters
    ----------
    recipe, tokens
        What to train, and on what.
    folder
        Where the state and the spectra of this model live; a stored state is gone on with.
    watch
        Called after every step.

    Raises
    ------
    DamagedStateError, OtherRunError
        The state that is stored there cannot be gone on with;
        :func:`~spectral_lib.experiments.state.discard` removes it.
    OutputError
        A file cannot be written.
    """
    torch.set_num_threads(1)
    run = _Run(recipe, tokens, folder)
    stored = time.monotonic()
    while run.step < recipe.steps:
        run.one_step()
        stop = watch(run.step)
        if stop or run.step == recipe.steps or time.monotonic() - stored > STORE_EVERY:
            run.store()
            stored = time.monotonic()
        if stop:
            break
    return run.state()


class _Run:
    """A model, its optimiser and its records, between two steps."""

    def __init__(self, recipe: Recipe, tokens: Tokens, folder: Path) -> None:
        self.recipe, self.tokens, self.folder = recipe, tokens, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.model = new_model(recipe)
        self.optimizer = _optimizer(self.model, recipe)
        self.step, self.seconds = 0, 0.0
        self.losses: list[float] = []
        self.held_out: list[tuple[int, float]] = []
        self.snapshots: dict[int, str] = {}
        self.run_digest = run_digest(recipe, tokens.digest)
        state = read_state(folder, self.run_digest)
        if state is None:
            self._record()
            return
        self.model.load_state_dict(state.weights)
        if state.step < recipe.steps:
            self.optimizer.load_state_dict(state.optimizer)
        self.step, self.seconds = state.step, state.seconds
        self.losses, self.held_out = list(state.losses), list(state.held_out)
        self.snapshots = dict(state.snapshots)

    def one_step(self) -> None:
        begun = time.perf_counter()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.recipe, self.step)
        self.model.train()
        loss = masked_loss(self.model, training_batch(self.tokens.train, self.recipe, self.step))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.losses.append(loss.item())
        self.step += 1
        self._record()
        self.seconds += time.perf_counter() - begun

    def _record(self) -> None:
        last = self.step == self.recipe.steps
        if self.step % EVALUATE_EVERY == 0 or last:
            batches = held_out_batches(self.tokens.held_out, self.recipe, None if last else WINDOWS)
            self.held_out.append((self.step, held_out_loss(self.model, batches)))
        if self.step in self.recipe.snapshots:
            path = spectra_path(self.folder, self.step)
            replace(load(self.model), model=self.recipe.model).save(path)
            self.snapshots[self.step] = file_sha256(path)

    def state(self) -> TrainingState:
        done = self.step == self.recipe.steps
        return TrainingState(
            run=self.run_digest,
            step=self.step,
            weights=self.model.state_dict(),
            optimizer={} if done else self.optimizer.state_dict(),
            losses=self.losses,
            held_out=self.held_out,
            snapshots=self.snapshots,
            seconds=self.seconds,
        )

    def store(self) -> None:
        write_state(self.folder, self.state())


def new_model(recipe: Recipe) -> BertForMaskedLM:
    """Return the model at its initial weights: BERT's own initialisation, from the seed."""
    torch.manual_seed(recipe.seed)
    return BertForMaskedLM(bert_config(recipe))


def bert_config(recipe: Recipe) -> BertConfig:
    """Return the configuration of a model; dropout is off.

    The windows of a run hold less text than the stream has, so that there is little to overfit:
    drawn at random, they leave some text out and show other text a few times.
    """
    return BertConfig(
        vocab_size=recipe.vocabulary,
        hidden_size=recipe.hidden_size,
        num_hidden_layers=recipe.num_layers,
        num_attention_heads=recipe.hidden_size // recipe.head_size,
        intermediate_size=4 * recipe.hidden_size,
        max_position_embeddings=recipe.length,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def learning_rate(recipe: Recipe, step: int) -> float:
    """Return the rate of a step, counted from 0: linear warm-up, then linear decay to 0."""
    up = (step + 1) / recipe.warmup
    down = (recipe.steps - step) / (recipe.steps - recipe.warmup)
    return recipe.learning_rate * min(up, down)


def masked_loss(model: BertForMaskedLM, batch: Batch) -> torch.Tensor:
    """Return the mean of -log p(true token), in nats, over the chosen tokens.

    The output layer is evaluated at the chosen tokens only: the same loss at a seventh of its cost.
    """
    hidden = model.bert(input_ids=torch.from_numpy(batch.tokens)).last_hidden_state
    logits = model.cls(hidden[torch.from_numpy(batch.chosen)])
    return torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch.targets))


def held_out_loss(model: BertForMaskedLM, batches: list[Batch]) -> float:
    """Return the mean loss over all chosen tokens of the batches."""
    model.eval()  # type: ignore[no-untyped-call]
    with torch.inference_mode():
        total = sum(masked_loss(model, b).item() * b.targets.size for b in batches)
    return total / sum(b.targets.size for b in batches)


def _optimizer(model: BertForMaskedLM, recipe: Recipe) -> torch.optim.AdamW:
    parameters = list(model.parameters())
    groups: list[dict[str, Any]] = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate)
