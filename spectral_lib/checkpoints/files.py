"""Reading files that may be missing, locked, lying or changing underfoot."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from spectral_lib.errors import CheckpointError, one_line

#: No config.json or shard index comes near this size; a file that does is something else.
MAX_JSON_BYTES = 16 << 20
#: Characters of a path that a message shows.
MAX_LABEL = 400


def label(path: Path) -> str:
    """Return a path, safe and short enough for a one-line message."""
    text = str(path) if str(path).isprintable() else repr(str(path))
    return text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"


def os_reason(error: OSError) -> str:
    """Say in words why the operating system refused."""
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    if isinstance(error, PermissionError):
        return "permission denied; make it readable for this user"
    if error.errno == errno.ELOOP:
        return "the symbolic link leads back to itself"
    return one_line(error.strerror or error)


@dataclass(frozen=True)
class WeightsFile:
    """A regular file as it was when opened; every later access checks that it is still the same.

    Attributes
    ----------
    path
        Where it is.
    size
        Its length in bytes.
    """

    path: Path
    size: int
    modified_ns: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> WeightsFile:
        """Take note of a file.

        Raises
        ------
        CheckpointError
            There is none, it is not a regular file, or it may not be read.
        """
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
                raise CheckpointError(f"{label(path)}: expected a file, this is {kind}")
            if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
                raise PermissionError(errno.EACCES, "permission denied")
        except OSError as error:
            raise CheckpointError(f"{label(path)}: {os_reason(error)}") from error
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    def check_unchanged(self) -> None:
        """Raise CheckpointError when the file is not the one that was opened."""
        with self.open():
            pass

    @contextmanager
    def open(self) -> Iterator[FileIO]:
        """Open the file unbuffered, and check before and after that nothing changed it."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                self._compare(os.fstat(file.fileno()))
                yield file
                self._compare(os.fstat(file.fileno()))
        except OSError as error:
            raise CheckpointError(f"{label(self.path)}: {os_reason(error)}") from error

    def _compare(self, status: os.stat_result) -> None:
        now = (status.st_size, status.st_mtime_ns, status.st_ino)
        if now != (self.size, self.modified_ns, self.inode):
            raise CheckpointError(
                f"{label(self.path)}: the file changed while it was read "
                f"({self.size} bytes at first, {status.st_size} now); start again once it is still"
            )

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill the buffer from ``offset`` on."""
        with self.open() as file:
            file.seek(offset)
            filled = 0
            while filled < len(buffer):
                count = file.readinto(buffer[filled:])
                if not count:
                    raise CheckpointError(
                        f"{label(self.path)}: ends at byte {offset + filled}, "
                        f"expected {offset + len(buffer)}; download it again"
                    )
                filled += count

    def sha256(self) -> str:
        """Return the SHA-256 of the contents, read in small pieces."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises
    ------
    CheckpointError
        The file is missing, huge, not UTF-8, not JSON, or JSON but not an object.
    """
    file = WeightsFile.at(path)
    if file.size > MAX_JSON_BYTES:
        raise CheckpointError(
            f"{label(path)}: {file.size} bytes, expected a JSON file of at most {MAX_JSON_BYTES}"
        )
    content = bytearray(file.size)
    file.read_into(memoryview(content), 0)
    return parse_json_object(bytes(content), label(path))


def parse_json_object(content: bytes, where: str, *, strict: bool = False) -> dict[str, Any]:
    """Parse one JSON object; ``strict`` refuses names given twice, NaN and Infinity."""
    if content.startswith(b"\xef\xbb\xbf"):
        raise CheckpointError(f"{where}: starts with a byte-order mark; save it as plain UTF-8")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{where}: not UTF-8 text (byte {error.start})") from error
    try:
        if strict:
            value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        else:
            value = json.loads(text)
    except RecursionError as error:
        raise CheckpointError(f"{where}: JSON nested too deeply") from error
    except ValueError as error:
        raise CheckpointError(f"{where}: not valid JSON: {one_line(error, 200)}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{where}: expected a JSON object, got {one_line(repr(value), 60)}")
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} occurs twice")
        found[name] = value
    return found
