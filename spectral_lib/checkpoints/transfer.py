"""One file over HTTP: a cut connection is resumed, in later runs too, and the hash decides.

The hub library starts a file anew in every run and compares its length alone, so large files come
through here.
"""

from __future__ import annotations

import functools
import hashlib
import http.client
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from spectral_lib.checkpoints.patience import within
from spectral_lib.errors import HubError, HubUnreachableError, OutputError, one_line

#: Called with the number of bytes that are there and the number of bytes in all.
ByteProgress = Callable[[int, int], None]

CHUNK = 1 << 16
#: Tries in a row that bring less than a chunk; the pauses between them double from one second.
ATTEMPTS = 5
#: Seconds that the server may be silent, and in which it must send at least ``CHUNK`` bytes.
PATIENCE = 30.0
TOO_MANY_REQUESTS, SERVER_ERRORS, RANGE_REFUSED = 429, 500, 416


@dataclass(frozen=True)
class RemoteFile:
    """A file that a server announced.

    Attributes
    ----------
    name
        What messages call it.
    url
        Where it is; redirects are followed.
    size
        Its length in bytes.
    digest
        SHA-256 of the content (64 hexadecimal digits), or the SHA-1 that git gives it (40).
    headers
        Sent to the first host only, since a redirect may lead to another: they hold the token.
    """

    name: str
    url: str
    size: int
    digest: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    def is_at(self, path: Path) -> bool:
        """Return whether the file at ``path`` is this one, by its length and hash."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        return _digest(path, self.digest) == self.digest


def transfer(
    remote: RemoteFile, target: Path, progress: ByteProgress = lambda done, total: None
) -> None:
    """Bring a file to ``target``, which exists only when it is whole and its hash is right.

    What arrives is kept beside it under a hidden name, and the next call goes on from there.

    Raises
    ------
    HubUnreachableError
        The server does not answer, stops sending, or asks to come back later.
    HubError
        It refuses the file, or sends another one than it announced.
    OutputError
        The disk is full, or cannot be written.
    """
    if remote.is_at(target):
        progress(remote.size, remote.size)
        return
    part = target.with_name(f".{target.name}.{remote.digest[:16]}.part")
    for stale in target.parent.glob(f".{target.name}.*.part"):
        if stale != part or stale.stat().st_size > remote.size:
            stale.unlink()
    resumed = _size(part) > 0
    _complete(remote, part, progress)
    if _digest(part, remote.digest) != remote.digest and resumed:
        part.unlink()  # the beginning may be at fault, from a run that was killed
        _complete(remote, part, progress)
    if (found := _digest(part, remote.digest)) != remote.digest:
        part.unlink()
        raise HubError(
            f"{remote.name}: what arrived is not what was announced (hash {found[:16]}…, "
            f"expected {remote.digest[:16]}…); try again later"
        )
    part.replace(target)


def _complete(remote: RemoteFile, part: Path, progress: ByteProgress) -> None:
    """Append to the part until it has the announced length."""
    _require_space(remote, part)
    failures = 0
    while (have := _size(part)) < remote.size:
        try:
            _append(remote, part, progress)
            reason = "the connection was cut"
        except (HubError, OutputError):
            raise
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == RANGE_REFUSED and have:
                part.unlink()
            elif error.code < SERVER_ERRORS:
                _refuse(remote, error)
            reason = f"status {error.code}"
        except (OSError, http.client.HTTPException) as error:
            reason = one_line(getattr(error, "reason", None) or error, 120)
        enough = min(have + CHUNK, remote.size)
        failures = 0 if _size(part) >= enough else failures + 1
        if failures == ATTEMPTS:
            raise HubUnreachableError(f"{remote.name}: the hub cannot be reached ({reason})")
        if failures:
            time.sleep(2.0 ** (failures - 1))
    if not remote.size:
        part.touch()


def _append(remote: RemoteFile, part: Path, progress: ByteProgress) -> None:
    """Ask for what is missing, and write what comes before the connection ends."""
    have = _size(part)
    request = urllib.request.Request(remote.url)
    for name, value in remote.headers.items():
        request.add_unredirected_header(name, value)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with within(
        PATIENCE, lambda: urllib.request.urlopen(request, timeout=PATIENCE, context=_trusted())
    ) as response:
        start = _start(response)
        if start not in (0, have):
            raise http.client.HTTPException(f"asked for byte {have} on, got byte {start} on")
        with _writing(remote, part):
            stream = part.open("ab", buffering=0)  # nothing is left to be written at its end
        with stream:
            _copy(response, stream, start, remote, part, progress)


def _copy(
    response: http.client.HTTPResponse,
    stream: FileIO,
    start: int,
    remote: RemoteFile,
    part: Path,
    progress: ByteProgress,
) -> None:
    with _writing(remote, part):
        stream.truncate(start)
    have = counted = start
    window = time.monotonic()
    while have < remote.size and (chunk := response.read1(CHUNK)):
        chunk = chunk[: remote.size - have]
        with _writing(remote, part):
            view = memoryview(chunk)
            while view:
                view = view[stream.write(view) :]
        have += len(chunk)
        progress(have, remote.size)
        if (now := time.monotonic()) - window > PATIENCE:
            if have - counted < CHUNK:
                raise TimeoutError(f"less than {CHUNK >> 10} KiB in {PATIENCE:g} s")
            window, counted = now, have


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Trust the system's certificates and certifi's: some Pythons come without the former."""
    context = ssl.create_default_context()
    with suppress(ImportError):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _start(response: http.client.HTTPResponse) -> int:
    """Return the position of the first byte that a response brings."""
    if response.status != http.client.PARTIAL_CONTENT:
        return 0
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else -1


@contextmanager
def _writing(remote: RemoteFile, part: Path) -> Iterator[None]:
    """Turn an error of the disk into one line, and give the room of the part back."""
    try:
        yield
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(
            f"cannot write {remote.name} to {part.parent}: {error.strerror or error}"
        ) from error


def _require_space(remote: RemoteFile, part: Path) -> None:
    missing, free = remote.size - _size(part), shutil.disk_usage(part.parent).free
    if free < missing:
        raise OutputError(
            f"cannot write {remote.name} to {part.parent}: it needs {missing / 1e6:.0f} MB, "
            f"the disk has {free / 1e6:.0f} MB left"
        )


def _refuse(remote: RemoteFile, error: urllib.error.HTTPError) -> None:
    if error.code == TOO_MANY_REQUESTS:
        raise HubUnreachableError(f"{remote.name}: {please_wait(error.headers.get('Retry-After'))}")
    raise HubError(f"{remote.name}: the hub refuses the file (status {error.code})")


def please_wait(seconds: str | None) -> str:
    """Say that the hub counted too many requests, and until when."""
    after = f" in {seconds} s" if seconds and seconds.isdigit() else " later"
    return f"the hub asks to come back{after} (status {TOO_MANY_REQUESTS})"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _digest(path: Path, like: str) -> str:
    """Return the hash of a file, of the kind that ``like`` is."""
    git = len(like) == 40
    total = hashlib.sha1(usedforsecurity=False) if git else hashlib.sha256()
    if git:
        total.update(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()
