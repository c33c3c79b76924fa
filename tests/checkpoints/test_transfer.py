"""Large files: resumed after a cut connection, checked by hash, never left half-written."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import resource
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from spectral_lib.checkpoints import transfer as module
from spectral_lib.checkpoints.hub import announce
from spectral_lib.checkpoints.transfer import RemoteFile, transfer
from spectral_lib.errors import HubError, HubUnreachableError, OutputError
from tests.hub import COMMITS, REPO, serving

from .models import refused

FILE = "model.safetensors"
KEY = f"{REPO}/{FILE}"
CONTENT = bytes(range(256)) * 4000


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serving(tmp_path, monkeypatch) as stand_in:
        stand_in.files[REPO, "main", FILE] = CONTENT
        yield stand_in


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def announced(file: str = FILE) -> RemoteFile:
    remote = announce(REPO, file, None)
    assert remote is not None
    return remote


def test_announcement(server):
    remote = announce(REPO, FILE, None)
    assert remote is not None
    assert (remote.size, remote.commit) == (len(CONTENT), COMMITS["main"])
    assert remote.digest == hashlib.sha256(CONTENT).hexdigest()
    assert announce(REPO, "absent.bin", None) is None
    assert server.ranges == []


def test_an_announcement_that_cannot_be_true(server, monkeypatch):
    import huggingface_hub

    true = announce(REPO, FILE, None)
    assert true is not None
    for size in (-5, None):
        false = SimpleNamespace(commit_hash=true.commit, size=size, etag=true.digest)
        monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", lambda url, false=false: false)
        refused(HubError, lambda: announce(REPO, FILE, None), "states no commit, length or hash")


def test_whole_file_once(server, folder):
    heard = []
    for _ in range(2):
        transfer(announced(), folder / FILE, lambda *done: heard.append(done))
    assert (folder / FILE).read_bytes() == CONTENT
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert server.ranges == [(KEY, None)]
    assert heard[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_small_file_is_checked_by_the_hash_of_git(server, folder, monkeypatch):
    server.files[REPO, "main", "config.json"] = b"{}"
    monkeypatch.setattr(module.time, "sleep", lambda seconds: pytest.fail("no pause was expected"))
    transfer(announced("config.json"), folder / "config.json")
    assert (folder / "config.json").read_bytes() == b"{}"
    server.lies[f"{REPO}/config.json"] = b"[]"
    (folder / "config.json").unlink()
    refused(
        HubError, lambda: transfer(announced("config.json"), folder / "config.json"), "announced"
    )


def test_empty_file(server, folder):
    server.files[REPO, "main", "empty.bin"] = b""
    transfer(announced("empty.bin"), folder / "empty.bin")
    assert (folder / "empty.bin").read_bytes() == b""


def test_a_cut_connection_is_resumed_at_the_byte(server, folder):
    server.cuts[KEY] = [100_000, 200_001]
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT
    assert server.ranges == [(KEY, None), (KEY, "bytes=100000-"), (KEY, "bytes=300001-")]


def test_the_next_run_resumes_what_an_earlier_one_left(server, folder):
    server.cuts[KEY] = [70_000] + [0] * 10
    refused(HubUnreachableError, lambda: transfer(announced(), folder / FILE), KEY.split("/")[1])
    (part,) = folder.iterdir()
    assert part.read_bytes() == CONTENT[:70_000]
    server.cuts.clear()
    server.ranges.clear()
    transfer(announced(), folder / FILE)
    assert server.ranges == [(KEY, "bytes=70000-")]
    assert (folder / FILE).read_bytes() == CONTENT
    assert list(folder.iterdir()) == [folder / FILE]


def test_a_server_without_ranges_sends_it_all_again(server, folder):
    server.cuts[KEY] = [100_000]
    server.ignores_ranges = True
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT


def test_a_part_of_another_file_is_not_continued(server, folder):
    server.cuts[KEY] = [70_000] + [0] * 10
    refused(HubUnreachableError, lambda: transfer(announced(), folder / FILE))
    server.cuts.clear()
    server.files[REPO, "main", FILE] = CONTENT[::-1]
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT[::-1]
    assert list(folder.iterdir()) == [folder / FILE]


def test_a_damaged_part_costs_one_more_download(server, folder):
    server.cuts[KEY] = [70_000] + [0] * 10
    refused(HubUnreachableError, lambda: transfer(announced(), folder / FILE))
    server.cuts.clear()
    (part,) = folder.iterdir()
    part.write_bytes(b"x" + CONTENT[1:70_000])
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT


def test_other_content_than_announced(server, folder):
    server.lies[KEY] = CONTENT[:-1] + b"x"
    message = refused(HubError, lambda: transfer(announced(), folder / FILE))
    assert hashlib.sha256(CONTENT).hexdigest()[:16] in message
    assert list(folder.iterdir()) == []


def test_what_goes_beyond_the_announced_length_is_not_taken(server, folder):
    server.lies[KEY] = CONTENT * 2
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT


def test_the_hub_library_does_not_look_at_the_hash(server, folder):
    """The reason for this module; if it goes away, so may the module."""
    from huggingface_hub import hf_hub_download

    server.lies[KEY] = CONTENT[:-1] + b"x"
    found = hf_hub_download(REPO, FILE, local_dir=folder)
    assert Path(found).read_bytes() == server.lies[KEY]


def test_a_shorter_file_than_announced_never_comes_to_an_end(server, folder):
    server.lies[KEY] = CONTENT[:-1]
    refused(HubUnreachableError, lambda: transfer(announced(), folder / FILE), "cut")
    assert not (folder / FILE).exists()


@pytest.mark.parametrize(
    ("status", "error", "part"),
    [
        (403, HubError, "status 403"),
        (404, HubError, "status 404"),
        (429, HubUnreachableError, "come back later"),
        (503, HubUnreachableError, "status 503"),
    ],
)
def test_content_is_refused(server, folder, status, error, part):
    server.content_status[KEY] = status
    refused(error, lambda: transfer(announced(), folder / FILE), REPO, FILE, part)
    assert not (folder / FILE).exists()
    assert len(server.ranges) == (module.ATTEMPTS if status == 503 else 1)


def test_the_token_stays_with_the_hub(server, folder, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    remote = announced()
    assert remote.headers == {"Authorization": "Bearer hf_secret"}
    assert "hf_secret" not in repr(remote)
    transfer(remote, folder / FILE)
    assert server.leaked == []


def test_too_little_room_is_said_before_anything_is_asked(server, folder, monkeypatch):
    free = module.shutil.disk_usage(folder)._replace(free=1000)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: free)
    refused(OutputError, lambda: transfer(announced(), folder / FILE), "1 MB", "0 MB left")
    assert server.ranges == []


def test_a_disk_that_fills_up(server, folder):
    """A real limit on the length of files stands for the full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        message = refused(OutputError, lambda: transfer(announced(), folder / FILE), "cannot write")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(folder) in message
    assert list(folder.iterdir()) == []
    transfer(announced(), folder / FILE)
    assert (folder / FILE).read_bytes() == CONTENT


