"""The paper's checkpoints, fetched from a stand-in hub that serves tiny ones in their layout."""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import spectral_lib
from spectral_lib import cli
from spectral_lib.errors import DomainError, HubUnreachableError, MissingExtraError, OutputError
from spectral_lib.families import load_family
from spectral_lib.families.fetching import ANALYSIS, DOWNLOAD, STORED, fetch_miniatures
from spectral_lib.families.folder import read_family
from spectral_lib.families.miniatures import MINIATURES, miniature, short_name, sizes
from spectral_lib.files import TEMPORARY
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import Kind
from tests.checkpoints.models import refused
from tests.families.models import write_model
from tests.hub import COMMITS, constants, serving
from tests.signals import sound

#: 24 names of the paper's form, and sizes that a test can afford: heads of 4 columns.
TINY = tuple(
    f"google/bert_uncased_L-{depth}_H-{width}_A-{width // 4}"
    for depth in (1, 2, 3, 4, 5, 6)
    for width in (4, 8, 12, 16)
)


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serving(tmp_path, monkeypatch) as stand_in:
        yield stand_in


@pytest.fixture
def published(server, tmp_path):
    """Return a function that publishes models on the stand-in."""

    def publish(models=TINY, form="model.safetensors"):
        for model in models:
            folder = write_model(tmp_path / "published" / short_name(model), model, form)
            server.publish(folder, repo=model)
        return server

    return publish


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "family"


def fetch(folder, models=TINY, *, keep=False, heard=None):
    watch = (lambda *event: heard.append(event)) if heard is not None else (lambda *event: None)
    return fetch_miniatures(folder, models, keep=keep, watch=watch)


def stored(folder: Path) -> list[str]:
    return [member.model for member in read_family(folder).members]


def test_the_names_are_those_of_the_paper():
    assert len(MINIATURES) == 24
    assert MINIATURES[0] == "google/bert_uncased_L-2_H-128_A-2"
    assert MINIATURES[-1] == "google/bert_uncased_L-12_H-768_A-12"
    assert all(sizes(name).hidden_size == 64 * sizes(name).num_heads for name in MINIATURES)
    assert miniature("L-4_H-512_A-8") == miniature("google/bert_uncased_L-4_H-512_A-8")
    refused(DomainError, lambda: miniature("L-3_H-512_A-8"), "L-3_H-512_A-8")
    refused(DomainError, lambda: sizes("google/bert"), "google/bert")


def test_all_of_them_and_only_their_spectra(published, folder, tmp_path):
    server, heard = published(), []
    assert fetch(folder, heard=heard) == {}
    family = read_family(folder)
    assert [member.model for member in family.members] == list(TINY)
    assert (family.depths, family.widths) == ((1, 2, 3, 4, 5, 6), (4, 8, 12, 16))
    assert (family.snapshots, family.losses, family.initial) == ({}, {}, ())
    for member in family.members:
        direct = spectral_lib.load(tmp_path / "published" / short_name(member.model))
        assert member.source_sha256 == direct.source_sha256
        for kind in Kind:
            for name in ("singular_values", "norm_21", "norm_11"):
                np.testing.assert_array_equal(
                    getattr(member[kind], name), getattr(direct[kind], name)
                )
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert files == {".lock", "manifest.json", *(f"spectra/{short_name(m)}.npz" for m in TINY)}
    assert not (tmp_path / "cache").exists()  # the hub library's own
    entry = family.manifest["members"][0]
    assert entry["commit"] == COMMITS["main"]
    assert entry["licence_on_the_hub"] == "apache-2.0"
    assert entry["weights_sha256"] == family.members[0].source_sha256
    assert [event[2:] for event in heard if event[1] == STORED] == [(i, 24) for i in range(1, 25)]
    layers = [event[2:] for event in heard if event[:2] == (TINY[-1], ANALYSIS)]
    assert layers == [(i, 6) for i in range(1, 7)]
    done, total = [event[2:] for event in heard if event[:2] == (TINY[-1], DOWNLOAD)][-1]
    assert done == total == len(server.files[TINY[-1], "main", "model.safetensors"])


