"""Safetensors headers that lie are refused; honest ones are read lazily and exactly."""

from __future__ import annotations

import hashlib
import tracemalloc

import numpy as np
import pytest

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.checkpoints.files import WeightsFile
from spectral_lib.checkpoints.safetensors_file import SafetensorsFile
from spectral_lib.errors import CheckpointError, QuantizedWeightsError

from .models import CONFIG, FF_IN_0, QUERY_0, refused, shapes, state, write, write_config, write_raw

A = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
B = {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}


def test_honest_header(tmp_path):
    write_raw(tmp_path / "a", {"a": A, "__metadata__": {"format": "np"}}, b"\x00\x00\x80\x3f" * 2)
    file = SafetensorsFile.open(tmp_path / "a")
    assert [*file.names] == ["a"]
    np.testing.assert_array_equal(file.read("a"), [1, 1])


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ({"a": {**A, "data_offsets": [0, 1000]}}, "data_offsets"),
        ({"a": {**A, "data_offsets": [8, 0]}}, "data_offsets"),
        ({"a": {**A, "data_offsets": [-8, 0]}}, "data_offsets"),
        ({"a": {**A, "data_offsets": [0, 8, 12]}}, "data_offsets"),
        ({"a": {**A, "data_offsets": [0.0, 8.0]}}, "data_offsets"),
        ({"a": {**A, "data_offsets": None}}, "data_offsets"),
        ({"a": {**A, "shape": [3]}}, "8 bytes, but F32 (3,) takes 12"),
        ({"a": {**A, "dtype": "F64"}}, "8 bytes, but F64 (2,) takes 16"),
        ({"a": {**A, "shape": [-2]}}, "shape"),
        ({"a": {**A, "shape": [True, 2]}}, "shape"),
        ({"a": {**A, "shape": "2"}}, "shape"),
        ({"a": {**A, "shape": [1] * 100 + [2]}}, "shape"),
        ({"a": {**A, "shape": [2**62, 2**62]}}, "takes"),
        ({"a": {**A, "dtype": "F31"}}, "'F31'"),
        ({"a": {**A, "dtype": ["F32"]}}, "dtype"),
        ({"a": [1, 2]}, "expected dtype, shape and data_offsets"),
        ({"a": {"dtype": "F32"}}, "expected dtype, shape and data_offsets"),
        ({"a": A, "b": {**B, "data_offsets": [4, 8]}}, "'b' overlaps"),
        ({"a": A, "b": A}, "'b' overlaps"),
        ({"b": B}, "'b' follows a hole"),
        ({"a": A}, "accounts for"),
        ({}, "accounts for"),
        ({"a": A, "b": B, "__metadata__": {"n": 1}}, "__metadata__"),
        ({"a": A, "b": B, "__metadata__": []}, "__metadata__"),
        ([A], "not a JSON object"),
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"\xff": 1}', "not UTF-8"),
        (b"{" * 90_000, "not valid JSON"),
        (b'{"a":' * 90_000, "too deeply"),
    ],
)
def test_lying_headers(tmp_path, header, part):
    path = tmp_path / "model.safetensors"
    write_raw(path, header, bytes(12))
    refused(CheckpointError, lambda: SafetensorsFile.open(path), path.name, part)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "0 bytes, too short"),
        (b"\x02\x00\x00", "too short"),
        (b"\xff" * 8 + b"{}", "truncated"),
        ((10**8 + 1).to_bytes(8, "little") + b"{}", "truncated"),
        ((3).to_bytes(8, "little") + b"{}", "truncated"),
        (bytes(8), "not a JSON object"),
        (b"version https://git-lfs.github.com/spec/v1\n", "truncated"),
    ],
)
def test_files_that_are_no_safetensors(tmp_path, content, part):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    refused(CheckpointError, lambda: SafetensorsFile.open(path), path.name, part)


@pytest.mark.parametrize("cut", [1, 100, 5000])
def test_truncated_checkpoint(tmp_path, cut):
    path = write(tmp_path) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-cut])
    refused(CheckpointError, lambda: open_checkpoint(tmp_path), path.name)


def write_with_dtype(directory, dtype, size):
    """Write a checkpoint whose matrices are of a type that numpy may not have."""
    write_config(directory)
    header, position, data = {}, 0, []
    rng = np.random.default_rng(1)
    for name, shape in shapes().items():
        count = int(np.prod(shape)) * size
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [position, position + count],
        }
        position += count
        data.append(rng.integers(0, 120, count, dtype=np.uint8).tobytes())
    write_raw(directory / "model.safetensors", header, b"".join(data))
    return data


def test_bfloat16_is_exact(tmp_path):
    torch = pytest.importorskip("torch")
    data = write_with_dtype(tmp_path, "BF16", 2)
    layer = next(open_checkpoint(tmp_path).layers())
    stored = data[[*shapes()].index(FF_IN_0)]
    truth = torch.frombuffer(bytearray(stored), dtype=torch.bfloat16).double().reshape(20, 12)
    np.testing.assert_array_equal(layer.ff_in, truth.numpy().T)
    assert np.ptp(np.log2(layer.ff_in)) > 50  # the random bits cover many binades


@pytest.mark.parametrize("dtype", ["F8_E4M3", "F8_E5M2", "I8", "U8"])
def test_eight_bit_types_are_named_quantised(tmp_path, dtype):
    write_with_dtype(tmp_path, dtype, 1)
    refused(QuantizedWeightsError, lambda: open_checkpoint(tmp_path), QUERY_0, dtype)


def test_hash(tmp_path):
    path = write(tmp_path) / "model.safetensors"
    assert open_checkpoint(tmp_path).sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_layers_are_read_one_at_a_time_and_nothing_else_is(tmp_path, monkeypatch):
    spans = []
    read_into = WeightsFile.read_into

    def recording(self, buffer, offset):
        spans.append((offset, offset + len(buffer)))
        return read_into(self, buffer, offset)

    write(tmp_path)
    checkpoint = open_checkpoint(tmp_path)
    monkeypatch.setattr(WeightsFile, "read_into", recording)
    layers = checkpoint.layers()
    assert not spans
    for index in range(3):
        next(layers)
        entries = checkpoint.source.entries
        own = {(e.start, e.end) for n, e in entries.items() if f"layer.{index}." in n}
        assert len(spans) == 6
        assert {*spans} <= own
        spans.clear()


def test_peak_memory_is_that_of_a_layer(tmp_path):
    config = {**CONFIG, "num_hidden_layers": 12, "hidden_size": 96, "intermediate_size": 384}
    tensors = state(config)
    tensors["embeddings.word_embeddings.weight"] = np.zeros((30_000, 96), np.float32)
    write(tmp_path, tensors, config)
    layer_bytes = 8 * (4 * 96 * 96 + 2 * 96 * 384)
    del tensors
    tracemalloc.start()
    try:
        for layer in open_checkpoint(tmp_path).layers():
            del layer
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * layer_bytes, peak / layer_bytes