def test_no_room_left_while_writing(server, folder, monkeypatch):
    def write(self, view):
        raise OSError(errno.ENOSPC, "No space left on device")

    class Full(module.FileIO):
        pass

    Full.write = write
    monkeypatch.setattr(Path, "open", lambda self, mode="r", **_: Full(self, mode.replace("b", "")))
    refused(OutputError, lambda: transfer(announced(), folder / FILE), "No space left on device")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 206 OK\r\n", b"HTTP/1.1 206 OK\r\nContent-Range: bytes {}-\r\n\r\n"]
)
def test_a_silent_or_dripping_server_is_not_waited_for(folder, monkeypatch, start):
    """It sends nothing; or a header, or the file, byte by byte, each in time."""
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    done = threading.Event()

    def serve(listener):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    def drip(connection):
        with connection, contextlib.suppress(OSError):
            asked = re.search(rb"bytes=(\d+)-", connection.recv(1 << 16))
            connection.sendall(start.replace(b"{}", asked[1] if asked else b"0"))
            while not done.wait(0.05):
                connection.sendall(b"x" if start else b"")

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/file"
    began = time.monotonic()
    remote = RemoteFile("file", url, 10_000_000, "0" * 64)
    refused(
        HubUnreachableError,
        lambda: transfer(remote, folder / "f"),
        "cannot be reached",
    )
    assert time.monotonic() - began < 10
    done.set()


def test_a_refused_connection(folder, monkeypatch):
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    remote = RemoteFile("file", f"http://127.0.0.1:{port}/file", 100, "0" * 64)
    refused(HubUnreachableError, lambda: transfer(remote, folder / "f"), "file", "refused")
