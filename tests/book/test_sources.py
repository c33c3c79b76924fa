"""The rules for authors, read from the Markdown files of the book."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest

from tests.book.site import ROOT, marks, toc_pages
from tests.book.sources import Directive, directives, front_matter

STATEMENTS = re.compile(r"prf:(theorem|lemma|proposition|definition|corollary)")
LONGEST_CELL = 25
MEDIAN_CELL = 8

PAGES = [ROOT / f"{name}.md" for name in toc_pages()]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def code_cells(page: Path) -> list[Directive]:
    return [item for item in directives(page) if item.name == "code-cell"]


def cell_length(cell: Directive) -> int:
    return sum(1 for line in cell.body.splitlines() if line.strip())


def test_every_page_of_the_book_is_in_the_table_of_contents() -> None:
    assert sorted((ROOT / "book").rglob("*.md")) == sorted(PAGES)


@every_page
def test_front_matter_is_complete(page: Path) -> None:
    matter = front_matter(page)
    description = matter.get("myst", {}).get("html_meta", {}).get("description", "")
    assert 20 <= len(description) <= 200, "front matter: myst.html_meta.description, 20 to 200 long"
    if code_cells(page):
        assert matter["jupytext"]["text_representation"]["format_name"] == "myst"
        assert matter["kernelspec"]["name"] == "python3"
        assert matter["kernelspec"]["display_name"]


@every_page
def test_one_title_with_a_label(page: Path) -> None:
    prose = re.sub(r"^(`{3,}).*?^\1`*\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(re.findall(r"^# \S", prose, flags=re.M)) == 1
    assert re.search(r"^\([\w-]+\)=\n+# \S", prose, flags=re.M), "write (label)= above the title"


@every_page
def test_statements_say_where_they_come_from(page: Path) -> None:
    for item in directives(page):
        if STATEMENTS.fullmatch(item.name):
            first = re.match(r"\{badge\}`(\w+)`", item.body)
            assert first, f"line {item.line}: the first thing in {item.name} must be a badge"
            assert first[1] in marks.BADGES
            assert item.options.get("label"), f"line {item.line}: {item.name} needs a label"


@every_page
def test_what_the_book_proves_names_its_test(page: Path) -> None:
    """Only a definition, and a statement quoted from the paper, may stand without a guard."""
    for item in directives(page):
        proved = STATEMENTS.fullmatch(item.name) and item.name != "prf:definition"
        if proved and not item.body.startswith("{badge}`paper`"):
            assert "{guard}`" in item.body, f"line {item.line}: {item.name} names no test"


@every_page
def test_guards_exist(page: Path) -> None:
    for target in re.findall(r"\{guard\}`([^`]*)`", page.read_text(encoding="utf-8")):
        assert marks.missing_test(ROOT, target) is None


@every_page
def test_code_cells_are_short(page: Path) -> None:
    for cell in code_cells(page):
        length = cell_length(cell)
        assert length <= LONGEST_CELL, f"line {cell.line}: {length} lines; use the library"


def test_the_median_code_cell_is_short() -> None:
    lengths = {page.stem: [cell_length(cell) for cell in code_cells(page)] for page in PAGES}
    medians = {name: statistics.median(found) for name, found in lengths.items() if found}
    median = statistics.median(length for found in lengths.values() for length in found)
    assert median < MEDIAN_CELL, f"of the book {median}, by page {medians}"


@every_page
def test_figures_have_alt_text_caption_and_name(page: Path) -> None:
    for cell in code_cells(page):
        options = cell.options.get("mystnb", {})
        if "image" in options or "figure" in options:
            assert len(options["image"]["alt"]) >= 20, f"line {cell.line}: say what one sees"
            assert options["figure"]["caption"], f"line {cell.line}"
            assert options["figure"]["name"].startswith("fig-"), f"line {cell.line}"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("tests/book/test_sources.py::test_guards_exist", None),
        ("tests/book/test_sources.py::test_nothing", "defines no test_nothing"),
        ("tests/nowhere.py::test_x", "there is no file"),
        ("tests/book/test_sources.py", "write tests/"),
    ],
)
def test_a_missing_guard_is_named(target: str, problem: str | None) -> None:
    found = marks.missing_test(ROOT, target)
    assert found == problem if problem is None else problem in (found or "")
