"""Keep the built site on its own host: no thebe, no Binder, no script from a CDN."""

from __future__ import annotations

from typing import Any


def drop_thebe(app: Any, config: Any) -> None:
    """Silence sphinx-thebe, which jupyter-book always loads and which points to a CDN."""
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)


def drop_remote(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Remove thebe's style sheet and any asset that another host would serve."""
    for kind in ("css_files", "script_files"):
        context[kind] = [
            asset
            for asset in context.get(kind, [])
            if not (remote(asset) or "sphinx-thebe" in str(asset))
        ]


def remote(asset: Any) -> bool:
    """Return whether an asset lies on another host."""
    return str(getattr(asset, "filename", asset)).startswith(("http:", "https:", "//"))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", drop_thebe)
    app.connect("html-page-context", drop_remote, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
