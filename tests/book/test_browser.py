"""Every page in a real browser: typeset, quiet, self-contained, and no wider than a phone."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.book.site import toc_pages

pytestmark = pytest.mark.browser

EXECUTABLES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the built book on this machine only."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start the browser that is on this machine, with a fresh profile."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in EXECUTABLES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser on PATH (looked for {', '.join(EXECUTABLES)})")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, headless=True, args=FLAGS)
        yield chromium
        chromium.close()


class Visit:
    """One page open in a browser that can reach nothing but the address of the site."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.host = urlsplit(address).netloc
        self.address = address
        self.complaints: list[str] = []
        self.context = browser.new_context(viewport=PHONE, **options)
        self.context.route("**/*", self.allow)
        self.page = self.context.new_page()
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        self.page.on("response", self.check_status)

    def allow(self, route: Any) -> None:
        target = urlsplit(route.request.url)
        if target.scheme in ("data", "blob") or target.netloc == self.host:
            route.continue_()
        else:
            self.complaints.append(f"asked another host: {route.request.url}")
            route.abort()

    def hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def check_status(self, response: Any) -> None:
        if response.status >= 400:
            self.complaints.append(f"status {response.status}: {response.url}")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}/{path}", wait_until="networkidle")
        self.page.evaluate("() => window.MathJax?.startup?.promise")

    def overflow(self) -> list[str]:
        """Return what sticks out of the page to the right, the page first."""
        return self.page.evaluate(
            """() => {
                const width = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth <= width) return [];
                const inBox = e => e && (e.matches('html, body') ? false
                    : getComputedStyle(e).overflowX != 'visible' || inBox(e.parentElement));
                return ['the page is ' + document.documentElement.scrollWidth + ' px wide',
                    ...[...document.querySelectorAll('article *')]
                    .filter(e => e.getBoundingClientRect().right > width + 1)
                    .filter(e => !inBox(e.parentElement))
                    .slice(0, 5).map(e => e.outerHTML.slice(0, 120))];
            }"""
        )


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.context.close()


@pytest.mark.parametrize("name", [f"{name}.html" for name in toc_pages()] + ["search.html"])
def test_page(visit: Visit, name: str) -> None:
    visit.open(name)
    page = visit.page

    formulas = page.locator("article :is(span.math, div.math)").count()
    typeset = page.locator("article :is(span.math, div.math) mjx-container").count()
    assert typeset >= formulas, f"{formulas} formulas, {typeset} typeset"
    errors = page.locator("mjx-merror, [data-mjx-error]").evaluate_all(
        "found => found.map(e => e.getAttribute('data-mjx-error') || e.title || e.textContent)"
    )
    assert not errors, f"MathJax: {errors}"

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            assert not visit.overflow(), f"{scheme}, {size['width']} px"

    silent = page.locator("img").evaluate_all("found => found.filter(e => !e.alt.trim()).length")
    assert silent == 0, "images without alt text"
    broken = page.locator("img").evaluate_all("found => found.filter(e => !e.naturalWidth).length")
    assert broken == 0, "images that did not load"
    assert not visit.complaints


def test_folded_proofs_and_solutions_open(browser: Any, address: str, site: Path) -> None:
    visit = Visit(browser, address)
    for name in toc_pages():
        visit.open(f"{name}.html")
        for title in visit.page.locator(".admonition.dropdown > .admonition-title").all():
            body = title.locator("xpath=following-sibling::*[1]")
            assert not body.is_visible(), f"{name}: {title.inner_text()} is not folded"
            title.locator("button").click()
            assert body.is_visible(), f"{name}: {title.inner_text()} does not open"
    assert not visit.complaints
    visit.context.close()


def test_what_is_looked_for_would_be_found(browser: Any, address: str) -> None:
    """A page with every fault at once: each is seen."""
    visit = Visit(browser, address)
    visit.open("search.html")
    visit.page.set_content(
        """<article><img src="http://remote.invalid/x.png" alt="">
        <div style="width: 2000px">wide</div>
        <script>console.error('loud'); throw new Error('thrown')</script></article>"""
    )
    visit.page.wait_for_load_state("networkidle")
    heard = " ".join(visit.complaints)
    for fault in ("asked another host: http://remote.invalid", "loud", "thrown"):
        assert fault in heard
    assert len(visit.overflow()) == 2
    visit.context.close()
