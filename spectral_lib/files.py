"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spectral_lib.errors import OutputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary sibling of ``path`` that takes its place when the block succeeds.

    The suffix is kept, since writers choose a format by it. On any failure the temporary file is
    removed and what stood at ``path`` is left as it was.

    Raises
    ------
    OutputError
        ``path`` is a directory, its folder is missing or cannot be written, or writing failed.
    """
    check_output(path)
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.stem[:80]}-", suffix=target.suffix
        )
        os.close(handle)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes private files; a result is not private
        temporary.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_output(
    path: str | os.PathLike[str] | None, suffixes: tuple[str, ...] | None = None
) -> None:
    """Fail before the work where a result could not be written after it.

    Raises
    ------
    OutputError
        The suffix names no known format, or :func:`replacing` would refuse the path.
    """
    if path is None:
        return
    target = Path(path)
    if suffixes is not None and target.suffix.lower() not in suffixes:
        raise OutputError(f"cannot write {target}: the file name must end in {', '.join(suffixes)}")
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a directory; give a file name")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"cannot write {target}: no permission in {target.parent}")
