"""The local Sphinx extensions, each on a page of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from spectral_lib.notation import Provenance
from tests.book.site import ROOT, marks

CONF = """
extensions = "myst_parser sphinx_proof sphinx_thebe offline marks proofs cards".split()
myst_enable_extensions = ["colon_fence"]
html_theme = "basic"
"""
STATEMENT = """# A page

:::{{prf:theorem}} Name
:label: thm-x

{mark} Text.
:::

:::{{prf:proof}}
:class: dropdown

It is *so*.
:::

:::{{prf:proof}}
It is shown.
:::
"""


def build(root: Path, text: str) -> tuple[int, str, BeautifulSoup]:
    """Build a book of one page with warnings as errors; return status, messages and page."""
    (root / "index.md").write_text(text)
    (root / "test_real.py").write_text("def test_it(): ...\n")
    (root / "conf.py").write_text(CONF)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", ".", "out"]
    path = os.pathsep.join([str(ROOT / "book" / "_ext"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path, "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    html = (root / "out" / "index.html").read_text()
    return done.returncode, done.stderr, BeautifulSoup(html, "html.parser")


def test_badges_guards_proofs(tmp_path: Path) -> None:
    badges = " ".join(f"{{badge}}`{name}`" for name in marks.BADGES)
    text = STATEMENT.format(mark=badges + " {guard}`test_real.py::test_it`")
    status, messages, page = build(tmp_path, text)
    assert (status, messages) == (0, "")
    pills = [pill.get_text() for pill in page.select(".badge-source")]
    assert pills == [str(member) for member in Provenance]
    assert page.select_one(".guard code").get_text() == "test_real.py::test_it"

    folded, shown = page.select(".proof.admonition:not(.theorem)")
    assert folded.select_one("p.admonition-title").get_text() == "Proof"
    assert folded.select("p")[1].get_text() == "It is so."
    assert shown.select_one("p.admonition-title") is None
    assert shown.get_text(strip=True) == "Proof. It is shown."
    assert folded["id"] != shown["id"]
    assert "thebe" not in str(page)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("{badge}`folklore`", "unknown badge 'folklore'; known: paper, scripts, earlier, derived"),
        ("{guard}`test_real.py::test_gone`", "test_real.py defines no test_gone"),
        ("{guard}`gone.py::test_it`", "there is no file gone.py"),
    ],
)
def test_a_wrong_mark_fails_the_build(tmp_path: Path, mark: str, message: str) -> None:
    status, messages, _ = build(tmp_path, STATEMENT.format(mark=mark))
    assert status != 0
    assert message in messages
