"""One door for every kind of model: what was given, and who opens it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from spectral_lib.checkpoints.bundled import bundled_directory, bundled_names, names_a_grid_model
from spectral_lib.checkpoints.checkpoint import Checkpoint
from spectral_lib.checkpoints.directory import open_directory
from spectral_lib.checkpoints.files import label, os_reason
from spectral_lib.checkpoints.hub import HUB_ID, download, hub_name
from spectral_lib.checkpoints.live import is_module, open_module
from spectral_lib.checkpoints.packaged import PACKAGED, packaged_directory
from spectral_lib.checkpoints.source import quote
from spectral_lib.errors import CheckpointError


def open_checkpoint(
    model: str | os.PathLike[str] | Any,
    *,
    revision: str | None = None,
    offline: bool | None = None,
) -> Checkpoint:
    """Open a model and check its layout; the weights are read later, layer by layer.

    Parameters
    ----------
    model
        In this order: a live torch module with a BERT encoder inside; an existing directory with
        config.json and weights (model.safetensors, its sharded form, or pytorch_model.bin, which
        needs torch; a .bin in torch's format from before 1.6 is loaded whole); a packaged name
        (``"all-MiniLM-L6-v2"``, ``"antiberty"``); one that comes with the library
        (``"grid/L2-N32"``, ``"grid/L4-N64"``); a hub id ``"owner/name"``.
    revision
        Branch, tag or commit of a hub id.
    offline
        ``True`` takes a hub id from the local cache alone; ``None`` follows HF_HUB_OFFLINE.

    Raises
    ------
    CheckpointError
        Something is wrong with the files or the module: one line with file, tensor and reason.
        Its subclasses tell unsupported architectures and quantised weights apart.
    HubError
        A hub id could not be brought here.
    MissingExtraError
        The way the model is stored needs a package that is not installed.
    """
    if is_module(model):
        _refuse_revision(revision, "a live module")
        return open_module(model)
    if not isinstance(model, str | os.PathLike):
        raise CheckpointError(
            f"expected a directory, a packaged name, a hub id or a torch module, "
            f"got {quote(model)} of type {type(model).__name__}"
        )
    given = os.fsdecode(model)
    if not given:
        raise CheckpointError("the model is an empty string, expected a directory, name or hub id")
    path = Path(os.path.expanduser(given))
    if _is_directory(path):
        _refuse_revision(revision, "a directory")
        return open_directory(path, given)
    if isinstance(model, str) and given in PACKAGED:
        _refuse_revision(revision, "a packaged checkpoint")
        return open_directory(packaged_directory(given), given)
    if isinstance(model, str) and given in bundled_names():
        _refuse_revision(revision, "a checkpoint of the library")
        return open_directory(bundled_directory(given), given)
    if isinstance(model, str) and names_a_grid_model(given):  # no owner of that name is asked
        here = ", ".join(bundled_names()) or "none"
        raise CheckpointError(
            f"{quote(given)}: of the grid, only {here} come with their weights; spectra of all its "
            "models are in load_family('grid')"
        )
    if isinstance(model, str) and HUB_ID.fullmatch(given):
        directory = download(given, revision=revision, offline=offline)
        return open_directory(directory, hub_name(given, revision))
    if isinstance(model, os.PathLike) or _looks_like_path(given):
        raise CheckpointError(
            f"{label(path)}: no such directory, expected one with config.json and weights"
        )
    raise CheckpointError(
        f"{quote(given)} is no directory, no packaged name "
        f"({', '.join((*PACKAGED, *bundled_names()))}) "
        "and no hub id of the form owner/name"
    )


def _is_directory(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        raise CheckpointError(f"{label(path)}: {os_reason(error)}") from error
    if not path.is_dir():
        raise CheckpointError(f"{label(path)}: this is a file, give the directory that holds it")
    return True


def _looks_like_path(given: str) -> bool:
    return given.startswith((".", "~")) or bool({*given} & {"/", "\\"})


def _refuse_revision(revision: str | None, what: str) -> None:
    if revision is not None:
        raise CheckpointError(f"revision {quote(revision)} applies to hub ids, not to {what}")
