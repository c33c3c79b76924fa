"""From finished training runs to the family that ships with the library."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spectral_lib.checkpoints import PACKAGED
from spectral_lib.errors import DomainError, one_line
from spectral_lib.experiments.batches import (
    held_out_batches,
    own_token_entropy,
    unigram_entropy,
)
from spectral_lib.experiments.corpus import SOURCES
from spectral_lib.experiments.placing import replacing_family
from spectral_lib.experiments.preparation import Prepared
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.state import TrainingState, read_state, run_digest, spectra_path
from spectral_lib.families import FAMILIES
from spectral_lib.families.folder import file_sha256, write_manifest

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

#: Models whose weights are published beside their spectra.
WEIGHTS = ("L2-N32", "L4-N64")

_LIBRARIES = ("numpy", "tokenizers", "torch", "transformers")


def publish(runs: Path, recipes: Sequence[Recipe], prepared: Prepared, output: Path) -> None:
    """Write spectra, losses, weights and manifest of finished runs as a family's folder.

    The folder is written beside ``output`` and takes its place when it is whole. Between the two
    renames that this takes there is no family at ``output``, and never a mixture of two.

    Raises
    ------
    DamagedStateError, OtherRunError
        A run cannot be read.
    DomainError
        A run is not finished.
    OutputError
        ``output`` is something else than a family's folder or an empty one, or cannot be written.
    """
    states = {recipe.name: _finished(runs, recipe, prepared) for recipe in recipes}
    with replacing_family(output) as folder:
        _write(folder, runs, recipes, states, prepared)


def _write(
    folder: Path,
    runs: Path,
    recipes: Sequence[Recipe],
    states: Mapping[str, TrainingState],
    prepared: Prepared,
) -> None:
    members = [_member(runs, recipe, states[recipe.name], prepared, folder) for recipe in recipes]
    curves: dict[str, Any] = {
        f"{recipe.model}.{array}": values
        for recipe in recipes
        for array, values in _curves(recipe, states[recipe.name], prepared).items()
    }
    np.savez_compressed(folder / "losses.npz", **curves)
    weights = {
        recipe.name: write_weights(recipe, states[recipe.name], folder / "weights" / recipe.name)
        for recipe in recipes
        if recipe.name in WEIGHTS
    }
    (folder / "weights").mkdir(exist_ok=True)
    pieces = "".join(f"{piece}\n" for piece in prepared.vocabulary)
    (folder / "weights" / "vocab.txt").write_text(pieces, encoding="utf-8")
    manifest = {
        "family": "grid",
        "title": FAMILIES["grid"],
        "licence": "MIT",
        "members": sorted(members, key=lambda m: (m["num_layers"], m["hidden_size"])),
        "losses": "losses.npz",
        "weights": weights,
        "corpus": {**prepared.corpus, "licences": SOURCES, "tokens": _sizes(prepared)},
        "unigram_entropy": unigram_entropy(prepared.tokens.held_out),
        "own_token_entropy": own_token_entropy(prepared.tokens.held_out, recipes[0]),
        "packaged": _packaged(),
        "environment": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            **{name: version(name) for name in _LIBRARIES},
        },
    }
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): file_sha256(path) for path in written}
    write_manifest(folder, manifest, hashes)


def _packaged() -> dict[str, dict[str, str]]:
    """Return provenance and licence of the pretrained checkpoints that the book compares with."""
    facts = ("distribution", "origin", "licence", "sha256")
    return {name: {fact: getattr(p, fact) for fact in facts} for name, p in PACKAGED.items()}


def write_weights(recipe: Recipe, state: TrainingState, folder: Path) -> str:
    """Write a model as transformers does, config.json and model.safetensors; return its folder."""
    from safetensors import SafetensorError
    from transformers.utils import logging

    model = _model(recipe, state)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model.save_pretrained(folder)
    except SafetensorError as error:  # a full disk, for one: it is no OSError
        raise OSError(one_line(error, 120)) from error
    for file in folder.iterdir():
        file.chmod(0o644)  # written as private files
    return f"weights/{folder.name}"


def _model(recipe: Recipe, state: TrainingState) -> BertForMaskedLM:
    from spectral_lib.experiments.training import new_model

    model = new_model(recipe)
    model.load_state_dict(state.weights)
    return model


def _member(
    runs: Path, recipe: Recipe, state: TrainingState, prepared: Prepared, output: Path
) -> dict[str, Any]:
    from spectral_lib.experiments.training import held_out_loss

    folder = output / "spectra" / recipe.name
    folder.mkdir(parents=True)
    spectra = {}
    for step in recipe.snapshots:
        source = spectra_path(runs / recipe.name, step)
        shutil.copyfile(source, folder / source.name)
        spectra[str(step)] = f"spectra/{recipe.name}/{source.name}"
    model = _model(recipe, state)
    batches = held_out_batches(prepared.tokens.held_out, recipe)
    return {
        "model": recipe.model,
        "num_layers": recipe.num_layers,
        "hidden_size": recipe.hidden_size,
        "spectra": spectra,
        "recipe": json.loads(json.dumps(asdict(recipe))),
        "seconds": round(state.seconds, 1),
        "parameters": model.num_parameters(),
        "held_out_loss": state.held_out[-1][1],
        "all_masked_loss": held_out_loss(model, [batch.all_masked() for batch in batches]),
    }


def _finished(runs: Path, recipe: Recipe, prepared: Prepared) -> TrainingState:
    state = read_state(runs / recipe.name, run_digest(recipe, prepared.tokens.digest))
    if state is None or state.step < recipe.steps:
        done = 0 if state is None else state.step
        raise DomainError(
            f"{recipe.name} is not trained yet ({done} of {recipe.steps} steps); go on training it"
        )
    return state


def _curves(recipe: Recipe, state: TrainingState, prepared: Prepared) -> dict[str, np.ndarray]:
    """Return the losses; the last held-out loss on the same windows as those before it.

    The last evaluation of a run takes the whole text, the others a selection of its windows. A
    curve that ended in the former would end in a jump.
    """
    from spectral_lib.experiments import training

    steps, losses = map(list, zip(*state.held_out, strict=True))
    batches = held_out_batches(prepared.tokens.held_out, recipe, training.WINDOWS)
    losses[-1] = training.held_out_loss(_model(recipe, state), batches)
    return {
        "training": np.array(state.losses),
        "held_out_steps": np.array(steps),
        "held_out": np.array(losses),
    }


def _sizes(prepared: Prepared) -> dict[str, int]:
    tokens = prepared.tokens
    return {"training": tokens.train.size, "held_out": tokens.held_out.size}
