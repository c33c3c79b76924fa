"""Write a file whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spectral_lib.errors import OutputError

#: Longest suffix in bytes that a temporary name keeps; a format's own is far shorter.
MAX_SUFFIX = 16

#: How a temporary name begins: a process that was killed leaves such a file behind.
TEMPORARY = ".spectral-lib-"


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary sibling of ``path`` that takes its place when the block succeeds.

    The suffix is kept, since writers choose a format by it. A symbolic link is followed: the file
    that it names is replaced. On any failure the temporary file is removed and what stood at
    ``path`` is left as it was.

    Raises
    ------
    OutputError
        ``path`` is a directory or a device, its folder is missing or cannot be written, or
        writing failed.
    """
    check_output(path)
    target = Path(os.path.realpath(path))
    suffix = target.suffix if len(os.fsencode(target.suffix)) <= MAX_SUFFIX else ""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=TEMPORARY, suffix=suffix)
        os.close(handle)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes private files; a result is not private
        temporary.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
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
    if suffixes is not None and Path(path).suffix.lower() not in suffixes:
        raise OutputError(f"cannot write {path}: the file name must end in {', '.join(suffixes)}")
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot write {path}: {reason}") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise OutputError(f"cannot write {path}: it is a directory; give a file name")
    if mode is not None and not stat.S_ISREG(mode):  # to replace /dev/null would remove it
        raise OutputError(f"cannot write {path}: it is a device, pipe or socket; give a file name")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"cannot write {path}: no permission in {target.parent}")


def check_distinct(*paths: str | os.PathLike[str] | None) -> None:
    """Fail where two results would take each other's place.

    Raises
    ------
    OutputError
        Two of the paths, ``None`` left out, name the same file.
    """
    seen: set[str] = set()
    for path in paths:
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in seen:
            raise OutputError(f"cannot write {path}: two results cannot go to the same file")
        seen.add(real)
