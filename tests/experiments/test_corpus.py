"""The corpus: the same everywhere, prose alone, and nothing of it on both sides of the split."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spectral_lib.errors import MissingExtraError
from spectral_lib.experiments import corpus, preparation

PROSE = (
    "This text explains at some length what {} does, for the sake of whoever reads it. "
    "It says so twice, as documentation tends to do."
)

SCRIPT = """
import json, sys
from pathlib import Path
from spectral_lib.experiments import corpus
from spectral_lib.experiments.vocabulary import train_vocabulary
root = Path(sys.argv[1])
corpus.SOURCES = {"sources": "MIT"}
corpus._files = lambda source: sorted(root.rglob("*.py"))
corpus._version = lambda source: "1"
found = corpus.build_corpus()
pieces = train_vocabulary(found.train, 200)
print(json.dumps([found.train, found.held_out, found.sha256, pieces]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("sources")
    for number in range(12):
        texts = [PROSE.format(f"function {number}, {i}") for i in range(20)]
        functions = [f'def f{i}():\n    """{text}"""\n' for i, text in enumerate(texts)]
        module = f'"""{PROSE.format(f"module {number // 2}")}"""\n'  # each twice
        label = 'def g():\n    """Short."""\n'
        (root / f"m{number}.py").write_text("\n".join([module, *functions, label]))
    (root / "broken.py").write_text("def (:\n", encoding="utf-8")
    (root / "latin.py").write_bytes(b"# caf\xe9\n")
    return root


@pytest.fixture(scope="module")
def extracted(tree):
    """What two processes that hash strings differently extract and learn."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tree)],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    return [process.communicate()[0] for process in processes]


def test_two_processes_extract_the_same_corpus_and_vocabulary(extracted):
    first, second = extracted
    assert first == second
    *_, pieces = json.loads(first)
    assert len(pieces) == len(set(pieces)) == 200


def test_the_split_follows_the_hash_and_keeps_each_text_once(extracted):
    train, held_out, _, _ = json.loads(extracted[0])
    assert len(train) + len(held_out) == len({*train, *held_out}) == 12 * 20 + 6
    assert train
    assert held_out
    for text in (*train, *held_out):
        assert len(text) >= corpus.MIN_CHARACTERS
        first = hashlib.sha256(text.encode()).digest()[0]
        assert (text in held_out) == (first < corpus.HELD_OUT_BYTES)


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, st.integers(0, 99)), max_size=5), WORDS)
@example([], ["alpha"])
def test_prose_is_the_docstring_without_its_doctests(parts, last):
    lines, words = [], []
    for text, number in parts:
        lines += [" ".join(text), "", f">>> print({number})", str(number), ""]
        words += text
    lines.append(" ".join(last))
    assert corpus.prose("\n".join(lines)) == " ".join([*words, *last])


def test_prose_drops_the_source_lines_of_examples_that_doctest_refuses():
    assert corpus.prose("Before.\n>>>print(1)\nAfter.") == "Before. After."


def test_the_sources_of_one_package_are_found_in_order():
    files = corpus._files("numpy")
    assert files == sorted(files, key=lambda path: path.as_posix())
    assert any(path.name == "function_base.py" for path in files)


def test_a_package_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sympy", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"needs sympy, tokenizers: .*spectral-lib\[all\]"):
        preparation.prepare(tmp_path, 64, print)
    with pytest.raises(MissingExtraError, match="the corpus needs sympy"):
        corpus._files("sympy")
