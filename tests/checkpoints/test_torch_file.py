"""pytorch_model.bin: both of torch's formats, and pickles that are no weights."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.checkpoints.torch_file import TorchFile
from spectral_lib.errors import CheckpointError, MissingExtraError, QuantizedWeightsError

from .models import CONFIG, FF_IN_0, QUERY_0, read_all, refused, state, write, write_config

torch = pytest.importorskip("torch")

BIN = "pytorch_model.bin"


def tensors(dtype=torch.float32):
    return {name: torch.from_numpy(array).to(dtype) for name, array in state().items()}


def save(directory, content, *, legacy=False):
    write_config(directory)
    torch.save(content, directory / BIN, _use_new_zipfile_serialization=not legacy)
    return directory


@pytest.mark.parametrize("legacy", [False, True])
def test_same_matrices_as_safetensors(tmp_path, legacy):
    ours = open_checkpoint(save(tmp_path / "t", tensors(), legacy=legacy))
    truth = open_checkpoint(write(tmp_path / "s"))
    for a, b in zip(ours.layers(), truth.layers(), strict=True):
        np.testing.assert_array_equal(a.qk.dense(), b.qk.dense())
        np.testing.assert_array_equal(a.vo.dense(), b.vo.dense())
        np.testing.assert_array_equal(a.ff_in, b.ff_in)
        np.testing.assert_array_equal(a.ff_out, b.ff_out)
    content = (tmp_path / "t" / BIN).read_bytes()
    assert ours.sha256() == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_upcast_is_exact(tmp_path, dtype):
    content = tensors(dtype)
    layer = next(open_checkpoint(save(tmp_path, content)).layers())
    np.testing.assert_array_equal(layer.ff_in, content[FF_IN_0].double().numpy().T)


def test_parameters_views_and_other_strides(tmp_path):
    content = tensors()
    content[QUERY_0] = torch.nn.Parameter(content[QUERY_0].T.contiguous().T)
    content[FF_IN_0] = torch.cat([content[FF_IN_0]] * 2)[:20]
    layer = next(open_checkpoint(save(tmp_path, content)).layers())
    np.testing.assert_array_equal(layer.qk.left[0], state()[QUERY_0][:4].T)
    np.testing.assert_array_equal(layer.ff_in, state()[FF_IN_0].T)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.mark.parametrize("legacy", [False, True])
def test_pickle_that_would_run_code(tmp_path, monkeypatch, legacy):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, {"a": Bomb()}, legacy=legacy)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), BIN, "posix.system")
    assert not Path("exploded").exists()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([1, 2], "holds a list"),
        (torch.ones(2), "holds a Tensor"),
        ({"state_dict": {"a": torch.ones(1)}}, "'state_dict' is a dict"),
        ({"a": 1}, "'a' is a int"),
        ({1: torch.ones(1)}, "entry 1"),
        ({}, "no tensor at all"),
    ],
)
def test_pickles_that_are_no_state_dict(tmp_path, content, part):
    save(tmp_path, content)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), BIN, part)


@pytest.mark.parametrize(
    "content", [b"", b"not a pickle", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), pickle.dumps({})]
)
def test_files_that_are_no_torch_files(tmp_path, content):
    write_config(tmp_path)
    (tmp_path / BIN).write_bytes(content)
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), BIN)


@pytest.mark.parametrize("legacy", [False, True])
def test_truncated_file(tmp_path, legacy):
    path = save(tmp_path, tensors(), legacy=legacy) / BIN
    path.write_bytes(path.read_bytes()[:-2000])
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), BIN)


def test_sparse_quantised_and_other_tensors(tmp_path):
    sparse = {**tensors(), QUERY_0: torch.eye(12).to_sparse()}
    refused(CheckpointError, lambda: open_checkpoint(save(tmp_path, sparse)), QUERY_0, "sparse")
    codes = {**tensors(), QUERY_0: torch.ones(12, 12, dtype=torch.int8)}
    quantised = QuantizedWeightsError
    refused(quantised, lambda: open_checkpoint(save(tmp_path, codes)), QUERY_0, "int8")
    complex_ = {**tensors(), QUERY_0: torch.ones(12, 12, dtype=torch.complex64)}
    refused(CheckpointError, lambda: open_checkpoint(save(tmp_path, complex_)), "complex64")


def test_values_that_are_not_finite(tmp_path):
    content = tensors(torch.bfloat16)
    content[FF_IN_0][1, 2] = torch.inf
    save(tmp_path, content)
    refused(CheckpointError, lambda: read_all(tmp_path), BIN, FF_IN_0, "inf at (1, 2)")


def test_file_that_changes_after_opening(tmp_path):
    checkpoint = open_checkpoint(save(tmp_path, tensors()))
    with (tmp_path / BIN).open("ab") as file:
        file.write(b"more")
    refused(CheckpointError, lambda: next(checkpoint.layers()), BIN, "changed")


def test_without_torch(tmp_path, monkeypatch):
    save(tmp_path, tensors())
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(MissingExtraError, lambda: open_checkpoint(tmp_path), BIN, "spectral-lib[torch]")


RSS = """
import sys, psutil, torch
from spectral_lib.checkpoints import open_checkpoint
before = psutil.Process().memory_info().rss
checkpoint = open_checkpoint(sys.argv[1])
for layer in checkpoint.layers():
    pass
print(psutil.Process().memory_info().rss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts resident memory as Linux does")
def test_zip_format_is_mapped(tmp_path):
    pytest.importorskip("psutil")
    content = {**tensors(), "embeddings.word_embeddings.weight": torch.ones(2_000_000, 12)}
    save(tmp_path, content)  # 96 MB, of which the encoder is 20 kB
    run = [sys.executable, "-c", RSS, str(tmp_path)]
    grown = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    assert grown < 40e6, grown


def test_mapped_file_is_what_the_class_holds(tmp_path):
    file = TorchFile.open(save(tmp_path, tensors()) / BIN)
    assert {*file.names} == {*state()}
    assert file.info(QUERY_0).shape == (CONFIG["hidden_size"],) * 2


@pytest.mark.parametrize("kind", ["protocol 4", "quantised", "script"])
def test_what_torch_warns_of_is_refused_without_a_warning(tmp_path, kind):
    """With a warning the command line would print more than its one line."""
    write_config(tmp_path)
    script = (
        "import pickle, sys, torch\n"
        "kind, path = sys.argv[1:]\n"
        "if kind == 'protocol 4':\n"
        "    open(path, 'wb').write(pickle.dumps(print, protocol=4))\n"
        "elif kind == 'script':\n"
        "    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), path)\n"
        "else:\n"
        "    codes = torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.qint8)\n"
        f"    torch.save({{{QUERY_0!r}: codes}}, path)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, kind, str(tmp_path / BIN)]
    subprocess.run(command, check=True, capture_output=True)
    command = [sys.executable, "-m", "spectral_lib", "analyze", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