def test_what_is_stored_is_not_asked_for_again(published, folder):
    server = published()
    fetch(folder)
    before = (folder / "manifest.json").read_bytes()
    server.close()  # no network is needed
    heard = []
    assert fetch(folder, heard=heard) == {}
    assert heard == []
    assert (folder / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_torch_files(published, folder, form):
    published(TINY[4:6], form)
    assert fetch(folder, TINY[4:6]) == {}
    family = read_family(folder)
    assert [entry["weights"] for entry in family.manifest["members"]] == ["pytorch_model.bin"] * 2
    assert family.at(2, 8).num_heads == 2


def test_a_cut_connection_is_resumed_within_a_run_and_by_the_next_one(published, folder):
    server = published(TINY[:4])
    first, second = (f"{model}/model.safetensors" for model in TINY[2:4])
    server.cuts[first] = [1000]
    server.cuts[second] = [3000] + [0] * 10
    error = refused(HubUnreachableError, lambda: fetch(folder, TINY[:4]), TINY[3])
    assert "3 models are stored" in error
    assert stored(folder) == list(TINY[:3])
    server.cuts.clear()
    assert fetch(folder, TINY[:4]) == {}
    ranges = [asked for key, asked in server.ranges if key == first]
    assert ranges == [None, "bytes=1000-"]
    assert [asked for key, asked in server.ranges if key == second][-1] == "bytes=3000-"
    assert stored(folder) == list(TINY[:4])
    assert not (folder / "downloads").exists()


def test_one_missing_model_leaves_a_gap_that_the_next_run_fills(published, folder):
    server = published()
    gone = {key: server.files.pop(key) for key in list(server.files) if key[0] == TINY[5]}
    failures = fetch(folder)
    assert list(failures) == [TINY[5]]
    assert "no such repository" in failures[TINY[5]]
    family = read_family(folder)
    assert len(family.members) == 23
    assert (family.depths, family.widths) == ((1, 2, 3, 4, 5, 6), (4, 8, 12, 16))
    refused(DomainError, lambda: family.at(2, 8), "L 2", "N 8")
    server.files.update(gone)
    assert fetch(folder) == {}
    assert stored(folder) == list(TINY)


def test_a_wrong_hash_costs_that_model_only(published, folder):
    server = published(TINY[:3])
    key = f"{TINY[1]}/model.safetensors"
    content = server.files[TINY[1], "main", "model.safetensors"]
    server.lies[key] = content[:-1] + bytes([content[-1] ^ 1])
    failures = fetch(folder, TINY[:3])
    assert list(failures) == [TINY[1]]
    assert "not what was announced" in failures[TINY[1]]
    assert stored(folder) == [TINY[0], TINY[2]]
    server.lies.clear()
    assert fetch(folder, TINY[:3]) == {}
    assert stored(folder) == list(TINY[:3])


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"num_hidden_layers": 1}, "is extra"),
        ({"num_attention_heads": 4}, "(2, 8, 4)"),
        ({"model_type": "roberta"}, "roberta"),
    ],
)
def test_a_model_that_is_not_what_its_name_says(published, folder, tmp_path, change, part):
    model = TINY[5]
    server = published((model,))
    config = json.loads(server.files[model, "main", "config.json"])
    server.files[model, "main", "config.json"] = json.dumps(config | change).encode()
    failures = fetch(folder, (model,))
    assert part in failures[model]
    assert not (folder / "manifest.json").exists()
    assert not (folder / "downloads").exists()


def test_no_network_is_said_once(published, folder):
    server = published()
    server.close()
    began = time.monotonic()
    message = refused(HubUnreachableError, lambda: fetch(folder), TINY[0], "cannot be reached")
    assert "0 models are stored" in message
    assert time.monotonic() - began < 5


def test_offline_is_said_once(published, folder, monkeypatch):
    server = published(TINY[:2])
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused(HubUnreachableError, lambda: fetch(folder, TINY[:2]), "offline")
    assert server.asked == []


def test_what_a_killed_fetch_left_is_cleared_away(published, folder):
    published(TINY[:1])
    (folder / "spectra").mkdir(parents=True)
    for left in (folder / f"{TEMPORARY}x.json", folder / "spectra" / f"{TEMPORARY}y.npz"):
        left.touch()
    fetch(folder, TINY[:1])
    assert not list(folder.rglob(f"{TEMPORARY}*"))


