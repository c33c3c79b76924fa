"""A stand-in for a model hub on the loopback interface, with a second host for large files.

It speaks what the hub library asks: HEAD with commit, length and hash, the redirect of large files
to another host, and ranges. It can also cut connections, lie, refuse and be slow.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

constants = pytest.importorskip("huggingface_hub.constants")

REPO = "owner/tiny"
COMMITS = {"main": "a" * 40, "v2": "b" * 40}
#: Files that the hub keeps on the other host, announced by their SHA-256.
LARGE = (".safetensors", ".bin")


class Hub:
    """Serves files, and writes down what was asked."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str, str], bytes] = {}
        #: Method and file of each answer with content, or to HEAD.
        self.asked: list[str] = []
        #: File and Range of each request for content.
        self.ranges: list[tuple[str, str | None]] = []
        #: Authorization headers that reached the other host.
        self.leaked: list[str] = []
        #: An answer to everything, as (status, error code).
        self.refusal: tuple[int, str] | None = None
        #: The same for the content of one file by "repo/file", with HEAD answered well.
        self.content_status: dict[str, int] = {}
        #: Bytes of the file's content after which the connection is cut, one for each answer.
        self.cuts: defaultdict[str, list[int]] = defaultdict(list)
        #: Content that is served in place of what was announced.
        self.lies: dict[str, bytes] = {}
        #: Whether a range is answered with the whole file.
        self.ignores_ranges = False
        #: Called before content is served.
        self.before_content = lambda key: None
        self.servers = [self._start(self._answer_hub), self._start(self._answer_store)]
        self.url, self.store_url = (f"http://127.0.0.1:{s.server_port}" for s in self.servers)

    def _start(self, answer) -> ThreadingHTTPServer:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                answer(self, body=False)

            def do_GET(self):
                answer(self, body=True)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server

    def close(self) -> None:
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def publish(self, directory: Path, revision: str = "main", repo: str = REPO) -> None:
        for path in directory.iterdir():
            self.files[repo, revision, path.name] = path.read_bytes()

    def _answer_hub(self, request, *, body: bool) -> None:
        repo, _, rest = request.path.lstrip("/").partition("/resolve/")
        revision, _, name = rest.partition("/")
        revision = next((r for r, commit in COMMITS.items() if commit == revision), revision)
        content = self.files.get((repo, revision, name), b"")
        headers = {"X-Repo-Commit": COMMITS.get(revision, "c" * 40)}
        status, code = 200, ""
        if self.refusal:
            status, code = self.refusal
        elif repo not in {key[0] for key in self.files} | {REPO}:
            status, code = 404, "RepoNotFound"
        elif revision not in COMMITS:
            status, code = 404, "RevisionNotFound"
        elif (repo, revision, name) not in self.files:
            status, code = 404, "EntryNotFound"
        if name and not (status == 200 and body and name.endswith(LARGE)):
            self.asked.append(f"{request.command} {name}")
        if status != 200:
            return self._send(request, status, headers | {"X-Error-Code": code}, b"", body)
        if name.endswith(LARGE):
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(content).hexdigest()}"'
            headers["X-Linked-Size"] = str(len(content))
            headers["Location"] = f"{self.store_url}/{repo}/{revision}/{name}?signature=x"
            return self._send(request, 302, headers, b"", body)
        git = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        return self._content(request, f"{repo}/{name}", content, headers | {"ETag": git}, body)

    def _answer_store(self, request, *, body: bool) -> None:
        repo, revision, name = request.path.lstrip("/").partition("?")[0].rsplit("/", 2)
        if token := request.headers.get("Authorization"):
            self.leaked.append(token)
        self.asked.append(f"{request.command} {name}")
        content = self.files[repo, revision, name]
        self._content(request, f"{repo}/{name}", content, {}, body)

    def _content(self, request, key: str, content: bytes, headers, body: bool) -> None:
        if not body:
            return self._send(request, 200, headers, content, body)
        asked_range = request.headers.get("Range")
        self.ranges.append((key, asked_range))
        self.before_content(key)
        if key in self.content_status:
            return self._send(request, self.content_status[key], headers, b"", body)
        content, status = self.lies.get(key, content), 200
        match = re.fullmatch(r"bytes=(\d+)-", asked_range or "")
        if match and not self.ignores_ranges:
            start, end = int(match[1]), len(content)
            headers = headers | {"Content-Range": f"bytes {start}-{end - 1}/{end}"}
            content, status = content[start:], 206
        cut = self.cuts[key].pop(0) if self.cuts[key] else None
        return self._send(request, status, headers, content, body, cut)

    @staticmethod
    def _send(request, status, headers, content: bytes, body: bool, cut: int | None = None) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        if body:
            with suppress(ConnectionError):  # who asked went away
                request.wfile.write(content[:cut])
        if cut is not None:
            request.close_connection = True


@contextmanager
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Yield a running stand-in that the hub library of this process takes for the hub."""
    stand_in = Hub()
    template = stand_in.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", stand_in.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # between tries
    monkeypatch.chdir(tmp_path)
    yield stand_in
    stand_in.close()
