"""Fetch the paper's checkpoints: download, verify, reduce to spectra, delete, one at a time.

The family's folder is whole after each checkpoint, so that a fetch may be stopped at any moment
and the next one goes on from there. The hub library's own cache is left as it is.
"""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spectral_lib.checkpoints.directory import CONFIG, open_directory
from spectral_lib.checkpoints.hub import announce
from spectral_lib.checkpoints.transfer import ByteProgress, transfer
from spectral_lib.errors import (
    CheckpointError,
    DomainError,
    HubError,
    HubUnreachableError,
    StaleFileError,
    one_line,
)
from spectral_lib.families import FAMILIES
from spectral_lib.families.folder import (
    MANIFEST,
    file_sha256,
    read_manifest,
    verified,
    write_manifest,
)
from spectral_lib.families.miniatures import MINIATURES, short_name, sizes
from spectral_lib.files import TEMPORARY
from spectral_lib.loading import spectra_of
from spectral_lib.transformer import TransformerSpectra

FAMILY = "miniatures"
#: Forms of the weights in the order of preference: the first is read layer by layer.
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
CARD = "README.md"
LOCK = ".lock"
_LICENCE = re.compile(r"\A---\n(?:(?!---).*\n)*?license:[ \t]*(?P<licence>\S+)")

#: Called with a model, what is being done with it, and how much of it is done and in all:
#: bytes that arrive, layers analysed, and at last models that are stored.
Watch = Callable[[str, str, int, int], None]
DOWNLOAD, ANALYSIS, STORED = "download", "analysis", "stored"


def fetch_miniatures(
    folder: Path, models: Sequence[str] = MINIATURES, *, keep: bool = False, watch: Watch
) -> dict[str, str]:
    """Fetch the models whose spectra are not stored yet; return why others could not be had.

    Parameters
    ----------
    folder
        Of the family: ``manifest.json``, ``spectra/`` and, meanwhile, ``downloads/``.
    models
        Hub ids that end in ``_L-<L>_H-<N>_A-<H>``.
    keep
        Leave the checkpoints that are fetched in ``downloads/``.
    watch
        Hears of the progress.

    Raises
    ------
    HubUnreachableError
        The hub does not answer: nothing more is asked of it. What was stored stays.
    OutputError
        The disk is full, or cannot be written.
    DomainError
        The folder holds another family or other things, or another fetch is at work there.
    MissingExtraError
        A package is not installed: huggingface_hub, or torch where the weights need it.
    """
    failures: dict[str, str] = {}
    _require_ours(folder)
    with _alone(folder):
        members = _stored(folder)
        for model in models:
            if model in members:
                continue
            try:
                members[model] = _fetch(model, folder, watch)
            except HubUnreachableError as error:
                raise HubUnreachableError(
                    f"{error}; {len(members)} models are stored, the next run goes on from here"
                ) from error
            except (HubError, CheckpointError) as error:
                failures[model] = str(error)
                continue
            _write(folder, members)
            if not keep:
                shutil.rmtree(_downloads(folder, model), ignore_errors=True)
            watch(model, STORED, len(members.keys() & models), len(models))
    if not keep:
        with suppress(OSError):
            (folder / "downloads").rmdir()  # unless parts wait there for the next run
    return failures


@dataclass(frozen=True)
class _Download:
    """A checkpoint that is here, and what the hub said of it."""

    folder: Path
    commit: str
    weights: str
    licence: str | None


def _fetch(model: str, folder: Path, watch: Watch) -> dict[str, Any]:
    """Bring one checkpoint here, store its spectra, and return its entry in the manifest."""
    downloads = _downloads(folder, model)
    found = _download(model, downloads, lambda *done: watch(model, DOWNLOAD, *done))
    try:
        checkpoint = open_directory(found.folder, model)
        have = (checkpoint.num_layers, checkpoint.hidden_size, checkpoint.num_heads)
        if have != sizes(model):
            raise CheckpointError(f"{model}: its configuration has L, N, H = {have}")
        spectra = spectra_of(checkpoint, progress=lambda *done: watch(model, ANALYSIS, *done))
    except CheckpointError:
        shutil.rmtree(downloads, ignore_errors=True)  # it is what the hub has: no use in keeping it
        raise
    file = f"spectra/{short_name(model)}.npz"
    (folder / "spectra").mkdir(exist_ok=True)
    spectra.save(folder / file)
    return {
        "model": model,
        "num_layers": spectra.num_layers,
        "hidden_size": spectra.hidden_size,
        "spectra": file,
        "commit": found.commit,
        "weights": found.weights,
        "weights_sha256": spectra.source_sha256,
        "licence_on_the_hub": found.licence,
    }


