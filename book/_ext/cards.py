"""Link previews use the description that a page's author wrote, not its first lines of TeX."""

from __future__ import annotations

from typing import Any

from docutils import nodes


def describe(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Copy the page's description to its Open Graph card, before the card is made."""
    for meta in doctree.findall(nodes.meta) if doctree else ():
        if meta.get("name") == "description":
            context["meta"] = (context.get("meta") or {}) | {"og:description": meta["content"]}


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", describe, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
