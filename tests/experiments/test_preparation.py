"""The text of a run: kept once it is built, built again where it is damaged."""

import pytest

from spectral_lib.errors import StaleFileError
from spectral_lib.experiments import preparation
from tests.experiments import tiny


@pytest.fixture
def built(monkeypatch):
    """Count how often the text is built; the tiny text stands for the corpus."""
    times: list[int] = []

    def build(vocabulary):
        times.append(vocabulary)
        return tiny.prepared()

    monkeypatch.setattr(preparation, "_build", build)
    monkeypatch.setattr(preparation, "_shipped_corpus", lambda: None)
    return times


def test_the_text_is_built_once(built, tmp_path):
    said: list[str] = []
    first = preparation.prepare(tmp_path, 64, said.append)
    again = preparation.prepare(tmp_path, 64, said.append)
    assert built == [64]
    assert len(said) == 1
    assert "half a minute" in said[0]
    assert again.tokens.digest == first.tokens.digest == tiny.tokens().digest
    assert (again.vocabulary, again.corpus) == (first.vocabulary, first.corpus)
    preparation.prepare(tmp_path, 64, said.append, again=True)
    assert built == [64, 64]


@pytest.mark.parametrize("harm", ["empty", "cut", "flip"])
def test_a_damaged_text_is_built_again(built, tmp_path, harm):
    tiny.prepare(tmp_path)
    path = tmp_path / "tokens.npz"
    content = bytearray(path.read_bytes())
    content[300] ^= 1
    path.write_bytes({"empty": b"", "cut": content[:-50], "flip": bytes(content)}[harm])
    with pytest.raises(StaleFileError, match=r"tokens\.npz: damaged"):
        preparation.read_prepared(tmp_path)
    said: list[str] = []
    assert preparation.prepare(tmp_path, 64, said.append).tokens.digest == tiny.tokens().digest
    assert built == [64]
    assert "it is built again" in said[0]


def test_another_vocabulary_is_another_text(built, tmp_path):
    tiny.prepare(tmp_path)
    preparation.prepare(tmp_path, 65, print)
    assert built == [65]


def test_a_corpus_that_is_not_the_shipped_one_is_said(built, tmp_path, monkeypatch):
    tiny.prepare(tmp_path)
    for shipped, lines in (("f" * 64, 0), (None, 0), ("e" * 64, 1)):
        said: list[str] = []
        monkeypatch.setattr(preparation, "_shipped_corpus", lambda shipped=shipped: shipped)
        preparation.prepare(tmp_path, 64, said.append)
        assert len(said) == lines
    assert "differs from that of the shipped grid" in said[0]
