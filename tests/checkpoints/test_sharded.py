"""An index and its shards: together they are the one file, apart they are refused."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.errors import CheckpointError

from .models import QUERY_0, read_all, refused, state, write, write_config

INDEX = "model.safetensors.index.json"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def write_sharded(directory, weight_map=None):
    """Deal the tensors out to two shards in turn."""
    write_config(directory)
    tensors = state()
    parts = {shard: dict([*tensors.items()][i::2]) for i, shard in enumerate(SHARDS)}
    for shard, part in parts.items():
        save_file(part, directory / shard)
    honest = {name: shard for shard, part in parts.items() for name in part}
    index = {"metadata": {}, "weight_map": {**honest, **(weight_map or {})}}
    (directory / INDEX).write_text(json.dumps(index))
    return directory


def test_same_matrices_as_one_file(tmp_path):
    sharded = open_checkpoint(write_sharded(tmp_path / "s"))
    whole = open_checkpoint(write(tmp_path / "w"))
    for a, b in zip(sharded.layers(), whole.layers(), strict=True):
        np.testing.assert_array_equal(a.qk.dense(), b.qk.dense())
        np.testing.assert_array_equal(a.vo.dense(), b.vo.dense())
        np.testing.assert_array_equal(a.ff_in, b.ff_in)
        np.testing.assert_array_equal(a.ff_out, b.ff_out)


def test_hash_is_over_the_shards_in_order(tmp_path):
    write_sharded(tmp_path)
    hashes = [hashlib.sha256((tmp_path / shard).read_bytes()).hexdigest() for shard in SHARDS]
    lines = "".join(f"{shard} {digest}\n" for shard, digest in zip(SHARDS, hashes, strict=True))
    assert open_checkpoint(tmp_path).sha256() == hashlib.sha256(lines.encode()).hexdigest()


def test_shards_may_be_links_into_a_cache(tmp_path):
    model = write_sharded(tmp_path / "snapshot")
    for number, shard in enumerate(SHARDS):
        (model / shard).rename(tmp_path / f"blob{number}")
        (model / shard).symlink_to(f"../blob{number}")
    read_all(model)


def test_absent_shard(tmp_path):
    write_sharded(tmp_path)
    (tmp_path / SHARDS[1]).unlink()
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), SHARDS[1], "no such file")


@pytest.mark.parametrize(
    "shard",
    ["../x.safetensors", "/etc/passwd", "a/b.safetensors", "..\\x", "C:x", "..", ".", "", "a\0", 3,
     None, ["a"]],
)  # fmt: skip
def test_shard_outside_the_directory(tmp_path, shard):
    write_sharded(tmp_path, {QUERY_0: shard})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), INDEX, QUERY_0, "same directory")


def test_tensor_not_in_its_shard(tmp_path):
    write_sharded(tmp_path, {"encoder.layer.0.phantom": SHARDS[0]})
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), SHARDS[0], "phantom", INDEX)


@pytest.mark.parametrize("index", [{}, {"weight_map": {}}, {"weight_map": [1]}, []])
def test_index_without_a_map(tmp_path, index):
    write_sharded(tmp_path)
    (tmp_path / INDEX).write_text(json.dumps(index))
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), INDEX)


def test_values_that_are_not_finite_name_the_shard(tmp_path):
    write_sharded(tmp_path)
    tensors = dict([*state().items()][1::2])
    assert QUERY_0 in tensors
    tensors[QUERY_0][0, 0] = np.nan
    save_file(tensors, tmp_path / SHARDS[1])
    refused(CheckpointError, lambda: read_all(tmp_path), SHARDS[1], QUERY_0, "nan")
