"""From finished training runs to the family that ships with the library."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from spectral_lib.errors import DomainError
from spectral_lib.experiments.batches import own_token_entropy, unigram_entropy
from spectral_lib.experiments.corpus import SOURCES
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.runner import Prepared
from spectral_lib.experiments.state import TrainingState, read_state, run_digest, spectra_path
from spectral_lib.families import FAMILIES
from spectral_lib.families.folder import MANIFEST, file_sha256, write_manifest
from spectral_lib.files import replacing

#: Models whose weights are published beside their spectra.
WEIGHTS = ("L2-N32", "L4-N64")

_LIBRARIES = ("numpy", "tokenizers", "torch", "transformers")


def publish(runs: Path, recipes: Sequence[Recipe], prepared: Prepared, output: Path) -> None:
    """Write spectra, losses, weights and manifest of finished runs as a family's folder.

    The manifest is removed first and written last, so that an interrupted publication is no
    family rather than a mixture of two.

    Raises
    ------
    DomainError
        A run is not finished.
    """
    states = {recipe.name: _finished(runs, recipe, prepared) for recipe in recipes}
    output.mkdir(parents=True, exist_ok=True)
    (output / MANIFEST).unlink(missing_ok=True)
    members = [_member(runs, recipe, states[recipe.name], output) for recipe in recipes]
    curves: dict[str, Any] = {
        f"{recipe.model}.{array}": values
        for recipe in recipes
        for array, values in _curves(states[recipe.name]).items()
    }
    with replacing(output / "losses.npz") as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **curves)
    weights = {
        recipe.name: write_weights(recipe, states[recipe.name], output / "weights" / recipe.name)
        for recipe in recipes
        if recipe.name in WEIGHTS
    }
    with replacing(output / "weights" / "vocab.txt") as temporary:
        temporary.write_text("\n".join(prepared.vocabulary) + "\n", encoding="utf-8")
    written = sorted(path for path in output.rglob("*") if path.is_file())
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
        "environment": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            **{name: version(name) for name in _LIBRARIES},
        },
    }
    hashes = {path.relative_to(output).as_posix(): file_sha256(path) for path in written}
    write_manifest(output, manifest, hashes)


def write_weights(recipe: Recipe, state: TrainingState, folder: Path) -> str:
    """Write a model as transformers does, config.json and model.safetensors; return its folder."""
    from transformers import BertForMaskedLM
    from transformers.utils import logging

    from spectral_lib.experiments.training import bert_config

    model = BertForMaskedLM(bert_config(recipe))
    model.load_state_dict(state.weights)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    for file in folder.iterdir():
        file.chmod(0o644)  # written as private files
    return f"weights/{folder.name}"


def _member(runs: Path, recipe: Recipe, state: TrainingState, output: Path) -> dict[str, Any]:
    from spectral_lib.experiments.training import new_model

    folder = output / "spectra" / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    spectra = {}
    for step in recipe.snapshots:
        source = spectra_path(runs / recipe.name, step)
        with replacing(folder / source.name) as temporary:
            shutil.copyfile(source, temporary)
        spectra[str(step)] = f"spectra/{recipe.name}/{source.name}"
    return {
        "model": recipe.model,
        "num_layers": recipe.num_layers,
        "hidden_size": recipe.hidden_size,
        "spectra": spectra,
        "recipe": json.loads(json.dumps(asdict(recipe))),
        "seconds": round(state.seconds, 1),
        "parameters": new_model(recipe).num_parameters(),
        "held_out_loss": state.held_out[-1][1],
    }


def _finished(runs: Path, recipe: Recipe, prepared: Prepared) -> TrainingState:
    state = read_state(runs / recipe.name, run_digest(recipe, prepared.tokens.digest))
    if state is None or state.step < recipe.steps:
        done = 0 if state is None else state.step
        raise DomainError(
            f"{recipe.name} is not trained yet ({done} of {recipe.steps} steps); go on training it"
        )
    return state


def _curves(state: TrainingState) -> dict[str, np.ndarray]:
    steps, losses = zip(*state.held_out, strict=True)
    return {
        "training": np.array(state.losses),
        "held_out_steps": np.array(steps),
        "held_out": np.array(losses),
    }


def _sizes(prepared: Prepared) -> dict[str, int]:
    tokens = prepared.tokens
    return {"training": tokens.train.size, "held_out": tokens.held_out.size}
