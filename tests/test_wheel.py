"""A wheel built from the tree, installed alone, analyses a checkpoint."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import spectral_lib
from tests import naive

ROOT = Path(__file__).parents[1]


@pytest.mark.network
def test_the_wheel_works_in_an_empty_environment(tmp_path):
    layers = naive.random_layers(np.random.default_rng(0), 2, 8, 20)
    checkpoint = naive.write_bert(tmp_path / "checkpoint", layers, num_heads=2)

    def run(*command):
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    pip = ("-m", "pip", "--disable-pip-version-check")
    source = tmp_path / "source"  # a copy: building leaves folders beside its source
    shutil.copytree(ROOT / "spectral_lib", source / "spectral_lib")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix("spectral_lib/data/grid/") for name in archive.namelist()}
    assert packed >= {"manifest.json", *spectral_lib.load_family("grid").manifest["files"]}
    run(sys.executable, "-m", "venv", tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    run(python, *pip, "install", wheel)
    installed = json.loads(run(python, *pip, "list", "--format", "json"))
    assert {"torch", "sympy", "pandas", "matplotlib"}.isdisjoint(row["name"] for row in installed)
    found = json.loads(run(python, "-m", "spectral_lib", "analyze", checkpoint, "--json"))
    expected = spectral_lib.analyze(spectral_lib.load(checkpoint)).to_dict()
    assert found["source_sha256"] == expected["source_sha256"]
    family = run(
        python,
        "-c",
        "from spectral_lib import load, load_family; family = load_family('grid'); "
        "print(len(family.members), load('grid/L2-N32').source_sha256, family.manifest['files'])",
    )
    grid = spectral_lib.load_family("grid")
    weights = spectral_lib.load("grid/L2-N32").source_sha256
    assert family == f"{len(grid.members)} {weights} {grid.manifest['files']}\n"
    assert found["proxies"]["spectral"]["log"] == pytest.approx(
        expected["proxies"]["spectral"]["log"], rel=1e-12
    )
