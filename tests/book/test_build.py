"""The official build survives being killed, interrupted and started twice."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spectral_lib.families import family_folder
from spectral_lib.families.folder import read_manifest
from spectral_lib.families.miniatures import MINIATURES, short_name
from tests.book.site import ROOT
from tests.families.models import write_model
from tests.hub import Hub
from tests.signals import sound

#: Stands for jupyter-book: says that it started, works until it is told to end, writes a page.
TOOL = """\
import os, pathlib, time
root = pathlib.Path(os.getcwd())
with open(root / "started", "a") as log:
    log.write("x")
(root / "settings").write_text(" ".join(sorted(os.environ)) + os.environ["MPLCONFIGDIR"])
while not (root / "go on").exists():
    time.sleep(0.02)
(root / "_build" / "html").mkdir(parents=True, exist_ok=True)
(root / "_build" / "html" / "index.html").write_text("page")
"""


class Tree:
    """A copy of the build script beside a library of one file, with a tool under our control."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "spectral_lib").mkdir(parents=True)
        (root / "spectral_lib" / "__init__.py").touch()
        (root / "book" / "_ext").mkdir(parents=True)
        for name in ("build.py", "_ext/fingerprint.py"):
            (root / "book" / name).write_text((ROOT / "book" / name).read_text())
        (root / "pyproject.toml").write_text('[project]\nname = "tiny"\n')
        for name in ("_config.yml", "_toc.yml"):
            (root / name).touch()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
        self.python = root / "venv" / "bin" / "python"
        (root / "tool.py").write_text(TOOL)
        tool = self.python.with_name("jupyter-book")
        # Through a shell: the path of an interpreter after #! must not hold a space.
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{root / "tool.py"}"\n')
        tool.chmod(0o755)
        self.running: list[subprocess.Popen[str]] = []

    def start(self, **environment: str) -> subprocess.Popen[str]:
        # The tree's interpreter has no packages: it borrows the library, and what that needs.
        paths = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
        own = {"PYTHONPATH": paths, "XDG_CACHE_HOME": str(self.root / "cache"), **environment}
        process = subprocess.Popen(
            [str(self.python), "book/build.py"],
            cwd=self.root,
            env={key: v for key, v in os.environ.items() if key != "SPECTRAL_LIB_FAMILY"} | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=sound(),
        )
        self.running.append(process)
        return process

    @property
    def builds(self) -> int:
        log = self.root / "started"
        return len(log.read_text()) if log.exists() else 0

    def wait_for_builds(self, count: int) -> None:
        limit = time.monotonic() + 30
        while self.builds < count:
            assert time.monotonic() < limit, "the build did not start"
            time.sleep(0.02)

    def go_on(self) -> None:
        (self.root / "go on").touch()


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    made = Tree(tmp_path / "a tree")
    yield made
    made.go_on()
    for process in made.running:
        process.communicate(timeout=30)


def test_two_builds_at_once_are_one(tree: Tree) -> None:
    first = tree.start()
    tree.wait_for_builds(1)
    second = tree.start()
    assert second.stdout is not None
    assert second.stdout.readline().startswith("Waiting for another build")
    tree.go_on()
    assert first.wait(30) == 0
    assert "up to date" in second.communicate(timeout=30)[0]
    assert tree.builds == 1


def test_a_killed_build_is_waited_for_and_made_again(tree: Tree) -> None:
    first = tree.start()
    tree.wait_for_builds(1)
    first.kill()
    first.wait(30)
    second = tree.start()
    assert second.stdout is not None
    assert second.stdout.readline().startswith("Waiting for another build")
    tree.go_on()
    assert second.wait(30) == 0
    assert tree.builds == 2


def test_an_interrupted_build_says_so_and_does_not_count(tree: Tree) -> None:
    first = tree.start()
    tree.wait_for_builds(1)
    os.kill(first.pid, signal.SIGINT)
    time.sleep(0.2)
    tree.go_on()
    _, err = first.communicate(timeout=30)
    assert first.returncode == 130
    assert err == "The book was not built: interrupted.\n"
    assert tree.start().wait(30) == 0
    assert tree.builds == 2


