"""Hub ids, against a stand-in for the hub on the loopback interface."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from spectral_lib.checkpoints import hub, open_checkpoint
from spectral_lib.errors import CheckpointError, HubError, MissingExtraError
from tests.hub import COMMITS, REPO, constants, serving

from .models import CONFIG, read_all, refused, state, write, write_config
from .test_sharded import INDEX, SHARDS, write_sharded


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serving(tmp_path, monkeypatch) as stand_in:
        yield stand_in


def test_download_then_cache(server, tmp_path):
    server.publish(write(tmp_path / "m"))
    checkpoint = open_checkpoint(REPO)
    read_all(REPO)
    content = server.files[REPO, "main", "model.safetensors"]
    assert (checkpoint.name, checkpoint.num_layers) == (REPO, 3)
    assert checkpoint.sha256() == hashlib.sha256(content).hexdigest()
    gets = [line for line in server.asked if line.startswith("GET")]
    assert gets == ["GET config.json", "GET model.safetensors"]  # once each, and nothing else

    server.asked.clear()
    assert open_checkpoint(REPO, offline=True).sha256() == checkpoint.sha256()
    assert server.asked == []


def test_cache_serves_when_the_hub_is_gone(server, tmp_path):
    server.publish(write(tmp_path / "m"))
    read_all(REPO)
    server.close()
    read_all(REPO)


def test_revision(server, tmp_path):
    server.publish(write(tmp_path / "one"))
    other = {**CONFIG, "num_hidden_layers": 2}
    server.publish(write(tmp_path / "two", state(other), other), "v2")
    assert open_checkpoint(REPO).num_layers == 3
    checkpoint = open_checkpoint(REPO, revision="v2")
    assert (checkpoint.name, checkpoint.num_layers) == (f"{REPO}@v2", 2)
    assert open_checkpoint(REPO, revision=COMMITS["v2"], offline=True).num_layers == 2
    refused(HubError, lambda: open_checkpoint(REPO, revision="v3"), f"{REPO}@v3", "revision")


def test_shards_are_fetched_by_the_index(server, tmp_path):
    server.publish(write_sharded(tmp_path / "m"))
    read_all(REPO)
    assert {f"GET {shard}" for shard in SHARDS} <= {*server.asked}
    read_all(REPO)
    server.asked.clear()
    open_checkpoint(REPO, offline=True)
    assert server.asked == []


def test_index_that_leaves_its_directory_fetches_nothing(server, tmp_path):
    server.publish(write_sharded(tmp_path / "m", {"a": "../../evil"}))
    refused(CheckpointError, lambda: open_checkpoint(REPO), INDEX, "../../evil")
    assert not any("evil" in line for line in server.asked)


def test_torch_file_is_the_last_resort(server, tmp_path):
    torch = pytest.importorskip("torch")
    write_config(tmp_path / "m")
    tensors = {name: torch.from_numpy(array) for name, array in state().items()}
    torch.save(tensors, tmp_path / "m" / "pytorch_model.bin")
    server.publish(tmp_path / "m")
    read_all(REPO)
    open_checkpoint(REPO, offline=True)


def test_offline_and_not_cached(server, monkeypatch):
    refused(HubError, lambda: open_checkpoint(REPO, offline=True), REPO, "offline", "config.json")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused(HubError, lambda: open_checkpoint(REPO), REPO, "offline", "run once with a connection")
    assert server.asked == []


def test_offline_with_half_a_cache(server, tmp_path):
    server.publish(write(tmp_path / "m"))
    server.files.pop((REPO, "main", "model.safetensors"))
    refused(HubError, lambda: open_checkpoint(REPO), "no supported weights", "pytorch_model.bin")
    refused(HubError, lambda: open_checkpoint(REPO, offline=True), "model.safetensors is not in")


def test_repository_without_what_is_needed(server, tmp_path):
    refused(HubError, lambda: open_checkpoint("owner/absent"), "owner/absent", "no such repository")
    refused(HubError, lambda: open_checkpoint(REPO), "no config.json")
    server.publish(write_sharded(tmp_path / "m"))
    del server.files[REPO, "main", SHARDS[1]]
    refused(HubError, lambda: open_checkpoint(REPO), INDEX, SHARDS[1])


@pytest.mark.parametrize(
    ("status", "code", "part"),
    [
        (401, "RepoNotFound", "no such repository"),
        (403, "GatedRepo", "gated"),
        (403, "", "config.json"),
        (500, "", "cannot be reached"),
    ],
)
def test_refusals(server, status, code, part):
    server.refusal = status, code
    refused(HubError, lambda: open_checkpoint(REPO), REPO, part)


def test_connection_refused_is_said_at_once(server, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("no retry was expected"))
    server.close()
    refused(HubError, lambda: open_checkpoint(REPO), REPO, "cannot be reached", "refused")


def test_damaged_download_is_named(server, tmp_path):
    server.publish(write(tmp_path / "m"))
    server.files[REPO, "main", "config.json"] = b"<html>"
    refused(CheckpointError, lambda: open_checkpoint(REPO), "config.json", "not valid JSON")


def test_names_that_are_no_repository(server):
    refused(HubError, lambda: open_checkpoint("owner/a..b"), "owner/a..b")


def test_hints_of_the_hub_library_stay_off_stderr(server, tmp_path, capfd):
    server.publish(write(tmp_path / "m"))
    open_checkpoint(REPO)
    server.refusal = 500, ""
    refused(HubError, lambda: open_checkpoint("owner/other"))
    assert capfd.readouterr() == ("", "")


def test_without_the_hub_library(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    refused(MissingExtraError, lambda: open_checkpoint(REPO), REPO, "spectral-lib[hub]")


def test_environment_variables_lead_the_way(server, tmp_path):
    server.publish(write(tmp_path / "m"))
    script = (
        "from spectral_lib.checkpoints import open_checkpoint as o; print(o('owner/tiny').name)"
    )
    own = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "home")}
    for offline in ("0", "1"):
        environment = {**os.environ, **own, "HF_HUB_OFFLINE": offline}
        run = [sys.executable, "-c", script]
        found = subprocess.run(run, check=True, capture_output=True, text=True, env=environment)
        assert (found.stdout, found.stderr) == (f"{REPO}\n", "")
        server.asked.clear()
    assert server.asked == []


@pytest.mark.parametrize("kind", ["retry later", "drip"])
def test_no_answer_is_waited_for_beyond_the_patience(tmp_path, monkeypatch, kind):
    """A server that asks for a day, or sends a header byte by byte, is not obeyed."""
    done = threading.Event()

    def serve(listener):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            if kind == "drip":
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not done.wait(0.1):
                    connection.sendall(b"x")
            else:
                headers = b"Retry-After: 86400\r\nContent-Length: 0\r\nConnection: close"
                connection.sendall(b"HTTP/1.1 429 Later\r\n" + headers + b"\r\n\r\n")

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "PATIENCE", 1.0)
    start = time.monotonic()
    reason = "no answer within 1 s" if kind == "drip" else "status 429"
    refused(HubError, lambda: open_checkpoint(REPO), reason)
    assert time.monotonic() - start < 10
    done.set()
