"""Key the execution cache on the library: its sources, its data and its environment.

jupyter-cache matches a notebook by its own text and does not see the modules that it imports, so
changed code would leave old outputs in place, even in a full rebuild. Here the cache directory is
named by a digest of everything a cell can see. Since that name is part of Sphinx's environment, a
new digest also makes Sphinx read every page again.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def sources(root: Path) -> Iterator[Path]:
    """Yield what a cell can import or read: the package with its data, and pyproject.toml."""
    yield root / "pyproject.toml"
    for path in sorted((root / "spectral_lib").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def digest_files(root: Path, paths: Iterable[Path]) -> str:
    """Return a SHA-256 over the names and the contents of files."""
    total = hashlib.sha256()
    for path in paths:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return total.hexdigest()


def installed(root: Path) -> list[str]:
    """Return ``name version`` of Python and of every package that pyproject.toml names."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    tables = project["project"]
    extras = tables.get("optional-dependencies", {}).values()
    wanted = [*tables.get("dependencies", []), *(item for extra in extras for item in extra)]
    names = {re.split(r"[^\w.-]", item, maxsplit=1)[0] for item in wanted} - {tables["name"]}
    names |= set(project.get("tool", {}).get("spectral-lib", {}).get("weights", {}))
    lines = [f"python {sys.version}"]
    for name in sorted(names):
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} absent")
    return lines


def family() -> str:
    """Return which family of models the pages show, and its version: it may lie outside ``root``.

    Without it a build of one family would take the cached outputs of another.
    """
    from spectral_lib.families import chosen_version

    return chosen_version()


def fingerprint(root: Path) -> str:
    """Return the digest of everything outside a page that its outputs depend on."""
    text = "\n".join([digest_files(root, sources(root)), *installed(root), family()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def point_cache(app: Any, config: Any) -> None:
    """Give this fingerprint its own execution cache, and drop the caches of earlier ones."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / fingerprint(Path(app.srcdir))
    for old in caches.glob("*"):
        if old != current:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    config.nb_execution_cache_path = str(current)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx, before myst-nb reads its settings."""
    app.connect("config-inited", point_cache, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
