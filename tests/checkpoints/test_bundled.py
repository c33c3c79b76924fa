"""The checkpoints that come with the library."""

import shutil

import numpy as np
import pytest

from spectral_lib import Kind, load
from spectral_lib.checkpoints import GRID, bundled, bundled_names, open_checkpoint, opening
from spectral_lib.errors import CheckpointError
from spectral_lib.families import load_family


def test_two_models_come_with_their_weights() -> None:
    assert bundled_names() == ("grid/L2-N32", "grid/L4-N64")


@pytest.mark.parametrize("name", bundled_names())
def test_weights_give_the_published_spectra(name: str) -> None:
    published = next(s for s in load_family("grid").members if s.model == name)
    found = load(name)
    for kind in Kind:
        for array in ("singular_values", "norm_21", "norm_11"):
            np.testing.assert_allclose(
                getattr(found[kind], array), getattr(published[kind], array), rtol=1e-10
            )


def test_a_directory_of_that_name_comes_first(tmp_path, monkeypatch) -> None:
    (tmp_path / "grid" / "L2-N32").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match=r"config\.json"):
        open_checkpoint("grid/L2-N32")


@pytest.mark.parametrize("name", ["grid/L12-N128", "grid/l2-n32", "grid/L3-N32"])
def test_a_model_without_weights_here_is_not_looked_for_on_a_hub(name, monkeypatch) -> None:
    monkeypatch.setattr(opening, "download", lambda *_, **__: pytest.fail("asked a hub"))
    with pytest.raises(CheckpointError, match=r"only grid/L2-N32, grid/L4-N64 .*load_family"):
        open_checkpoint(name)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("weights/L2-N32/model.safetensors", "SHA-256 of model.safetensors"),
        ("weights/L2-N32/config.json", "SHA-256 of config.json"),
        ("manifest.json", "damaged"),
    ],
)
@pytest.mark.parametrize("missing", [False, True])
def test_damaged_weights_give_no_numbers(tmp_path, monkeypatch, file, reason, missing) -> None:
    copy = shutil.copytree(GRID, tmp_path / "grid")
    monkeypatch.setattr(bundled, "GRID", copy)
    assert open_checkpoint("grid/L2-N32").num_layers == 2
    if missing:
        (copy / file).unlink()
    else:
        content = bytearray((copy / file).read_bytes())
        content[-9] ^= 255
        (copy / file).write_bytes(content)
    with pytest.raises(CheckpointError, match=None if missing else reason) as caught:
        open_checkpoint("grid/L2-N32")
    assert "\n" not in str(caught.value)


def test_a_revision_is_refused() -> None:
    with pytest.raises(CheckpointError, match="revision"):
        open_checkpoint("grid/L2-N32", revision="main")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(CheckpointError, match="grid/L2-N32"):
        open_checkpoint("L2-N32")


def test_the_data_is_inside_the_library() -> None:
    assert GRID.is_dir()
