"""Whatever bytes a file holds, nothing but the library's own errors comes out."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from spectral_lib.checkpoints import open_checkpoint
from spectral_lib.checkpoints.safetensors_file import SafetensorsFile
from spectral_lib.errors import SpectralLibError

from .models import CONFIG, read_all, write, write_config, write_raw

FUZZ = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
OFFSETS = st.lists(st.integers(-1, 24), min_size=1, max_size=3)
ENTRY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "F16", "BF16", "I8", "F8_E4M3", "F31"]) | JSON,
        "shape": st.lists(st.integers(-1, 4), max_size=3) | JSON,
        "data_offsets": OFFSETS | JSON,
    }
)
HONEST = save({"a": np.ones((2, 2), np.float32), "b": np.ones(3, np.float16)})


def one_line(error: SpectralLibError) -> None:
    assert str(error).isprintable(), repr(str(error))


def ours_then_reference(path) -> None:
    """Open with our reader; what it accepts the reference reader must accept, and alike."""
    try:
        file = SafetensorsFile.open(path)
    except SpectralLibError as error:
        one_line(error)
        return
    with safe_open(path, "numpy") as reference:
        assert {*reference.keys()} == {*file.names}
        for name in file.names:
            theirs = reference.get_slice(name)
            assert tuple(theirs.get_shape()) == file.info(name).shape
            assert theirs.get_dtype() == file.info(name).dtype


@FUZZ
@given(st.dictionaries(st.text(max_size=3) | st.just("__metadata__"), ENTRY | JSON, max_size=3))
def test_headers(tmp_path, header):
    write_raw(tmp_path / "a", header, bytes(16))
    ours_then_reference(tmp_path / "a")


@FUZZ
@given(st.binary(max_size=80))
def test_bytes(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    ours_then_reference(tmp_path / "a")


@FUZZ
@given(st.integers(0, len(HONEST) - 1), st.integers(0, 255), st.integers(0, len(HONEST)))
def test_flipped_and_cut_files(tmp_path, position, value, length):
    content = bytearray(HONEST)
    content[position] = value
    for part in (content, content[:length]):
        (tmp_path / "a").write_bytes(part)
        ours_then_reference(tmp_path / "a")


def test_the_honest_file_is_accepted_by_both(tmp_path):
    (tmp_path / "a").write_bytes(HONEST)
    assert {*SafetensorsFile.open(tmp_path / "a").names} == {"a", "b"}
    ours_then_reference(tmp_path / "a")
    (tmp_path / "a").write_bytes(HONEST[:-1])
    with pytest.raises(SafetensorError):
        safe_open(tmp_path / "a", "numpy").__enter__()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write(tmp_path_factory.mktemp("model"))


@FUZZ
@given(st.dictionaries(st.sampled_from([*CONFIG, "architectures", "is_decoder"]), JSON))
def test_configurations(model, changes):
    write_config(model, {**CONFIG, **changes})
    try:
        read_all(model)
    except SpectralLibError as error:
        one_line(error)


@FUZZ
@given(JSON.map(json.dumps).map(str.encode) | st.binary(max_size=30))
def test_configuration_files(model, content):
    (model / "config.json").write_bytes(content)
    with contextlib.suppress(SpectralLibError):
        open_checkpoint(model)


@FUZZ
@given(st.text(max_size=12))
def test_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpectralLibError) as caught:
        open_checkpoint(name, offline=True)
    one_line(caught.value)
