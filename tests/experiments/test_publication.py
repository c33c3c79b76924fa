"""A finished run becomes a family, whole or not at all."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spectral_lib
from spectral_lib.errors import DomainError, OutputError, StaleFileError
from spectral_lib.experiments import placing, publication
from spectral_lib.experiments.batches import Batch, held_out_batches, unigram_entropy
from spectral_lib.experiments.placing import check_family_output
from spectral_lib.experiments.publication import publish
from spectral_lib.experiments.state import DamagedStateError, read_state, run_digest, spectra_path
from spectral_lib.experiments.vocabulary import MASK
from spectral_lib.families.folder import MANIFEST, file_sha256, read_family, read_manifest
from spectral_lib.files import TEMPORARY
from tests.experiments import tiny

RUN = run_digest(tiny.RECIPE, tiny.tokens().digest)


@pytest.fixture(scope="module")
def family(finished, tmp_path_factory):
    output = tmp_path_factory.mktemp("published") / "family"
    publish(finished, [tiny.RECIPE], tiny.prepared(), output)
    return output


def test_the_manifest_names_every_file_with_its_hash(family):
    files = {
        path.relative_to(family).as_posix(): file_sha256(path)
        for path in family.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }
    assert read_manifest(family)["files"] == files
    assert len(files) == 3 + 1 + 2 + 1  # spectra, losses, weights, vocabulary


def test_the_family_is_read_back(family, finished):
    state = read_state(finished / tiny.RECIPE.name, RUN)
    found = read_family(family)
    (member,) = found.members
    assert (member.model, member.num_layers, member.hidden_size) == ("grid/L2-N32", 2, 32)
    assert set(found.snapshots[member.model]) == {0, 20, 60}
    curve = found.losses[member.model]
    assert curve.training.tolist() == state.losses
    np.testing.assert_allclose(
        np.column_stack([curve.held_out_steps, curve.held_out]), state.held_out, rtol=1e-6
    )
    entry = found.manifest["members"][0]
    assert entry["held_out_loss"] == state.held_out[-1][1]
    assert entry["recipe"]["learning_rate"] == tiny.RECIPE.learning_rate
    assert (
        entry["parameters"]
        == sum(
            value.numel() for name, value in state.weights.items() if name != "cls.predictions.bias"
        )
        - state.weights["cls.predictions.decoder.weight"].numel()
        - (state.weights["cls.predictions.decoder.bias"].numel())
        + tiny.RECIPE.vocabulary
    )
    assert found.manifest["unigram_entropy"] == unigram_entropy(tiny.tokens().held_out)
    assert found.manifest["corpus"]["sha256"] == "f" * 64
    assert (family / "weights" / "vocab.txt").read_text().split() == list(tiny.PIECES)


def test_the_weights_are_those_of_the_last_step(family, finished):
    import torch
    from transformers import BertForMaskedLM

    weights = family / read_manifest(family)["weights"]["L2-N32"]
    model = BertForMaskedLM.from_pretrained(weights)
    for name, value in read_state(finished / tiny.RECIPE.name, RUN).weights.items():
        assert torch.equal(model.state_dict()[name], value)
    published = read_family(family).members[0]
    for spectra in (spectral_lib.load(weights), spectral_lib.load(model)):
        for kind, spectrum in published.by_kind.items():
            got = spectra[kind]
            scale = spectrum.singular_values.max()
            assert np.abs(got.singular_values - spectrum.singular_values).max() <= 1e-12 * scale
            np.testing.assert_allclose(got.norm_21, spectrum.norm_21, rtol=1e-12)
            np.testing.assert_allclose(got.norm_11, spectrum.norm_11, rtol=1e-12)


def test_the_held_out_curve_is_over_the_same_windows_at_every_step(finished, tmp_path, monkeypatch):
    from spectral_lib.experiments import training

    monkeypatch.setattr(training, "WINDOWS", 4)
    runs = tmp_path / "runs"
    state = training.train(tiny.RECIPE, tiny.tokens(), runs / tiny.RECIPE.name)
    publish(runs, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
    found = read_family(tmp_path / "family")
    curve = found.losses["grid/L2-N32"]
    model = training.new_model(tiny.RECIPE)
    model.load_state_dict(state.weights)
    few = held_out_batches(tiny.tokens().held_out, tiny.RECIPE, 4)
    assert curve.held_out[-1] == pytest.approx(training.held_out_loss(model, few), rel=1e-6)
    assert curve.held_out[0] == state.held_out[0][1]
    whole = found.manifest["members"][0]["held_out_loss"]
    assert whole == state.held_out[-1][1] != curve.held_out[-1]


def test_the_all_masked_loss_leaves_nothing_to_copy(family, finished):
    from spectral_lib.experiments import training

    model = training.new_model(tiny.RECIPE)
    model.load_state_dict(read_state(finished / tiny.RECIPE.name, RUN).weights)
    batches = held_out_batches(tiny.tokens().held_out, tiny.RECIPE)
    total = count = 0
    for batch in batches:
        shown = batch.tokens.copy()
        shown[batch.chosen] = MASK
        hidden = Batch(shown, batch.chosen, batch.targets)
        total += training.masked_loss(model, hidden).item() * batch.targets.size
        count += batch.targets.size
    entry = read_manifest(family)["members"][0]
    assert entry["all_masked_loss"] == pytest.approx(total / count, rel=1e-12)
    assert entry["all_masked_loss"] != entry["held_out_loss"]


@pytest.mark.parametrize("file", ["losses.npz", "spectra/L2-N32/step-00020.npz"])
def test_a_changed_file_is_refused(family, tmp_path, file):
    copy = shutil.copytree(family, tmp_path / "copy")
    content = bytearray((copy / file).read_bytes())
    content[-1] ^= 1
    (copy / file).write_bytes(content)
    with pytest.raises(StaleFileError, match="its SHA-256 is not the one"):
        read_family(copy)


def test_publishing_again_replaces_the_family_whole(family, finished, tmp_path):
    output = shutil.copytree(family, tmp_path / "family")
    (output / "spectra" / "old.npz").touch()
    publish(finished, [tiny.RECIPE], tiny.prepared(), output)
    assert read_manifest(output) == read_manifest(family)
    assert not (output / "spectra" / "old.npz").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["family"]


@pytest.mark.parametrize("step", ["_member", "write_weights", "write_manifest"])
@pytest.mark.parametrize("before", [False, True])
def test_an_interrupted_publication_is_no_family(
    family, finished, tmp_path, monkeypatch, step, before
):
    output = tmp_path / "family"
    if before:
        shutil.copytree(family, output)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(publication, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(finished, [tiny.RECIPE], tiny.prepared(), output)
    assert [path.name for path in tmp_path.iterdir()] == (["family"] if before else [])
    if before:
        assert read_manifest(output) == read_manifest(family)


def test_what_a_killed_publication_left_is_cleared(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(publication.shutil, "rmtree", lambda *_, **__: None)
    monkeypatch.setattr(publication, "write_manifest", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.undo()
    publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
    assert [path.name for path in tmp_path.iterdir()] == ["family"]


def test_other_folders_are_not_replaced(finished, tmp_path):
    (tmp_path / "thesis.tex").touch()
    for text in (None, "{}", '{"schema_version": 3}'):
        if text is not None:
            (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(OutputError, match="not empty and holds no family"):
            publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path)
    with pytest.raises(OutputError, match="Not a directory"):
        publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").exists()


def test_what_lies_beside_a_family_is_not_deleted_with_it(family, finished, tmp_path):
    output = shutil.copytree(family, tmp_path / "family")
    (output / "thesis.tex").touch()
    with pytest.raises(OutputError, match=r"it holds 'thesis\.tex' beside a family"):
        publish(finished, [tiny.RECIPE], tiny.prepared(), output)
    assert (output / "thesis.tex").exists()


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    runs = tmp_path / "family" / "runs"
    for output in (runs, runs.parent, tmp_path):
        with pytest.raises(OutputError, match="the states of the training are in it"):
            check_family_output(output, runs)
    check_family_output(runs / "family", runs)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="no folder can be made in"):
        check_family_output(tmp_path / "file" / "family")
    monkeypatch.setattr(placing.os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="no folder can be made in"):
        check_family_output(tmp_path / "new" / "family")
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_the_family_before_comes_back_when_the_new_one_cannot_take_its_place(
    family, finished, tmp_path, monkeypatch, failure
):
    output = shutil.copytree(family, tmp_path / "family")
    rename = Path.rename

    def failing(path, target):
        if path.name.endswith("-new"):
            raise failure
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", failing)
        with pytest.raises((KeyboardInterrupt, OutputError)):
            publish(finished, [tiny.RECIPE], tiny.prepared(), output)
    assert read_manifest(output) == read_manifest(family)
    assert [path.name for path in tmp_path.iterdir()] == ["family"]


def test_the_family_before_comes_back_after_a_kill_between_the_renames(
    family, finished, tmp_path, monkeypatch
):
    shutil.copytree(family, tmp_path / f"{TEMPORARY}family-old")
    monkeypatch.setattr(publication, "write_manifest", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
    assert read_manifest(tmp_path / "family") == read_manifest(family)
    assert [path.name for path in tmp_path.iterdir()] == ["family"]


def test_only_finished_and_whole_runs_are_published(finished, tmp_path):
    runs = shutil.copytree(finished, tmp_path / "runs")
    missing = replace(tiny.RECIPE, num_layers=4)
    with pytest.raises(DomainError, match=r"L4-N32 is not trained yet \(0 of 60 steps\)"):
        publish(runs, [tiny.RECIPE, missing], tiny.prepared(), tmp_path / "family")
    spectra_path(runs / tiny.RECIPE.name, 20).unlink()
    with pytest.raises(DamagedStateError):
        publish(runs, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
    assert not (tmp_path / "family").exists()


def test_a_full_disk_is_one_line_and_no_family(finished, tmp_path, monkeypatch):
    import safetensors
    from transformers import BertForMaskedLM

    def full(*_, **__):
        raise safetensors.SafetensorError("I/O error: No space left on device (os error 28)")

    def as_full(*_, **__):
        raise OSError(28, "No space left on device")

    for owner, name, failure in (
        (BertForMaskedLM, "save_pretrained", full),
        (publication.shutil, "copyfile", as_full),
        (publication.np, "savez_compressed", as_full),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, failure)
            with pytest.raises(OutputError, match=r"cannot write .*family: .*No space left"):
                publish(finished, [tiny.RECIPE], tiny.prepared(), tmp_path / "family")
        assert list(tmp_path.iterdir()) == []
