"""What all models of a run share: the corpus as token numbers, and its vocabulary."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spectral_lib.errors import MissingExtraError, StaleFileError, one_line
from spectral_lib.experiments.batches import Tokens
from spectral_lib.experiments.corpus import SOURCES, build_corpus
from spectral_lib.experiments.vocabulary import encode, train_vocabulary, wordpiece
from spectral_lib.families import family_folder
from spectral_lib.families.folder import read_manifest
from spectral_lib.files import replacing

#: Packages that training needs, beside those whose text it trains on.
LIBRARIES = ("tokenizers", "transformers")


@dataclass(frozen=True, eq=False)
class Prepared:
    """The text of a run.

    Attributes
    ----------
    tokens
        The corpus as token numbers.
    vocabulary
        The word pieces in their order.
    corpus
        Hash, versions and size of the corpus.
    """

    tokens: Tokens
    vocabulary: tuple[str, ...]
    corpus: dict[str, Any]


def prepare(
    folder: Path, vocabulary: int, say: Callable[[str], None], again: bool = False
) -> Prepared:
    """Return the text of a run; extract and encode it where it is not stored, or damaged.

    Once begun, a run keeps its text: a package that is updated meanwhile does not change it.

    Parameters
    ----------
    folder
        Where the run lives.
    vocabulary
        Number of word pieces.
    say
        Called with one line where something takes long, or is not as expected.
    again
        Whether to extract the text of the packages as they are now, rather than to keep it.

    Raises
    ------
    MissingExtraError
        A package that training needs is not installed.
    """
    require_packages()
    try:
        found = read_prepared(folder)
    except FileNotFoundError:
        found = None
    except StaleFileError as error:
        say(f"{error}; it is built again")
        found = None
    if again or found is None or len(found.vocabulary) != vocabulary:
        say("Extracting the corpus and its vocabulary from the installed packages: half a minute.")
        found = _build(vocabulary)
        write_prepared(folder, found)
    if found.corpus["sha256"] != (shipped := _shipped_corpus()) and shipped is not None:
        say(
            "The corpus differs from that of the shipped grid, as other versions of its sources "
            "give it: the models will differ too."
        )
    return found


def require_packages() -> None:
    """Fail where a package is missing, before the work rather than in the middle of it.

    Raises
    ------
    MissingExtraError
        In one line for all of them.
    """
    needed = (*(source for source in SOURCES if source != "python"), *LIBRARIES)
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"training the grid needs {', '.join(missing)}: pip install 'spectral-lib[all]'"
        )


def read_prepared(folder: Path) -> Prepared:
    """Read the text of a run.

    Raises
    ------
    FileNotFoundError
        There is none yet.
    StaleFileError
        The file is damaged.
    """
    path = _path(folder)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            tokens = Tokens(stored["train"], stored["held_out"])
            meta = json.loads(str(stored["meta"]))
        if tokens.digest != meta["tokens"]:
            raise ValueError("its hash is wrong")
        return Prepared(tokens, tuple(meta["vocabulary"]), meta["corpus"])
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever an archive's bytes can provoke, the file is at fault
        raise StaleFileError(f"{path}: damaged ({one_line(error, 120)})") from error


def write_prepared(folder: Path, prepared: Prepared) -> None:
    """Write the text of a run, whole or not at all."""
    tokens = prepared.tokens
    meta = {
        "tokens": tokens.digest,
        "vocabulary": prepared.vocabulary,
        "corpus": prepared.corpus,
    }
    with replacing(_path(folder)) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(
            stream, train=tokens.train, held_out=tokens.held_out, meta=np.array(json.dumps(meta))
        )


def _build(vocabulary: int) -> Prepared:
    corpus = build_corpus()
    pieces = train_vocabulary(corpus.train, vocabulary)
    tokenizer = wordpiece(pieces)
    facts = {
        "sha256": corpus.sha256,
        "versions": corpus.versions,
        "characters": corpus.characters,
        "docstrings": len(corpus.train),
        "held_out_docstrings": len(corpus.held_out),
    }
    tokens = Tokens(encode(tokenizer, corpus.train), encode(tokenizer, corpus.held_out))
    return Prepared(tokens, tuple(pieces), facts)


def _shipped_corpus() -> str | None:
    """Return the hash of the corpus of the shipped grid, ``None`` where it is not installed."""
    try:
        return str(read_manifest(family_folder("grid"))["corpus"]["sha256"])
    except (StaleFileError, KeyError, TypeError):
        return None


def _path(folder: Path) -> Path:
    return folder / "tokens.npz"
