"""A stored state is whole, or known not to be."""

import hashlib
import shutil
from dataclasses import replace

import pytest

from spectral_lib.errors import OutputError
from spectral_lib.experiments import runner, state
from spectral_lib.experiments.state import (
    STATE,
    DamagedStateError,
    OtherRunError,
    read_state,
    run_digest,
    spectra_path,
    write_state,
)
from tests.experiments import tiny

TOKENS = tiny.tokens().digest
RUN = run_digest(tiny.RECIPE, TOKENS)


@pytest.fixture
def runs(finished, tmp_path):
    """A copy of the finished run, to be damaged."""
    return shutil.copytree(finished, tmp_path / "runs")


def flip(path, place, bit=0):
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


def test_what_is_written_is_read(runs, tmp_path):
    first = read_state(runs / tiny.RECIPE.name, RUN)
    assert first is not None
    for name, digest in first.snapshots.items():
        path = spectra_path(runs / tiny.RECIPE.name, name)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
        shutil.copy(path, tmp_path)
    write_state(tmp_path, first)
    assert (tmp_path / STATE).read_bytes() == (runs / tiny.RECIPE.name / STATE).read_bytes()
    assert read_state(tmp_path / "nowhere", RUN) is None


@pytest.mark.parametrize("place", [0, 1000, -33, -32, -1])
def test_a_flipped_bit_is_found(runs, place):
    flip(runs / tiny.RECIPE.name / STATE, place, bit=3)
    with pytest.raises(DamagedStateError, match=r"training\.state: damaged or half-written"):
        read_state(runs / tiny.RECIPE.name, RUN)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 5000, -1])
def test_a_file_cut_short_is_found(runs, size):
    path = runs / tiny.RECIPE.name / STATE
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DamagedStateError, match="damaged or half-written"):
        read_state(path.parent, RUN)


def test_changed_and_missing_spectra_are_found(runs):
    folder = runs / tiny.RECIPE.name
    flip(spectra_path(folder, 20), 700)
    with pytest.raises(DamagedStateError, match=r"step-00020\.npz: missing or damaged"):
        read_state(folder, RUN)
    spectra_path(folder, 20).unlink()
    with pytest.raises(DamagedStateError, match=r"step-00020\.npz: missing or damaged"):
        read_state(folder, RUN)


def test_a_state_of_another_recipe_or_text_is_kept_until_it_may_go(runs):
    said: list[str] = []
    path = runs / tiny.RECIPE.name / STATE
    before = path.read_bytes()
    for recipe, tokens in ((replace(tiny.RECIPE, seed=1), TOKENS), (tiny.RECIPE, "other")):
        with pytest.raises(OtherRunError, match=r"60 steps of another .* \(--restart\)"):
            runner.steps_done(runs, [recipe], tokens, said.append)
    assert path.read_bytes() == before
    assert said == []
    other = replace(tiny.RECIPE, seed=1)
    assert runner.steps_done(runs, [other], TOKENS, said.append, restart=True) == {other: 0}
    assert len(said) == 1
    assert list(path.parent.iterdir()) == []


def test_a_damaged_state_is_discarded_and_said(runs):
    said: list[str] = []
    folder = runs / tiny.RECIPE.name
    assert runner.steps_done(runs, [tiny.RECIPE], TOKENS, said.append) == {tiny.RECIPE: 60}
    flip(spectra_path(folder, 0), 700)
    assert runner.steps_done(runs, [tiny.RECIPE], TOKENS, said.append) == {tiny.RECIPE: 0}
    assert len(said) == 1
    assert said[0].endswith("missing or damaged; L2-N32 is trained from its first step")
    assert list(folder.iterdir()) == []


def test_a_full_disk_leaves_the_state_before(runs, monkeypatch):
    folder = runs / tiny.RECIPE.name
    whole = read_state(folder, RUN)
    before = (folder / STATE).read_bytes()

    def full(self, content):
        with self.open("wb") as stream:
            stream.write(content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state.Path, "write_bytes", full)
    with pytest.raises(OutputError, match=r"cannot write .*training\.state: No space left"):
        write_state(folder, whole)
    assert (folder / STATE).read_bytes() == before
    assert len(list(folder.iterdir())) == 4
