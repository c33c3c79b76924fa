"""TransformerSpectra: the round trip through a file, and the files that are refused."""

import json
import os
import zipfile

import numpy as np
import pytest

import spectral_lib
from spectral_lib import Kind, TransformerSpectra, transformer
from spectral_lib.errors import DomainError, OutputError, StaleFileError
from tests import naive


@pytest.fixture(scope="module")
def spectra(tmp_path_factory):
    layers = naive.random_layers(np.random.default_rng(0), 2, 8, 20)
    return spectral_lib.load(naive.write_bert(tmp_path_factory.mktemp("m"), layers, num_heads=2))


def test_round_trip(spectra, tmp_path):
    path = tmp_path / "s.npz"
    spectra.save(path)
    for again in (TransformerSpectra.load(path), spectral_lib.load(path)):
        assert spectral_lib.analyze(again).to_dict() == spectral_lib.analyze(spectra).to_dict()
        assert again.source_sha256 == spectra.source_sha256 is not None
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.npz"]


def test_another_schema_version_is_refused(spectra, tmp_path, monkeypatch):
    monkeypatch.setattr(transformer, "SCHEMA_VERSION", 0)
    spectra.save(tmp_path / "s.npz")
    monkeypatch.undo()
    with pytest.raises(StaleFileError, match="schema version 0, expected 1"):
        TransformerSpectra.load(tmp_path / "s.npz")


def damaged(path, kind):
    """Damage a saved file in one of the ways that files are damaged."""
    whole = path.read_bytes()
    with np.load(path) as stored:
        arrays = dict(stored)
    match kind:
        case "missing":
            path.unlink()
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case "empty":
            path.write_bytes(b"")
        case "flipped":
            middle = len(whole) // 2
            path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
        case "text":
            path.write_text("not an archive")
        case "no arrays":
            np.savez(path, meta=arrays["meta"])
        case "no meta":
            np.savez(path, x=np.ones(2))
        case "pickled":
            np.savez(path, meta=np.array([{}], dtype=object))
        case "wrong meta":
            np.savez(path, **(arrays | {"meta": np.array(json.dumps([1, 2]))}))
        case "wrong batch":
            np.savez(path, **(arrays | {"QK.norm_21": np.ones((3, 3))}))
        case "nan":
            np.savez(path, **(arrays | {"QK.norm_21": np.full((2, 2), np.nan)}))
        case "foreign zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("meta.npy", b"junk")


DAMAGES = (
    *("missing", "truncated", "empty", "flipped", "text", "no arrays", "no meta", "pickled"),
    *("wrong meta", "wrong batch", "nan", "foreign zip"),
)


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_refused_in_one_line(spectra, tmp_path, kind):
    path = tmp_path / "s.npz"
    spectra.save(path)
    damaged(path, kind)
    with pytest.raises(StaleFileError, match=r"s\.npz") as caught:
        TransformerSpectra.load(path)
    assert "\n" not in str(caught.value)


def test_saving_where_nothing_can_be_written(spectra, tmp_path):
    for target in (tmp_path, tmp_path / "no" / "s.npz"):
        with pytest.raises(OutputError):
            spectra.save(target)
    assert list(tmp_path.iterdir()) == []


def test_to_frame(spectra):
    frame = spectra.to_frame()
    assert len(frame) == spectra.num_matrices == 12
    assert list(frame.kind[:6]) == ["QK", "QK", "VO", "VO", "FF_IN", "FF_OUT"]
    assert frame.spectral_norm[0] == spectra[Kind.QK].spectral_norm[0, 0]


def test_spectra_of_the_wrong_batch_shape_are_refused(spectra):
    with pytest.raises(DomainError, match="batch shape"):
        TransformerSpectra("m", 8, 3, "gelu", spectra.by_kind)
    with pytest.raises(DomainError, match="are needed"):
        TransformerSpectra("m", 8, 2, "gelu", {Kind.QK: spectra[Kind.QK]})


def rewritten(path, **meta):
    """Write other metadata into a saved file."""
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["meta"] = np.array(json.dumps(json.loads(str(arrays["meta"])) | meta))
    np.savez(path, **arrays)


SHAPES = {"QK": (8, 8), "VO": (8, 8), "FF_IN": (8, 20), "FF_OUT": (20, 8)}


def kinds(**shapes):
    return {k: {"shape": v, "rank_rtol": None} for k, v in (SHAPES | shapes).items()}


@pytest.mark.parametrize(
    "meta",
    [
        *({"hidden_size": x} for x in ("8", 0, -8, 8.0, 9, None, True, float("inf"))),
        *({"num_heads": x} for x in (2.0, "2", True, 0, 1)),
        *({"model": x} for x in (5, None, ["m"])),
        *({"activation": x} for x in (None, 3, ["gelu"])),
        *({"source_sha256": x} for x in (5, {})),
        *({"schema_version": x} for x in (True, 1.0, "1\n")),
        *({"kinds": kinds(QK=x)} for x in ((9, 9), (8, 8, 8), (8.0, 8.0), ("8", "8"))),
        {"kinds": kinds(FF_OUT=(21, 8))},
    ],
    ids=str,
)
def test_metadata_that_contradicts_itself_is_refused(spectra, tmp_path, meta):
    path = tmp_path / "s.npz"
    spectra.save(path)
    rewritten(path, kinds=kinds())
    assert TransformerSpectra.load(path).hidden_size == 8
    rewritten(path, **meta)
    with pytest.raises(StaleFileError, match=r"s\.npz") as caught:
        TransformerSpectra.load(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("dtype", ["f4", "c16", "i8", "m8[s]", "?"])
def test_arrays_of_another_type_are_refused(spectra, tmp_path, dtype):
    path = tmp_path / "s.npz"
    spectra.save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["QK.norm_21"] = arrays["QK.norm_21"].astype("i8").astype(dtype)
    np.savez(path, **arrays)
    with pytest.raises(StaleFileError, match="float64"):
        TransformerSpectra.load(path)


def test_no_layer_is_no_encoder(spectra, tmp_path):
    path = tmp_path / "s.npz"
    spectra.save(path)
    with np.load(path) as stored:
        arrays = {k: v if k == "meta" else v[:0] for k, v in stored.items()}
    np.savez(path, **arrays)
    with pytest.raises(StaleFileError, match="at least one layer"):
        TransformerSpectra.load(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "s.npz")
    with pytest.raises(StaleFileError, match="not a regular file"):
        TransformerSpectra.load(tmp_path / "s.npz")


@pytest.mark.parametrize("option", [{"revision": "main"}, {"rank_rtol": 0.5}])
def test_options_of_a_checkpoint_do_not_apply_to_a_file(spectra, tmp_path, option):
    spectra.save(tmp_path / "s.npz")
    with pytest.raises(DomainError, match="not to a spectra file"):
        spectral_lib.load(tmp_path / "s.npz", **option)
