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
from spectral_lib.families.folder import file_sha256
from spectral_lib.files import replacing

STATE = "training.state"

#: Seconds between two stored states. With the step and the evaluation under way, a process that
#: is killed loses less than a minute of work.
STORE_EVERY = 50.0

#: Length of the SHA-256 behind the state.
DIGEST_BYTES = 32


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


class TrainingError(SpectralLibError):
    """A training run cannot begin, or cannot go on."""


class DamagedStateError(TrainingError):
    """A stored training state is not what was written."""


class OtherRunError(TrainingError):
    """A stored training state belongs to another recipe, or to another text."""


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
    """Return the stored state of this run, or ``None`` where nothing is stored.

    Raises
    ------
    DamagedStateError
        The file's hash is wrong, or a spectra file that it names is missing or changed.
    OtherRunError
        The state is whole, but of another recipe or another text.
    """
    path = folder / STATE
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return None
    import torch

    payload, digest = stored[:-DIGEST_BYTES], stored[-DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != digest:
        raise DamagedStateError(f"{path}: damaged or half-written")
    fields = torch.load(io.BytesIO(payload), weights_only=True)
    if fields["run"] != run:
        raise OtherRunError(
            f"{path}: {fields['step']} steps of another recipe or on another text are stored here"
        )
    state = TrainingState(**fields)
    for step, expected in state.snapshots.items():
        spectra = spectra_path(folder, step)
        if not spectra.is_file() or file_sha256(spectra) != expected:
            raise DamagedStateError(f"{spectra}: missing or damaged")
    return state


def discard(folder: Path) -> None:
    """Remove the state of a run and its spectra."""
    for path in (folder / STATE, *folder.glob("step-*.npz")):
        path.unlink(missing_ok=True)