def _download(model: str, downloads: Path, progress: ByteProgress) -> _Download:
    """Bring configuration, card and weights of one commit; say how the weights come along."""
    config = announce(model, CONFIG, None)
    if config is None:
        raise HubError(f"{model}: the repository has no {CONFIG}")
    commit = config.commit
    forms = ((form, announce(model, form, commit)) for form in WEIGHTS)
    weights = next(((form, remote) for form, remote in forms if remote), None)
    if weights is None:
        raise HubError(f"{model}: the repository has none of {', '.join(WEIGHTS)}")
    folder = downloads / commit
    folder.mkdir(parents=True, exist_ok=True)
    transfer(config, folder / CONFIG)
    card = announce(model, CARD, commit)
    if card is not None:
        transfer(card, folder / CARD)
    form, remote = weights
    transfer(remote, folder / form, progress)
    return _Download(folder, commit, form, _licence(folder / CARD))


def _licence(card: Path) -> str | None:
    """Return the licence that the head of a model card names."""
    text = card.read_text(encoding="utf-8", errors="replace") if card.exists() else ""
    match = _LICENCE.match(text)
    return match["licence"] if match else None


def _downloads(folder: Path, model: str) -> Path:
    return folder / "downloads" / short_name(model)


def _require_ours(folder: Path) -> None:
    """Refuse a folder whose manifest is not this family's: nothing in it is to be touched.

    A damaged manifest is taken for this family's where nothing else is in the folder.
    """
    path = folder / MANIFEST
    if not path.exists():
        return
    try:
        family = read_manifest(folder)["family"]
    except (StaleFileError, KeyError):
        ours = {MANIFEST, LOCK, "spectra", "downloads"}
        names = (p.name for p in folder.iterdir() if not p.name.startswith(TEMPORARY))
        others = sorted(set(names) - ours) if path.is_file() else [MANIFEST]
        if others:
            raise DomainError(
                f"{folder}: holds no family but {one_line(repr(others[0]), 120)}; give another"
            ) from None
        return
    if family != FAMILY:
        raise DomainError(f"{folder}: holds the family {one_line(repr(family), 120)}; give another")


def _stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of the models whose spectra are here and whole, by model.

    What is damaged is taken out of the manifest, so that the rest can be read.
    """
    if not (folder / MANIFEST).exists():
        return {}
    try:
        manifest = read_manifest(folder)
        entries = {entry["model"]: entry for entry in manifest["members"]}
        members = {m: entry for m, entry in entries.items() if _whole(folder, manifest, entry)}
    except (StaleFileError, AttributeError, KeyError, TypeError):
        entries, members = {}, {}  # all of it can be fetched again
    if not members:
        (folder / MANIFEST).unlink()
    elif len(members) < len(entries):
        _write(folder, members)
    return members


def _whole(folder: Path, manifest: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    try:
        spectra = TransformerSpectra.load(verified(folder, manifest, entry["spectra"]))
    except StaleFileError:
        return False
    found = (spectra.model, spectra.num_layers, spectra.hidden_size)
    return found == (entry["model"], entry["num_layers"], entry["hidden_size"])


def _write(folder: Path, members: Mapping[str, Mapping[str, Any]]) -> None:
    entries = sorted(members.values(), key=lambda m: (m["num_layers"], m["hidden_size"]))
    manifest = {"family": FAMILY, "title": FAMILIES[FAMILY], "members": entries}
    files = {entry["spectra"]: file_sha256(folder / entry["spectra"]) for entry in entries}
    write_manifest(folder, manifest, files)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder; the system lets go of it when this process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DomainError(f"{folder}: another fetch is at work here; wait for it") from None
        for left in (*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"spectra/{TEMPORARY}*")):
            left.unlink()  # of a fetch that was killed
        yield
