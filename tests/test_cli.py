"""The command line as a stranger meets it: output formats, exit codes, one line for every error."""

import csv
import json
import math
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spectral_lib
from spectral_lib import analysis, constants
from spectral_lib.cli import main
from tests import naive

TOP_KEYS = (
    *("schema_version", "library_version", "model", "source_sha256", "num_layers", "hidden_size"),
    *("num_heads", "convention", "p_grid", "proxies", "log_alpha", "matrices"),
)
MATRIX_KEYS = (
    *("layer", "head", "kind", "shape", "rank", "spectral_norm", "frobenius_norm", "norm_21"),
    *("norm_11", "stable_rank", "log_gamma", "log_scale", "p_star", "log_contribution"),
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    layers = naive.random_layers(np.random.default_rng(0), 2, 8, 20)
    layers[0]["value"][:4] = 0  # one dead head: its logs are null
    return str(naive.write_bert(tmp_path_factory.mktemp("m"), layers, num_heads=2))


def run(arguments, **options):
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "spectral_lib", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def test_json_is_one_object_of_the_promised_shape(checkpoint, capsys):
    assert main(["analyze", checkpoint, "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out, parse_constant=reject_constant)
    assert err == ""
    assert tuple(result) == TOP_KEYS
    assert tuple(result["convention"]) == (
        *("kappa", "l_phi", "l_phi_in_gamma", "pi_before_phi", "edelman_qk_factor", "dims"),
        "scale_count",
    )
    assert tuple(result["proxies"]) == ("spectral", "edelman", "trauger_tewari")
    for proxy in result["proxies"].values():
        assert proxy["value"] == pytest.approx(math.exp(proxy["log"]))
    assert result["log_alpha"][-1] == 0
    assert [row["kind"] for row in result["matrices"][:6]] == [
        "QK",
        "QK",
        "VO",
        "VO",
        "FF_IN",
        "FF_OUT",
    ]
    assert [row["head"] for row in result["matrices"][:6]] == [0, 1, 0, 1, None, None]
    assert all(tuple(row) == MATRIX_KEYS for row in result["matrices"])
    dead = result["matrices"][2]
    assert (dead["rank"], dead["spectral_norm"], dead["log_contribution"]) == (0, 0.0, None)
    assert result["matrices"][0]["log_gamma"] is None  # its QK matrix reaches nothing


def test_csv_has_the_keys_of_a_matrix_as_columns(checkpoint, tmp_path, capsys):
    path = tmp_path / "m.csv"
    assert main(["analyze", checkpoint, "--json", "--csv", str(path)]) == 0
    rows = json.loads(capsys.readouterr().out)["matrices"]
    with path.open(newline="") as stream:
        table = list(csv.reader(stream))
    assert tuple(table[0]) == MATRIX_KEYS
    assert len(table) == 1 + len(rows)
    assert table[1][3] == "8x8"
    assert float(table[1][5]) == rows[0]["spectral_norm"]
    assert table[5][1] == ""


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plot_is_drawn_in_the_format_of_its_suffix(checkpoint, tmp_path, suffix):
    path = tmp_path / f"p.{suffix}"
    assert main(["analyze", checkpoint, "--plot", str(path)]) == 0
    start = path.read_bytes()[:200]
    assert {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix] in start
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_saved_spectra_are_a_model_too(checkpoint, tmp_path, capsys):
    path = str(tmp_path / "s.npz")
    assert main(["analyze", checkpoint, "--save", path, "--json"]) == 0
    first = capsys.readouterr().out
    assert main(["analyze", path, "--json"]) == 0
    assert capsys.readouterr().out == first


FLAGS = {
    "kappa": (["--kappa", "1"], 1.0),
    "l_phi": (["--l-phi", "exact"], "exact"),
    "l_phi_in_gamma": (["--l-phi-in-gamma"], True),
    "pi_before_phi": (["--no-pi-before-phi"], False),
    "edelman_qk_factor": (["--edelman-qk-factor", "2"], 2.0),
    "dims": (["--dims", "exact"], "exact"),
    "scale_count": (["--scale-count", "J"], "J"),
}


def test_every_convention_field_is_a_flag(checkpoint, capsys):
    assert set(FLAGS) == set(vars(spectral_lib.PAPER))
    for field, (flags, value) in FLAGS.items():
        assert main(["analyze", checkpoint, "--json", *flags]) == 0
        got = json.loads(capsys.readouterr().out)["convention"]
        assert got == vars(spectral_lib.PAPER) | {field: value}
    arguments = ["analyze", checkpoint, "--json", "--convention", "consistent", "--kappa", "1"]
    assert main(arguments) == 0
    got = json.loads(capsys.readouterr().out)["convention"]
    assert got == vars(spectral_lib.CONSISTENT) | {"kappa": 1.0}


def test_summary_shows_every_kind_and_proxy(checkpoint, capsys):
    assert main(["analyze", checkpoint]) == 0
    out = capsys.readouterr().out
    for word in (*spectral_lib.Kind, "spectral", "edelman", "trauger_tewari", checkpoint[-20:]):
        assert word in out.replace("\n", "")


BOUND = ("--samples", "1e5", "--tokens", "64", "--delta", "0.05", "--loss-range", "1")


@pytest.mark.parametrize("form", ["sum", "rss", "quadrature"])
def test_bound_prints_its_parts_and_says_that_it_is_vacuous(checkpoint, capsys, form):
    assert main(["bound", checkpoint, *BOUND, "--form", form]) == 0
    out = capsys.readouterr().out
    for word in (*spectral_lib.Kind, "readout", "confidence", "peeling", "Vacuous:", "samples"):
        assert word in out


def test_bound_json_sums_up(checkpoint, capsys):
    assert main(["bound", checkpoint, *BOUND, "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out, parse_constant=reject_constant)
    assert err == ""
    rows = [*found["matrices"], found["readout"]]
    parts = [row["log_contribution"] for row in rows if row["log_contribution"] is not None]
    assert np.logaddexp.reduce(parts) == pytest.approx(found["complexity"]["log"], rel=1e-9)
    total = found["complexity"]["value"] + found["confidence"] + found["peeling"]
    assert found["bound"]["value"] == pytest.approx(total)


def test_ledger_lists_every_entry_and_fails_when_one_fails(capsys, monkeypatch):
    from spectral_lib import ledger

    assert main(["ledger"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ledger.ENTRIES)
    few = {name: ledger.ENTRIES[name] for name in ("dual_sudakov", "dual_sudakov_tail")}
    monkeypatch.setattr(ledger, "ENTRIES", few)
    assert main(["ledger", "--verify"]) == 0
    monkeypatch.setattr(constants, "DUAL_SUDAKOV", constants.DUAL_SUDAKOV * 1.01)
    assert main(["ledger", "--verify"]) == 1
    assert "FAILED dual_sudakov:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing command"),
        (["analyse"], "No such command"),
        (["analyze"], "Missing argument"),
        (["analyze", "MODEL", "--frobnicate"], "No such option"),
        (["analyze", "MODEL", "--dims", "3"], "--dims"),
        (["analyze", "MODEL", "--kappa", "x"], "--kappa"),
        (["analyze", "MODEL", "--kappa", "-1"], "kappa must be a finite number > 0"),
        (["analyze", "MODEL", "--kappa", "nan"], "kappa must be a finite number > 0"),
        (["analyze", "MODEL", "--l-phi", "big"], "a number or 'exact'"),
        (["analyze", "MODEL", "--rank-rtol", "2"], "rank_rtol must lie in"),
        (["analyze", "MODEL", "--plot", "x.bmp"], "must end in .png, .svg, .pdf"),
        (["analyze", "MODEL", "--csv", "no/such/x.csv"], "no folder"),
        (["analyze", "MODEL", "--csv", "."], "is a directory"),
        (["analyze", "MODEL", "--save", "x"], "must end in .npz"),
        (["analyze", "no/such/model/anywhere"], "no/such/model/anywhere"),
        (["analyze", "missing.npz"], "missing.npz"),
        (["bound", "MODEL"], "Missing option '--samples'"),
        (["bound", "MODEL", *BOUND, "--delta", "2"], "delta must be in (0, 1)"),
        (["bound", "MODEL", *BOUND, "--samples", "0"], "samples"),
        (["bound", "MODEL", *BOUND, "--samples", "nan"], "samples"),
        (["bound", "MODEL", *BOUND, "--form", "product"], "--form"),
    ],
)
def test_bad_usage_and_bad_input_get_one_line_and_exit_code_2(
    checkpoint, tmp_path, capsys, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    code = main([checkpoint if word == "MODEL" else word for word in arguments])
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("spectral-lib: ")
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_writing_leaves_nothing_behind(checkpoint, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "m.csv").write_text("old")
    monkeypatch.setattr(analysis.csv.DictWriter, "writerow", interrupted)
    assert main(["analyze", checkpoint, "--csv", str(tmp_path / "m.csv")]) == 130
    assert (tmp_path / "m.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_version_and_help():
    assert run(["--version"]).stdout == f"spectral-lib {spectral_lib.__version__}\n"
    shown = run(["analyze", "--help"], env=os.environ | {"COLUMNS": "200"}).stdout
    for flags, _ in FLAGS.values():
        assert flags[0] in shown


def test_a_reader_that_goes_away_is_no_error(checkpoint):
    command = f"{shlex.quote(sys.executable)} -m spectral_lib analyze {checkpoint} --json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.packaged
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_analysis_is_light(tmp_path):
    """No heavy import, less than 250 MB at the peak, nothing written."""
    script = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from spectral_lib.cli import main\n"
        "assert main(['analyze', 'all-MiniLM-L6-v2']) == 0\n"
        "heavy = {'torch', 'transformers', 'matplotlib', 'sympy', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "status = Path('/proc/self/status').read_text()\n"
        "peak = int(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1])\n"
        "assert peak < 250_000, f'{peak} kB'\n"
    )
    environment = os.environ | {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
