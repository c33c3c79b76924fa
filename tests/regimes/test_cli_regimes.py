"""``spectral-lib regimes`` as a stranger meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from spectral_lib.cli import main
from spectral_lib.regimes import compare_regimes

SIZES = ["--hidden", "64", "--depth", "12", "--rank", "8"]


def reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def test_json_is_one_object_and_the_librarys(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--frobenius", "9", "--spectral", "1.5", "--decay", "0.7", "--tokens", "64"]
    more = ["--samples", "1e5", "--lam", "1.1", "--heads", "4"]
    assert main(["regimes", *SIZES, *flags, *more, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    expected = compare_regimes(64, 12, 4, 8, 9.0, 1.5, 0.7, 64, 1e5, 1.1).to_dict()
    assert json.loads(out, parse_constant=reject_constant) == json.loads(json.dumps(expected))


def test_table_names_regimes_and_what_was_tightened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regimes", *SIZES, "--frobenius", "9"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for words in ("Regime: rank", "Regime: frobenius", "Regime: spectral", "note: frobenius 9"):
        assert words in out
    assert "Regime: power law" not in out
    assert "diverges" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*SIZES, "--heads", "5"], "heads must divide hidden = 64, got 5"),
        (["--hidden", "64", "--depth", "0"], "depth must be an integer from 1"),
        (["--hidden", "64", "--depth", "2", "--rank", "65"], "from 1 to 64, got 65"),
        (
            [*SIZES, "--spectral", "nan"],
            "spectral must be a finite number from 1e-100 to 1e+100, got nan",
        ),
        ([*SIZES, "--samples", "inf"], "samples must be a finite number >= 1, got inf"),
        (["--hidden", "64"], "depth"),
        ([*SIZES, "--rank", "1.5"], "'--rank'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["regimes", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


def test_missing_extra_is_said_in_one_line() -> None:
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "from spectral_lib.cli import main\n"
        f"raise SystemExit(main(['regimes', *{SIZES!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "spectral-lib[ledger]" in done.stderr


def test_library_import_leaves_sympy_alone() -> None:
    code = "import sys, spectral_lib, spectral_lib.cli; print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
