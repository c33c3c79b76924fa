"""The official build survives being killed, interrupted and started twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.book.site import ROOT

#: Stands for jupyter-book: says that it started, works until it is told to end, writes a page.
TOOL = """\
import os, pathlib, time
root = pathlib.Path(os.getcwd())
with open(root / "started", "a") as log:
    log.write("x")
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

    def start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(self.python), "book/build.py"],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
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
