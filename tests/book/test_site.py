"""The built site: whole, titled, described, and served from one host."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import Tag

from tests.book.site import ROOT, Page
from tests.book.sources import directives

pytestmark = pytest.mark.site

REMOTE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.I)
IN_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", re.I)
#: Attributes from which a browser loads something without being asked to.
LOADED = {
    "script": ["src"],
    "img": ["src", "srcset"],
    "iframe": ["src", "srcdoc"],
    "source": ["src", "srcset"],
    "video": ["src", "poster"],
    "audio": ["src"],
    "track": ["src"],
    "embed": ["src"],
    "object": ["data"],
    "input": ["src"],
    "use": ["href", "xlink:href"],
    "image": ["href", "xlink:href"],
}
#: Relations of <link> that only point somewhere.
POINTERS = {"index", "search", "next", "prev", "author", "copyright", "canonical", "license"}


def loads(page: Page) -> Iterator[str]:
    """Yield every address that the page loads from when it is opened."""
    for tag in page.soup.find_all(LOADED):
        for name in LOADED[tag.name]:
            value = str(tag.get(name, ""))
            yield from (part.split()[0] for part in value.split(",") if part.split())
    for link in page.soup.find_all("link", href=True):
        if not POINTERS.issuperset(link.get("rel", [])):
            yield str(link["href"])
    for style in page.soup.find_all("style"):
        yield from css_loads(style.get_text())
    for tag in page.soup.find_all(style=True):
        yield from css_loads(str(tag["style"]))


def css_loads(text: str) -> Iterator[str]:
    for first, second in IN_CSS.findall(text):
        yield first or second


def test_pages_load_nothing_from_another_host(pages: dict[str, Page]) -> None:
    for page in pages.values():
        remote = [address for address in loads(page) if REMOTE.match(address)]
        assert not remote, f"{page.name} loads {remote}"


def test_what_pages_load_is_there(pages: dict[str, Page]) -> None:
    for page in pages.values():
        for address in loads(page):
            if not address.startswith("data:"):
                file = page.path.parent / unquote(address.split("?")[0].split("#")[0])
                assert file.is_file(), f"{page.name}: {address}"


def test_inline_scripts_name_no_host(pages: dict[str, Page]) -> None:
    for page in pages.values():
        for script in page.soup.find_all("script", src=False):
            assert not re.search(r"(https?:)?//[\w-]+\.\w", script.get_text()), page.name


def test_style_sheets_load_nothing_from_another_host(site: Path) -> None:
    for sheet in site.rglob("*.css"):
        for address in css_loads(sheet.read_text(encoding="utf-8")):
            assert not REMOTE.match(address), f"{sheet}: {address}"


def test_mathjax_is_served_by_the_site(chapters: dict[str, Page]) -> None:
    for page in chapters.values():
        sources = [str(tag["src"]) for tag in page.soup.find_all("script", src=True)]
        if page.article.find(class_="math"):
            assert any(source.endswith("_static/mathjax/tex-chtml.js") for source in sources)


def test_the_loads_that_are_looked_for_would_be_found(tmp_path: Path, site: Path) -> None:
    html = """<link rel="preconnect" href="https://a.example"><img srcset="//b.example/x 2x">
    <style>@import "https://c.example/x"; p {background: url('https://d.example/x')}</style>
    <script src="HTTPS://e.example"></script><a href="https://fine.example">fine</a>"""
    page = Page.__new__(Page)
    page.html = html
    remote = [address for address in loads(page) if REMOTE.match(address)]
    assert sorted(re.findall(r"(\w)\.example", " ".join(remote))) == list("abcde")


def test_links_and_anchors_resolve(pages: dict[str, Page]) -> None:
    by_path = {page.path.resolve(): page for page in pages.values()}
    broken = []
    for page in pages.values():
        for link in page.soup.find_all("a", href=True):
            address, fragment = urldefrag(str(link["href"]))
            if re.match(r"[a-z][a-z0-9+.-]*:", address, re.I):
                continue
            path = unquote(address.split("?")[0])
            target = (page.path.parent / path).resolve() if path else page.path.resolve()
            known = by_path.get(target)
            if known is None:
                good = target.is_file() and not fragment
            else:
                good = not fragment or unquote(fragment) in known.anchors
            if not good:
                broken.append(f"{page.name}: {link['href']}")
    assert not broken


def test_the_front_door_leads_to_the_landing_page(site: Path) -> None:
    html = (site / "index.html").read_text(encoding="utf-8")
    target = re.search(r"url=([^\"]+)\"", html)
    assert target is not None
    assert (site / target[1]).is_file()


def test_titles_are_there_and_differ(pages: dict[str, Page]) -> None:
    titles = Counter(
        page.soup.title.get_text(strip=True) if page.soup.title else ""
        for page in pages.values()
        if not page.is_redirect
    )
    assert "" not in titles
    assert max(titles.values()) == 1, titles


def test_descriptions_are_there_and_differ(chapters: dict[str, Page]) -> None:
    descriptions = Counter()
    for page in chapters.values():
        meta = page.soup.find("meta", attrs={"name": "description"})
        assert isinstance(meta, Tag), page.name
        descriptions[str(meta["content"])] += 1
        assert "\\" not in str(meta["content"]), page.name
        card = page.soup.find("meta", attrs={"property": "og:description"})
        assert isinstance(card, Tag), page.name
        assert card["content"] == meta["content"], page.name
    assert max(descriptions.values()) == 1


def test_ids_are_unique(chapters: dict[str, Page]) -> None:
    for page in chapters.values():
        ids = Counter(str(tag["id"]) for tag in page.article.find_all(id=True))
        assert not [name for name, count in ids.items() if count > 1], page.name


def test_images_have_words(pages: dict[str, Page]) -> None:
    for page in pages.values():
        for image in page.soup.find_all("img"):
            alt = str(image.get("alt", "")).strip()
            assert len(alt) >= 10, f"{page.name}: {image.get('src')}: alt {alt!r}"
            assert not re.search(r"\.(png|svg|jpe?g|gif|webp)$|_images|_build", alt), alt


def test_figures_of_cells_have_captions(chapters: dict[str, Page]) -> None:
    for page in chapters.values():
        for image in page.article.select(".cell_output img"):
            figure = image.find_parent("figure")
            assert figure is not None, f"{page.name}: a figure without caption"
            assert figure.get("id"), page.name
            assert figure.find("figcaption"), page.name


def test_no_cell_failed_or_wrote_to_stderr(chapters: dict[str, Page]) -> None:
    for page in chapters.values():
        assert not page.article.select(".traceback, .output.stderr"), page.name
        for output in page.article.select(".cell_output"):
            assert "Traceback (most recent call last)" not in output.get_text(), page.name


def test_cells_that_end_in_a_value_show_it(chapters: dict[str, Page]) -> None:
    for name, page in chapters.items():
        cells = [item for item in directives(ROOT / f"{name}.md") if item.name == "code-cell"]
        shown = [cell for cell in cells if "remove-cell" not in cell.options.get("tags", [])]
        built = page.article.select("div.cell")
        assert len(built) == len(shown), f"{name}: {len(shown)} cells, {len(built)} on the page"
        for cell, element in zip(shown, built, strict=True):
            if shows_a_value(cell.body) and "remove-output" not in cell.options.get("tags", []):
                assert element.select_one(".cell_output"), f"{name}.md, line {cell.line}"


def shows_a_value(code: str) -> bool:
    """Return whether a cell ends in an expression that surely has a value to show."""
    last = ast.parse(code).body[-1] if code.strip() else None
    if not isinstance(last, ast.Expr) or code.rstrip().endswith(";"):
        return False
    if isinstance(last.value, ast.Call):
        return isinstance(last.value.func, ast.Name) and last.value.func.id in ("print", "display")
    return not isinstance(last.value, ast.Constant) or last.value.value is not None
