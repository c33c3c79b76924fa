"""The corpus of the trained grid: docstrings of installed packages, extracted deterministically."""

from __future__ import annotations

import ast
import doctest
import hashlib
import importlib.metadata
import importlib.util
import platform
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spectral_lib.errors import MissingExtraError

#: Where the text comes from, in its order, and under which licence: the standard library of
#: Python, and packages by their import names.
SOURCES = {
    "python": "PSF-2.0",
    "numpy": "BSD-3-Clause",
    "sympy": "BSD-3-Clause",
    "matplotlib": "PSF-based (matplotlib licence)",
    "torch": "BSD-3-Clause",
}

#: Shorter docstrings are labels rather than prose.
MIN_CHARACTERS = 100

#: Held out are the docstrings whose hash begins with a byte below this: about 13 in 256.
HELD_OUT_BYTES = 13

_PROSE_OF = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Corpus:
    """Docstrings without their doctests, each once, split by their hashes.

    Attributes
    ----------
    train, held_out
        The docstrings: about 95 % and 5 %. Equal docstrings are kept once, so none is in both;
        near copies of one text are not looked for.
    versions
        Version of each source.
    sha256
        Hash of the whole text in its order.
    """

    train: tuple[str, ...]
    held_out: tuple[str, ...]
    versions: dict[str, str]
    sha256: str

    @property
    def characters(self) -> int:
        """Length of the whole text."""
        return sum(map(len, self.train)) + sum(map(len, self.held_out))


def build_corpus() -> Corpus:
    """Extract the corpus from the packages that are installed here.

    The same installed sources give the same text, whatever the machine. A distribution that takes
    modules out of the standard library, or a Python of another version, gives another.

    Raises
    ------
    MissingExtraError
        One of the packages is not installed.
    """
    parts: tuple[list[str], list[str]] = ([], [])
    seen: set[bytes] = set()
    whole = hashlib.sha256()
    for source in SOURCES:
        for path in _files(source):
            for text in _docstrings(path):
                digest = hashlib.sha256(text.encode()).digest()
                if digest not in seen:
                    seen.add(digest)
                    whole.update(digest)
                    parts[digest[0] < HELD_OUT_BYTES].append(text)
    versions = {source: _version(source) for source in SOURCES}
    return Corpus(tuple(parts[0]), tuple(parts[1]), versions, whole.hexdigest())


def prose(docstring: str) -> str:
    """Return a docstring on one line, without its doctests."""
    try:
        pieces = doctest.DocTestParser().parse(docstring)
    except ValueError:  # examples that the parser refuses: drop their source lines alone
        lines = docstring.splitlines()
        pieces = ["\n".join(line for line in lines if not line.lstrip().startswith(">>>"))]
    return " ".join(" ".join(piece for piece in pieces if isinstance(piece, str)).split())


def _docstrings(path: Path) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # templates and deliberate errors that packages carry
        return
    for node in ast.walk(tree):
        if isinstance(node, _PROSE_OF):
            text = prose(ast.get_docstring(node) or "")
            if len(text) >= MIN_CHARACTERS:
                yield text


def _files(source: str) -> list[Path]:
    if source == "python":
        root = Path(sysconfig.get_path("stdlib"))
        apart = {"site-packages", "dist-packages", "test", "tests"}
    else:
        found = importlib.util.find_spec(source)
        if found is None or found.origin is None:
            raise MissingExtraError(
                f"the corpus needs {source}; install: pip install 'spectral-lib[all]'"
            )
        root, apart = Path(found.origin).parent, set()
    inside = (path.relative_to(root) for path in root.rglob("*.py"))
    kept = sorted(path.as_posix() for path in inside if not apart.intersection(path.parts))
    return [root / path for path in kept]


def _version(source: str) -> str:
    return platform.python_version() if source == "python" else importlib.metadata.version(source)