@pytest.mark.parametrize("status", [429, 503])
def test_a_hub_that_wants_to_be_left_alone_is_asked_once(published, folder, status):
    server = published(TINY[:3])
    server.refusal = status, ""
    refused(HubUnreachableError, lambda: fetch(folder, TINY[:3]), str(status))
    assert len(server.asked) == 1


def test_kept_checkpoints_can_be_read(published, folder):
    published(TINY[:2])
    fetch(folder, TINY[:2], keep=True)
    (kept,) = (folder / "downloads" / short_name(TINY[1])).iterdir()
    assert kept.name == COMMITS["main"]
    assert sorted(p.name for p in kept.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    assert spectral_lib.load(kept).hidden_size == 8
    fetch(folder, TINY[:2])  # asked for nothing, deletes nothing
    assert kept.is_dir()


def test_an_unfinished_download_of_an_older_commit_goes_with_the_new_one(published, folder):
    published(TINY[:1])
    older = folder / "downloads" / short_name(TINY[0]) / ("d" * 40)
    older.mkdir(parents=True)
    (older / "model.safetensors").write_bytes(b"x")
    fetch(folder, TINY[:1])
    assert not (folder / "downloads").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder, file: file.unlink(),
        lambda folder, file: file.write_bytes(file.read_bytes()[:-1]),
        lambda folder, file: shutil.copy(folder / "spectra" / "L-1_H-8_A-2.npz", file),
        lambda folder, file: (folder / "manifest.json").write_text("{}"),
        lambda folder, file: (folder / "manifest.json").unlink(),
    ],
    ids=["missing", "cut", "exchanged", "manifest", "no manifest"],
)
def test_damage_is_repaired(published, folder, damage):
    published(TINY[:3])
    fetch(folder, TINY[:3])
    damage(folder, folder / "spectra" / f"{short_name(TINY[0])}.npz")
    assert fetch(folder, TINY[:3]) == {}
    assert stored(folder) == list(TINY[:3])


def test_damage_without_a_network_leaves_the_rest_usable(published, folder):
    server = published(TINY[:3])
    fetch(folder, TINY[:3])
    (folder / "spectra" / f"{short_name(TINY[1])}.npz").write_bytes(b"")
    server.close()
    refused(HubUnreachableError, lambda: fetch(folder, TINY[:3]), "2 models are stored")
    assert stored(folder) == [TINY[0], TINY[2]]


def test_an_interruption_at_any_step_is_gone_on_from(published, folder):
    """Interrupted at every event in turn, the family is whole each time, and complete at last."""
    published(TINY[:3])
    events = []
    fetch(folder, TINY[:3], heard=events)
    whole = (folder / "manifest.json").read_bytes()
    for step in range(len(events)):
        shutil.rmtree(folder)
        heard = []

        def stop(*event, heard=heard, step=step):
            heard.append(event)
            if len(heard) > step:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):  # how many pieces a download has is up to the system
            fetch_miniatures(folder, TINY[:3], watch=stop)
            assert len(heard) <= step
        if (folder / "manifest.json").exists():
            assert stored(folder) == list(TINY[: len(stored(folder))])
        fetch(folder, TINY[:3])
        assert (folder / "manifest.json").read_bytes() == whole
        assert not (folder / "downloads").exists()


