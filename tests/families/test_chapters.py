"""The chapters on the experiments hold for a family that was fetched: no history, and gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spectral_lib.families import SWITCH
from spectral_lib.families.fetching import fetch_miniatures
from spectral_lib.families.miniatures import short_name
from tests.book.site import ROOT
from tests.book.sources import directives
from tests.families.models import write_model
from tests.families.test_experiments import GAPS, NAMES
from tests.hub import serving

#: The chapters that ask for the chosen family.
CHAPTERS = ("family", "spectra", "growth", "training", "reading")
GLUED = re.compile(r"\{glue:text\}`([^`:]+)(?::([^`]*))?`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("chapters")
    with pytest.MonkeyPatch.context() as patch, serving(place, patch) as hub:
        for model in NAMES:
            if model not in GAPS:
                hub.publish(write_model(place / short_name(model), model), repo=model)
        fetch_miniatures(place / "family", NAMES, watch=lambda *event: None)
        patch.setenv(SWITCH, str(place / "family"))
        yield place / "family"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_cell_runs_and_every_number_is_there(
    folder: Path, chapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("myst_nb")
    page = ROOT / "book" / "experiments" / f"{chapter}.md"
    glued: dict[str, Any] = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: glued.update({name: value}))
    names: dict[str, Any] = {}
    for cell in directives(page):
        if cell.name == "code-cell":
            exec(compile(cell.body, f"{page.name}, line {cell.line}", "exec"), names)
    for name, form in GLUED.findall(page.read_text(encoding="utf-8")):
        assert format(glued[name], form or ""), name
    if chapter == "training":  # whose history this family does not have
        assert names["family"].name == "grid"
    else:
        assert len(names["family"].members) == len(NAMES) - len(GAPS)
        assert names["family"].name != "grid"
