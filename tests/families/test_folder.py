"""A family on disk: every kind of damage is one line that names the file."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from spectral_lib.errors import StaleFileError
from spectral_lib.families import folder as module
from spectral_lib.families.folder import (
    MANIFEST,
    file_sha256,
    read_family,
    read_manifest,
    write_manifest,
)
from spectral_lib.loading import load
from spectral_lib.transformer import TransformerSpectra
from tests.checkpoints.models import CONFIG, refused, write

SIZES = ((1, 8), (2, 8), (2, 16))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Return the folder of a family: two members with a history, one without."""
    folder = tmp_path_factory.mktemp("made") / "family"
    (folder / "spectra").mkdir(parents=True)
    members, files = [], {}
    for depth, width in SIZES:
        config = {
            **CONFIG,
            "num_hidden_layers": depth,
            "hidden_size": width,
            "num_attention_heads": 2,
        }
        spectra = load(write(folder.parent / f"{depth}-{width}", config=config))
        model = f"m/{depth}-{width}"
        files_here = {}
        for step in (0, 7):
            file = f"spectra/{depth}-{width}-{step}.npz"
            renamed(spectra.rescaled(1.0 + step), model).save(folder / file)
            files_here[str(step)] = file
            files[file] = file_sha256(folder / file)
        history = width == 8
        members.append({"model": model, "spectra": files_here if history else files_here["7"]})
    curves = {
        f"m/{depth}-{width}.{name}": np.array(values)
        for depth, width in SIZES
        for name, values in {
            "training": [3.0, 2.0],
            "held_out_steps": [0, 7],
            "held_out": [3.5, 2.5],
        }.items()
    }
    np.savez(folder / "losses.npz", **curves)
    files["losses.npz"] = file_sha256(folder / "losses.npz")
    manifest = {"family": "grid", "title": "made", "members": members, "losses": "losses.npz"}
    write_manifest(folder, manifest, files)
    return folder


def renamed(spectra: TransformerSpectra, model: str) -> TransformerSpectra:
    from dataclasses import replace

    return replace(spectra, model=model)


@pytest.fixture
def family_folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "family"))


def edit(folder: Path, change) -> None:
    path = folder / MANIFEST
    manifest = json.loads(path.read_text())
    changed = change(manifest)
    path.write_text(json.dumps(manifest if changed is None else changed))


def test_what_is_written_is_read(family_folder):
    family = read_family(family_folder)
    assert [s.model for s in family.members] == ["m/1-8", "m/2-8", "m/2-16"]
    assert (family.depths, family.widths, family.name) == ((1, 2), (8, 16), "grid")
    assert family.headline.model == "m/2-16"
    assert set(family.snapshots) == set(family.losses) == {"m/1-8", "m/2-8"}
    assert [s.model for s in family.initial] == ["m/1-8", "m/2-8"]
    assert family.snapshots["m/1-8"][7] is family.at(1, 8)
    assert list(family.losses["m/1-8"].held_out) == [3.5, 2.5]
    assert family.manifest["schema_version"] == module.SCHEMA_VERSION


FIRST = "spectra/1-8-0.npz"


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        (lambda f: (f / MANIFEST).unlink(), [MANIFEST, "No such file"]),
        (lambda f: (f / MANIFEST).write_bytes(b"\xff"), [MANIFEST]),
        (lambda f: (f / MANIFEST).write_text("[" * 100_000), [MANIFEST]),
        (lambda f: (f / MANIFEST).write_text("[]"), [MANIFEST]),
        (lambda f: edit(f, lambda m: m.update(schema_version=99)), ["99", "expected 1"]),
        (lambda f: edit(f, lambda m: m.pop("members") and None), ["members"]),
        (lambda f: edit(f, lambda m: m.update(members=7)), ["not a readable family"]),
        (lambda f: edit(f, lambda m: m.update(members=[])), ["no members"]),
        (lambda f: edit(f, lambda m: m.update(files=[])), ["not a readable family"]),
        (lambda f: (f / FIRST).unlink(), [FIRST, "No such file"]),
        (lambda f: (f / FIRST).write_bytes(b""), [FIRST, "SHA-256"]),
        (lambda f: flip(f / FIRST), [FIRST, "SHA-256"]),
        (lambda f: flip(f / "losses.npz"), ["losses.npz", "SHA-256"]),
        (lambda f: shutil.copy(f / "spectra/2-8-0.npz", f / FIRST), [FIRST, "SHA-256"]),
        (lambda f: directory_instead(f / FIRST), [FIRST, "not a regular file"]),
        (lambda f: pipe_instead(f / FIRST), [FIRST, "not a regular file"]),
        (lambda f: link_instead(f / FIRST, Path("/dev/zero")), [FIRST, "not a regular file"]),
        (lambda f: link_instead(f / FIRST, Path("/etc/passwd")), [FIRST, "SHA-256"]),
        (lambda f: link_instead(f / FIRST, f / FIRST), [FIRST, "symbolic links"]),
        (lambda f: pipe_instead(f / MANIFEST), [MANIFEST, "not a regular file"]),
    ],
)
def test_damage(family_folder, damage, parts):
    damage(family_folder)
    refused(StaleFileError, lambda: read_family(family_folder), str(family_folder), *parts)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def directory_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link_instead(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize(
    "name", ["../outside.npz", "{outside}", "spectra/../../outside.npz", "..\\outside.npz"]
)
def test_no_name_leaves_the_folder(family_folder, name):
    """Also where the manifest has the right hash for it."""
    outside = family_folder.parent / "outside.npz"
    shutil.copy(family_folder / FIRST, outside)
    name = name.format(outside=outside)

    def change(manifest):
        manifest["files"][name] = file_sha256(outside)
        manifest["members"][0]["spectra"]["0"] = name

    edit(family_folder, change)
    refused(StaleFileError, lambda: read_family(family_folder), MANIFEST, "names no file")


def test_a_link_to_the_same_content_is_as_good(family_folder):
    """Some installers link every file into their cache."""
    moved = family_folder.parent / "moved.npz"
    (family_folder / FIRST).rename(moved)
    (family_folder / FIRST).symlink_to(moved)
    assert len(read_family(family_folder).members) == 3


def test_huge_files_are_not_read(family_folder):
    with (family_folder / FIRST).open("ab") as stream:
        stream.truncate(module.MAX_FILE_BYTES + 1)  # takes no room on the disk
    refused(StaleFileError, lambda: read_family(family_folder), FIRST, "at most")
    with (family_folder / MANIFEST).open("ab") as stream:
        stream.truncate(module.MAX_MANIFEST_BYTES + 1)
    refused(StaleFileError, lambda: read_manifest(family_folder), MANIFEST, "at most")


def test_spectra_of_another_model(family_folder):
    edit(family_folder, lambda m: m["members"][0].update(model="m/other"))
    refused(StaleFileError, lambda: read_family(family_folder), "'m/other'", "'m/1-8'")


def test_a_manifest_that_cannot_be_written_leaves_the_one_before(family_folder, monkeypatch):
    before = (family_folder / MANIFEST).read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_manifest(family_folder, {"family": "grid"}, {})
    assert (family_folder / MANIFEST).read_bytes() == before
    assert not list(family_folder.glob(".spectral-lib-*"))