def test_an_unknown_family_fails_before_anything_is_built(tree: Tree) -> None:
    process = tree.start(SPECTRAL_LIB_FAMILY="miniature")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("The book was not built: SPECTRAL_LIB_FAMILY: there is no family")
    assert err.count("\n") == 1
    assert tree.builds == 0


def test_two_encoders_are_no_family_to_build_the_book_with(tree: Tree) -> None:
    process = tree.start(SPECTRAL_LIB_FAMILY="packaged")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("The book was not built: SPECTRAL_LIB_FAMILY: the book follows a family")
    assert err.count("\n") == 1
    assert tree.builds == 0


def test_settings_of_the_home_directory_change_no_figure(tree: Tree) -> None:
    tree.go_on()
    process = tree.start(MATPLOTLIBRC="/elsewhere", MPLCONFIGDIR="/elsewhere")
    assert process.wait(60) == 0
    settings = (tree.root / "settings").read_text()
    assert settings.endswith(str(tree.root / "_build" / "matplotlib"))
    assert "MATPLOTLIBRC" not in settings


def test_a_damaged_family_fails_before_anything_is_built(tree: Tree, tmp_path: Path) -> None:
    folder = shutil.copytree(family_folder("grid"), tmp_path / "a family")
    with (folder / "losses.npz").open("ab") as stream:
        stream.write(b"x")
    process = tree.start(SPECTRAL_LIB_FAMILY=str(folder))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("The book was not built: ")
    assert "losses.npz: its SHA-256 is not the one in manifest.json" in err
    assert err.count("\n") == 1
    assert tree.builds == 0


@pytest.mark.parametrize("place", ["_build", "cache"])
def test_a_folder_that_cannot_be_made_is_one_line(tree: Tree, place: str) -> None:
    (tree.root / place).touch()
    process = tree.start(SPECTRAL_LIB_FAMILY="miniatures")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("The book was not built: ")
    assert err.count("\n") == 1
    assert tree.builds == 0


def test_a_hub_out_of_reach_fails_before_anything_is_built(tree: Tree) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nowhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
    process = tree.start(SPECTRAL_LIB_FAMILY="miniatures", HF_ENDPOINT=nowhere)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert "L-2_H-128_A-2: the hub cannot be reached" in err
    assert err.count("\n") == 1
    assert tree.builds == 0


def test_the_switch_fetches_then_builds_and_each_family_has_its_own_state(
    tree: Tree, tmp_path: Path
) -> None:
    """Of the paper's checkpoints the stand-in has two: the book is built with these."""
    hub = Hub()
    for model in MINIATURES[0], MINIATURES[4]:
        hub.publish(write_model(tmp_path / short_name(model), model), repo=model)
    switch = {
        "SPECTRAL_LIB_FAMILY": "miniatures",
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tree.root / "home"),
    }
    tree.go_on()

    def build(**environment: str) -> tuple[str, str]:
        process = tree.start(**environment)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out, err

    out, err = build(**switch)
    assert "The book does without what could not be fetched: 22 missing: L-2_H-256_A-4" in out
    assert "L-4_H-128_A-2 is stored" in err
    assert tree.builds == 1
    stored = tree.root / "cache" / "spectral-lib" / "miniatures" / "manifest.json"
    assert len(read_manifest(stored.parent)["members"]) == 2
    assert "The book is up to date." in build(**switch)[0]
    assert tree.builds == 1
    build()  # the grid's pages are others
    assert tree.builds == 2
    build(**switch)
    assert tree.builds == 3
    hub.publish(write_model(tmp_path / "third", MINIATURES[8]), repo=MINIATURES[8])
    build(**switch)  # one more model: other pages again
    assert tree.builds == 4
    hub.close()
