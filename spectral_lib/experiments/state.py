"""The state of a training run on disk: whole, or not there, or known to be damaged."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spectral_lib.errors import SpectralLibError
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.files import replacing

STATE = "training.state"


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything that the next step depends on, and the records so far.

    Attributes
    ----------
    run
        Digest of the recipe and the tokens: tells this run's state from another's.
    step, seconds
        Steps done, and the seconds that they took.
    weights, optimizer
        State dictionaries; the optimiser's is empty after the last step.
    losses
        Training loss of each step, in nats.
    held_out
        (step, held-out loss) pairs.
    snapshots
        SHA-256 of the spectra file of each step that was kept.
    """

    run: str
    step: int
    weights: dict[str, Any]
    optimizer: dict[str, Any]
    losses: list[float]
    held_out: list[tuple[int, float]]
    snapshots: dict[int, str]
    seconds: float


class DamagedStateError(SpectralLibError):
    """A stored training state is not what was written."""


def run_digest(recipe: Recipe, tokens: str) -> str:
    """Return the digest of a run: of all fields of the recipe, and of the tokens' digest."""
    text = json.dumps([asdict(recipe), tokens], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def spectra_path(folder: Path, step: int) -> Path:
    """Return where the spectra of a step are kept."""
    return folder / f"step-{step:05d}.npz"


def write_state(folder: Path, state: TrainingState) -> None:
    """Write the state, its SHA-256 behind it, in place of the one before."""
    import torch

    stream = io.BytesIO()
    torch.save({name: getattr(state, name) for name in state.__dataclass_fields__}, stream)
    payload = stream.getvalue()
    with replacing(folder / STATE) as temporary:
        temporary.write_bytes(payload + hashlib.sha256(payload).digest())


def read_state(folder: Path, run: str) -> TrainingState | None:
    """Return the stored state of this run, or ``None`` where there is none.

    Raises
    ------
    DamagedStateError
        The file's hash is wrong, or a spectra file that it names is missing or changed.
    """
    import torch

    try:
        stored = (folder / STATE).read_bytes()
    except FileNotFoundError:
        return None
    payload, digest = stored[:-32], stored[-32:]
    if hashlib.sha256(payload).digest() != digest:
        raise DamagedStateError(f"{folder / STATE}: damaged or half-written")
    state = TrainingState(**torch.load(io.BytesIO(payload), weights_only=True))
    if state.run != run:
        return None
    for step, expected in state.snapshots.items():
        path = spectra_path(folder, step)
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise DamagedStateError(f"{path}: missing or damaged")
    return state