def test_a_full_disk_is_one_line_and_the_family_stays(published, folder):
    published(TINY[:2])
    fetch(folder, TINY[:1])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        refused(OutputError, lambda: fetch(folder, TINY[:2]), "cannot write", TINY[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert stored(folder) == [TINY[0]]
    assert list(folder.rglob("*.part")) == []
    assert fetch(folder, TINY[:2]) == {}


def test_a_disk_that_has_room_for_the_weights_but_not_for_the_spectra(
    published, folder, monkeypatch
):
    published(TINY[:2])
    fetch(folder, TINY[:1])

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full)
        refused(OutputError, lambda: fetch(folder, TINY[:2]), "No space left on device")
    assert stored(folder) == [TINY[0]]
    assert sorted(p.name for p in (folder / "spectra").iterdir()) == ["L-1_H-4_A-1.npz"]


def test_two_fetches_at_once_are_refused(published, folder):
    published(TINY[:1])
    folder.mkdir()
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused(DomainError, lambda: fetch(folder, TINY[:1]), "another fetch")
    assert fetch(folder, TINY[:1]) == {}


def test_the_folder_of_another_family_is_left_alone(published, folder):
    published(TINY[:1])
    fetch(folder, TINY[:1])
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"miniatures"', '"grid"'))
    before = path.read_bytes()
    (folder / ".lock").unlink()
    refused(DomainError, lambda: fetch(folder, TINY[:1]), "'grid'")
    assert path.read_bytes() == before
    assert not (folder / ".lock").exists()


@pytest.mark.parametrize(
    "manifest", ['{"name": "my extension"}', '{"schema_version": 2, "family": "grid"}', None]
)
def test_a_folder_of_other_things_is_left_alone(published, folder, manifest):
    server = published(TINY[:1])
    folder.mkdir()
    if manifest is None:
        (folder / "manifest.json").mkdir()
    else:
        (folder / "manifest.json").write_text(manifest)
        (folder / "background.js").touch()
    before = sorted(folder.iterdir())
    refused(DomainError, lambda: fetch(folder, TINY[:1]), "holds no family", "give another")
    assert sorted(folder.iterdir()) == before
    assert manifest is None or (folder / "manifest.json").read_text() == manifest
    assert server.asked == []


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest.update(files=[]),
        lambda manifest: manifest.update(members=None),
        lambda manifest: manifest.update(members=["x"]),
        lambda manifest: manifest["members"][1].pop("num_layers"),
        lambda manifest: manifest["members"][1].update(hidden_size="x"),
        lambda manifest: manifest["members"][1].update(spectra={"0": "x"}),
    ],
)
def test_an_edited_manifest_is_made_again(published, folder, edit):
    published(TINY[:3])
    fetch(folder, TINY[:3])
    path = folder / "manifest.json"
    whole = path.read_bytes()
    manifest = json.loads(whole)
    edit(manifest)
    path.write_text(json.dumps(manifest))
    (folder / "spectra" / f"{short_name(TINY[0])}.npz").unlink()
    assert fetch(folder, TINY[:3]) == {}
    assert path.read_bytes() == whole


def test_without_the_hub_library(published, folder, monkeypatch):
    published(TINY[:1])
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    refused(MissingExtraError, lambda: fetch(folder, TINY[:1]), "spectral-lib[hub]")


def test_a_card_without_a_licence(published, folder):
    server = published(TINY[:3])
    server.files[TINY[0], "main", "README.md"] = b"# BERT\n\nlicense: mit\n"
    server.files[TINY[1], "main", "README.md"] = b"---\ntags:\n- bert\n---\nlicense: mit\n"
    del server.files[TINY[2], "main", "README.md"]
    fetch(folder, TINY[:3])
    entries = read_family(folder).manifest["members"]
    assert [entry["licence_on_the_hub"] for entry in entries] == [None] * 3


# --- The command ---

REAL = ("google/bert_uncased_L-2_H-128_A-2", "google/bert_uncased_L-4_H-128_A-2")


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user cache"))
    return tmp_path / "user cache" / "spectral-lib" / "miniatures"


def test_the_command_with_checkpoints_of_the_real_sizes(published, cache, capsys):
    published(REAL)
    options = [word for model in REAL for word in ("--models", short_name(model))]
    assert cli.main(["grid", "fetch", "miniatures", *options]) == 0
    out, err = capsys.readouterr()
    assert out == f"2 of 2 models are in {cache}\n"
    assert err == "L-2_H-128_A-2 is stored (1 of 2)\nL-4_H-128_A-2 is stored (2 of 2)\n"
    family = load_family("miniatures")
    assert family.headline.num_layers == 4
    assert family.headline[Kind.QK].shape == (128, 128)
    assert int(family.headline[Kind.QK].rank.max()) == 64
    assert isinstance(family.headline[Kind.FF_IN], Spectrum)


