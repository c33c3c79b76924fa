"""``--plot`` with models that have little to draw, and names that fonts cannot."""

import os
import subprocess
import sys

import numpy as np
import pytest

import spectral_lib
from spectral_lib.cli import main
from spectral_lib.plots.spectra import overview
from tests import naive


@pytest.fixture
def checkpoint(tmp_path):
    layers = naive.random_layers(np.random.default_rng(0), 1, 8, 16)
    return naive.write_bert(tmp_path / "m", layers, num_heads=2)


@pytest.mark.parametrize("zero", [("query",), ("query", "key", "value", "output", "in", "out")])
def test_zero_matrices_are_left_out(tmp_path, capsys, zero):
    layers = naive.random_layers(np.random.default_rng(0), 1, 8, 16)
    for name in zero:
        layers[0][name][:] = 0
    model = naive.write_bert(tmp_path / "z", layers, num_heads=2)
    assert main(["analyze", str(model), "--plot", str(tmp_path / "p.svg"), "--json"]) == 0
    assert capsys.readouterr().err == ""


NAMES = ("a$b$c", r"x_$\frac{", "模型", "m\x1b[31m", "m\n", os.fsdecode(b"m\xff"))


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_a_title(checkpoint, tmp_path, capsys, name):
    (tmp_path / name).symlink_to(checkpoint)
    target = tmp_path / "p.PNG"
    assert main(["analyze", str(tmp_path / name), "--plot", str(target), "--json"]) == 0
    assert capsys.readouterr().err == ""
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_title_is_no_formula(checkpoint, tmp_path):
    (tmp_path / "a$b$c").symlink_to(checkpoint)
    figure = overview(spectral_lib.analyze(spectral_lib.load(str(tmp_path / "a$b$c"))))
    assert "a$b$c: L 1" in figure.get_suptitle()
    assert not figure._suptitle.get_parse_math()


def test_a_full_disk_is_an_output_error_for_every_format(checkpoint, tmp_path, monkeypatch):
    from pathlib import Path

    from spectral_lib.errors import OutputError

    def full(*_):
        raise OSError(28, "No space left on device")

    found = overview(spectral_lib.analyze(spectral_lib.load(checkpoint)))
    monkeypatch.setattr(Path, "write_bytes", full)
    for suffix in ("png", "svg", "pdf"):
        with pytest.raises(OutputError, match="No space left"):
            found.write(tmp_path / f"p.{suffix}")
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(
    ("variables", "code"),
    [({"MPLBACKEND": "nonsense"}, 2), ({"MPLCONFIGDIR": "/proc/none"}, 0)],
)
def test_the_settings_of_matplotlib(checkpoint, tmp_path, variables, code):
    command = [sys.executable, "-m", "spectral_lib", "analyze", str(checkpoint), "--plot"]
    done = subprocess.run(
        [*command, str(tmp_path / "p.png")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables,
    )
    assert done.returncode == code
    assert done.stderr.count("\n") == (1 if code else 0)


def test_plots_of_a_model_need_no_pandas(checkpoint, tmp_path):
    script = (
        "import sys; sys.modules['pandas'] = None\n"
        "from spectral_lib.cli import main\n"
        f"sys.exit(main(['analyze', {str(checkpoint)!r}, '--plot', {str(tmp_path / 'p.png')!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
