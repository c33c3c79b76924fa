"""Two roles for statements: where one comes from, and the test that guards it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes

from spectral_lib.notation import Provenance

#: The word that an author writes, the pill's text, and what the pointer shows.
BADGES = {
    "paper": (Provenance.PAPER, "Stated in the paper"),
    "scripts": (Provenance.SCRIPTS, "What the paper's released scripts evaluate"),
    "earlier": (Provenance.EARLIER, "From earlier work, cited here"),
    "derived": (Provenance.DERIVED, "Derived in this book; not in the paper"),
}

RoleResult = tuple[list[nodes.Node], list[nodes.system_message]]


def badge(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any, **__: Any
) -> RoleResult:
    """Render {badge}`paper` as a pill that says where a statement comes from."""
    if text not in BADGES:
        known = ", ".join(BADGES)
        message = inliner.reporter.error(f"unknown badge {text!r}; known: {known}", line=lineno)
        return [nodes.problematic(rawtext, rawtext)], [message]
    label, title = BADGES[text]
    html = f'<span class="badge-source badge-{text}" title="{title}">{label}</span>'
    return [nodes.raw("", html, format="html")], []


def guard(root: Path) -> Callable[..., RoleResult]:
    """Build the role {guard}`tests/x.py::test_y`, a line that names an existing test."""

    def role(
        name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any, **__: Any
    ) -> RoleResult:
        if problem := missing_test(root, text):
            return [nodes.problematic(rawtext, rawtext)], [
                inliner.reporter.error(f"guard {text!r}: {problem}", line=lineno)
            ]
        html = f'<span class="guard">Guarded by <code>{text}</code></span>'
        return [nodes.raw("", html, format="html")], []

    return role


def missing_test(root: Path, target: str) -> str | None:
    """Return what is wrong with ``path::test``, or None when that test is there."""
    file, separator, test = target.partition("::")
    if not separator or not test.split("::")[-1].startswith("test_"):
        return "write tests/<file>.py::test_<name>"
    path = root / file
    if not path.is_file():
        return f"there is no file {file}"
    function = test.split("::")[-1]
    if f"def {function}(" not in path.read_text(encoding="utf-8"):
        return f"{file} defines no {function}"
    return None


def setup(app: Any) -> dict[str, bool]:
    """Register both roles."""
    app.add_role("badge", badge)
    app.add_role("guard", guard(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
