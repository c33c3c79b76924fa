"""Where the book is, and its built pages."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "book"), str(ROOT / "book" / "_ext")]

import build  # noqa: E402
import fingerprint  # noqa: E402, F401
import marks  # noqa: E402, F401


def toc_pages() -> list[str]:
    """Return the pages of the table of contents, the landing page first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    nested = [section for chapter in chapters for section in chapter.get("sections", [])]
    return [toc["root"], *(item["file"] for item in [*chapters, *nested])]


class Page:
    """One HTML file of the site."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(build.OUT).as_posix()
        self.html = path.read_text(encoding="utf-8")

    @cached_property
    def soup(self) -> BeautifulSoup:
        return BeautifulSoup(self.html, "html.parser")

    @cached_property
    def anchors(self) -> set[str]:
        ids = {tag["id"] for tag in self.soup.find_all(id=True)}
        return ids | {tag["name"] for tag in self.soup.find_all("a", attrs={"name": True})}

    @property
    def article(self) -> Tag:
        article = self.soup.find("article")
        assert isinstance(article, Tag), f"{self.name} has no article"
        return article

    @property
    def is_redirect(self) -> bool:
        return self.name == "index.html"
