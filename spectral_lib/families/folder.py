"""A family on disk: a manifest with the hash of every file, and nothing read without it."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from spectral_lib.errors import StaleFileError, one_line
from spectral_lib.families.family import Family, LossCurve
from spectral_lib.files import replacing
from spectral_lib.transformer import TransformerSpectra

MANIFEST = "manifest.json"
#: Far above what a family holds; a larger file is something else, and is not read.
MAX_MANIFEST_BYTES, MAX_FILE_BYTES = 16 << 20, 256 << 20
#: Raised whenever a key of the manifest changes its name or meaning.
SCHEMA_VERSION = 1


def read_family(folder: Path) -> Family:
    """Read a family whose files are exactly those that its manifest names.

    Raises
    ------
    StaleFileError
        The manifest or a file is missing, damaged, or of another schema version.
    """
    manifest = read_manifest(folder)
    try:
        members, snapshots = [], {}
        for entry in manifest["members"]:
            model, files = entry["model"], entry["spectra"]
            if isinstance(files, str):  # a checkpoint without its history
                members.append(_spectra(folder, manifest, model, files))
                continue
            steps = {
                int(step): _spectra(folder, manifest, model, file) for step, file in files.items()
            }
            members.append(steps[max(steps)])
            snapshots[model] = steps
        losses = {}
        if "losses" in manifest:
            with np.load(verified(folder, manifest, manifest["losses"])) as stored:
                losses = {model: _curve(stored, model) for model in snapshots}
        return Family(
            manifest["family"], manifest["title"], tuple(members), snapshots, losses, manifest
        )
    except StaleFileError:
        raise
    except Exception as error:  # whatever a damaged folder can provoke, the folder is at fault
        raise StaleFileError(f"{folder}: not a readable family ({one_line(error, 120)})") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a family's folder.

    Raises
    ------
    StaleFileError
        It is missing, damaged, or of another schema version.
    """
    path = folder / MANIFEST
    try:
        _require_modest(path, MAX_MANIFEST_BYTES)
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["schema_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StaleFileError(f"{path}: not a readable manifest ({one_line(error, 120)})") from error
    if version != SCHEMA_VERSION:
        raise StaleFileError(f"{path}: schema version {version!r}, expected {SCHEMA_VERSION}")
    return dict(manifest)


def write_manifest(folder: Path, manifest: Mapping[str, Any], files: Mapping[str, str]) -> None:
    """Write the manifest last: until then the folder holds no family, or the one before.

    Parameters
    ----------
    manifest
        ``family``, ``title``, ``members`` (``model`` and ``spectra``: the file, or a file for each
        step of the training), and what else is to be known about the family.
    files
        SHA-256 by path below the folder.
    """
    whole = {"schema_version": SCHEMA_VERSION, **manifest, "files": dict(sorted(files.items()))}
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(folder / MANIFEST) as temporary:
        temporary.write_text(text, encoding="utf-8")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verified(folder: Path, manifest: Mapping[str, Any], file: str) -> Path:
    """Return the path of a file that the manifest names, after comparing its hash.

    Raises
    ------
    StaleFileError
        The file is missing, or not the one that was written; the manifest has no such file, or
        its name leaves the folder.
    """
    name, expected = PurePosixPath(file), manifest["files"].get(file)
    if expected is None or name.is_absolute() or ".." in name.parts or "\\" in file:
        raise StaleFileError(f"{folder / MANIFEST}: names no file {one_line(repr(file), 120)}")
    path = folder / name
    try:
        _require_modest(path, MAX_FILE_BYTES)
        found = file_sha256(path)
    except OSError as error:
        raise StaleFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if found != expected:
        raise StaleFileError(f"{path}: its SHA-256 is not the one in {MANIFEST}; restore the file")
    return path


def _spectra(
    folder: Path, manifest: Mapping[str, Any], model: str, file: str
) -> TransformerSpectra:
    path = verified(folder, manifest, file)
    spectra = TransformerSpectra.load(path)
    if spectra.model != model:
        raise StaleFileError(
            f"{path}: expected the spectra of {one_line(repr(model), 120)}, these are of "
            f"{one_line(repr(spectra.model), 120)}"
        )
    return spectra


def _require_modest(path: Path, limit: int) -> None:
    """Raise OSError unless the path leads to a regular file of at most ``limit`` bytes."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a regular file")
    if status.st_size > limit:
        raise OSError(f"it has {status.st_size} bytes, expected at most {limit}")


def _curve(stored: Mapping[str, np.ndarray], model: str) -> LossCurve:
    names = ("training", "held_out_steps", "held_out")
    return LossCurve(*(stored[f"{model}.{name}"] for name in names))
