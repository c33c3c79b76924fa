"""Train the whole grid: two workers, one model each at a time, safe to stop at any moment."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spectral_lib.errors import SpectralLibError
from spectral_lib.experiments.batches import Tokens
from spectral_lib.experiments.corpus import build_corpus
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.state import STATE, DamagedStateError
from spectral_lib.experiments.vocabulary import encode, train_vocabulary, wordpiece
from spectral_lib.files import replacing

#: Steps between two reports of a worker.
REPORT_EVERY = 5

#: Called with a model's name, its steps done, and a message or "".
Report = Callable[[str, int, str], None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What all models of a run share.

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


def prepare(folder: Path, vocabulary: int) -> Prepared:
    """Return the tokens of a run; build corpus and vocabulary where they are not stored yet.

    Once begun, a run keeps its text: a package that is updated meanwhile does not change it.
    """
    path = folder / "tokens.npz"
    if not path.exists():
        corpus = build_corpus()
        pieces = train_vocabulary(corpus.train, vocabulary)
        tokenizer = wordpiece(pieces)
        tokens = Tokens(encode(tokenizer, corpus.train), encode(tokenizer, corpus.held_out))
        facts = {
            "sha256": corpus.sha256,
            "versions": corpus.versions,
            "characters": corpus.characters,
            "docstrings": len(corpus.train),
            "held_out_docstrings": len(corpus.held_out),
        }
        folder.mkdir(parents=True, exist_ok=True)
        meta = {"tokens": tokens.digest, "vocabulary": pieces, "corpus": facts}
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(
                stream,
                train=tokens.train,
                held_out=tokens.held_out,
                meta=np.array(json.dumps(meta)),
            )
    try:
        with np.load(path, allow_pickle=False) as stored:
            tokens = Tokens(stored["train"], stored["held_out"])
            meta = json.loads(str(stored["meta"]))
        if tokens.digest != meta["tokens"]:
            raise ValueError("its hash is wrong")
    except Exception as error:  # whatever an archive's bytes can provoke, the file is at fault
        raise SpectralLibError(
            f"{path}: the stored tokens are damaged ({error}); remove the file to build them again"
        ) from error
    return Prepared(tokens, tuple(meta["vocabulary"]), meta["corpus"])


def train_grid(
    folder: Path, recipes: Sequence[Recipe], prepared: Prepared, workers: int, report: Report
) -> bool:
    """Train all recipes, each in its own folder under ``folder``; return whether all are done.

    On an interrupt the workers store their states and the function returns False. Workers whose
    parent was killed store and stop too.
    """
    context = multiprocessing.get_context("spawn")
    stop, reports = context.Event(), context.SimpleQueue()
    shared = (stop, reports, prepared.tokens, folder, os.getpid())
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_begin, initargs=shared
    ) as pool:
        tasks = {pool.submit(_train_one, recipe) for recipe in recipes}
        try:
            while tasks:
                done, tasks = wait(tasks, timeout=0.5, return_when=FIRST_COMPLETED)
                while not reports.empty():
                    report(*reports.get())
                for task in done:
                    task.result()
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                return False
            raise
    return True


_shared: tuple[Any, ...] = ()


def _begin(*shared: Any) -> None:
    """Start a worker; the parent alone answers to Ctrl-C, and asks the workers to stop."""
    global _shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared = shared


def _train_one(recipe: Recipe) -> None:
    from spectral_lib.experiments.training import train

    stop, reports, tokens, parent_folder, parent = _shared
    folder = parent_folder / recipe.name

    def watch(step: int) -> bool:
        if step % REPORT_EVERY == 0 or step == recipe.steps:
            reports.put((recipe.name, step, ""))
        return bool(stop.is_set() or os.getppid() != parent)

    try:
        train(recipe, tokens, folder, watch)
    except DamagedStateError as error:
        reports.put((recipe.name, 0, f"{error}; training {recipe.name} from its first step"))
        (folder / STATE).unlink()
        train(recipe, tokens, folder, watch)