def test_the_command_names_what_is_missing(published, cache, capsys):
    published(REAL[:1])
    assert cli.main(["grid", "fetch", "miniatures"]) == 2
    out, err = capsys.readouterr()
    assert out == f"1 of 24 models are in {cache}\n"
    *_, last = err.splitlines()
    assert last.startswith("spectral-lib: 23 missing: L-2_H-256_A-4, ")
    assert len(last) < 700
    assert [m.model for m in load_family("miniatures").members] == [REAL[0]]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["miniature"], "miniature"),
        ([], "'family'"),
        (["miniatures", "--models", "L-2_H-127_A-2"], "no miniature 'L-2_H-127_A-2'"),
    ],
)
def test_bad_usage(server, cache, capsys, words, part):
    assert cli.main(["grid", "fetch", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert err.count("\n") == 1
    assert server.asked == []


def test_a_folder_of_ones_own_is_a_family_too(published, tmp_path, capsys):
    published(REAL[:1])
    place = tmp_path / "own"
    words = ["grid", "fetch", "miniatures", "--models", REAL[0], "--folder", str(place)]
    assert cli.main(words) == 0
    assert load_family(str(place)).headline.model == REAL[0]


def test_an_interrupted_command_says_so_and_the_next_one_goes_on(published, cache, tmp_path):
    """Ctrl-C in the middle of a download, in a process of its own."""
    server = published(REAL)
    key = f"{REAL[1]}/model.safetensors"
    server.before_content = lambda asked: time_to_stop(asked, key, running)
    environment = os.environ | {
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "user cache"),
    }
    command = [sys.executable, "-m", "spectral_lib", "grid", "fetch", "miniatures"]
    command += [word for model in REAL for word in ("--models", model)]
    running: list[subprocess.Popen[str]] = []

    def run():
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=sound(),
        )
        running.append(process)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    code, out, err = run()
    assert (code, out) == (130, "")
    assert err == (
        "L-2_H-128_A-2 is stored (1 of 2)\nInterrupted: the same command goes on from here.\n"
    )
    server.before_content = lambda asked: None
    code, out, err = run()
    assert (code, out) == (0, f"2 of 2 models are in {cache}\n")
    assert re.fullmatch(r"L-4_H-128_A-2 is stored \(2 of 2\)\n", err)


def time_to_stop(asked, key, running):
    if asked == key:
        running[-1].send_signal(signal.SIGINT)
        running[-1].wait(30)


# --- Memory ---

MEASURE = r"""
import re, sys
from pathlib import Path
from spectral_lib.families.fetching import fetch_miniatures
import huggingface_hub.file_download, numpy, scipy.linalg, threadpoolctl
{before}

def peak():  # of this process alone: getrusage knows of the one that it was forked from
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])

start = peak()
failures = fetch_miniatures(Path(sys.argv[1]), [sys.argv[2]], watch=lambda *event: None)
assert not failures, failures
print(peak() - start)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured by Linux's /proc")
@pytest.mark.parametrize(
    ("form", "before", "limit"),
    [("model.safetensors", "", 0.5), ("zip", "import torch", 0.5), ("legacy", "import torch", 1.5)],
)
def test_memory(server, tmp_path, folder, form, before, limit):
    """A large embedding is never in memory; in torch's old format the whole model is, once.

    The limits are shares of the file, whose other parts are negligible.
    """
    model = REAL[0]
    published = write_model(tmp_path / "published", model, form)
    rows = np.zeros((120_000, 128), np.float32)
    if form == "model.safetensors":
        from safetensors.numpy import load_file, save_file

        path = published / form
        save_file(load_file(path) | {"bert.embeddings.word_embeddings.weight": rows}, path)
    else:
        torch = pytest.importorskip("torch")
        path = published / "pytorch_model.bin"
        values = torch.load(path) | {"bert.embeddings.word_embeddings.weight": torch.tensor(rows)}
        torch.save(values, path, _use_new_zipfile_serialization=form == "zip")
    server.publish(published, repo=model)
    size = path.stat().st_size
    assert size > 60e6
    environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(before=before), str(folder), model],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 1024 * int(done.stdout) < limit * size
