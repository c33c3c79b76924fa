"""Fixtures over the built book; where it is missing, its tests skip and say so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.book.site import Page, build, toc_pages

#: Set by .ci/run: a site or browser test that would be skipped fails instead.
STRICT = "SPECTRAL_LIB_NO_SKIPS"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    marked = item.get_closest_marker("site") or item.get_closest_marker("browser")
    if os.environ.get(STRICT) and marked and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, and {STRICT} is set: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built book."""
    if not build.is_current():
        pytest.skip("the book is not built, or older than its sources: run `make book`")
    return build.OUT


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, Page]:
    """Return every page of the built book by its path in the site."""
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    return {page.name: page for page in map(Page, files)}


@pytest.fixture(scope="session")
def chapters(pages: dict[str, Page]) -> dict[str, Page]:
    """Return the pages that an author wrote."""
    return {name: pages[f"{name}.html"] for name in toc_pages()}
