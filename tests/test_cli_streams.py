"""The command line when its streams, its disk or its life are taken away."""

import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from spectral_lib.cli.streams import note
from tests import naive
from tests.signals import sound

RUN = f"{shlex.quote(sys.executable)} -m spectral_lib"
WRITE_SLOWLY = """
import sys, time
from spectral_lib.cli import main
from spectral_lib import analysis
def slowly(*_):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)
analysis.csv.DictWriter.writerow = slowly
sys.exit(main(["analyze", sys.argv[1], "--csv", sys.argv[2]]))
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_note_that_cannot_be_written_stops_nothing():
    script = "from spectral_lib.cli.streams import note; note('a'); note('b'); print('done')"
    for redirection in ("2> /dev/full", "2> >(true)"):
        for done in shell(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} {redirection}"):
            assert (done.returncode, done.stdout) == (0, "done\n")


def test_a_note_is_one_line(capsys):
    note("states in /runs/a\nb\x1b[2J")
    assert capsys.readouterr().err == "states in /runs/a b [2J\n"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    layers = naive.random_layers(np.random.default_rng(0), 1, 8, 16)
    return str(naive.write_bert(tmp_path_factory.mktemp("m"), layers, num_heads=2))


def shell(command, **environment):
    """Run a command of bash, with buffered and with unbuffered output; return both outcomes."""
    return [
        subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered} | environment,
        )
        for unbuffered in ("", "1")
    ]


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_want_no_output(checkpoint, closed):
    for done in shell(f"{RUN} analyze {checkpoint} --json {closed}"):
        assert (done.returncode, done.stderr) == (0, "")
    for done in shell(f"{RUN} analyze ./absent {closed}"):
        assert done.returncode == 2
        assert done.stdout == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", ["--version", "analyze {} --json", "analyze {}", "--help"])
def test_a_full_disk_behind_stdout_is_one_line(checkpoint, arguments):
    for done in shell(f"{RUN} {arguments.format(checkpoint)} > /dev/full"):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "No space left" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_behind_stderr_keeps_the_exit_code():
    for done in shell(f"{RUN} analyze ./absent 2> /dev/full"):
        assert done.returncode == 2


@pytest.mark.parametrize("arguments", ["--version", "--help", "analyze {}", "analyze {} --json"])
def test_a_reader_that_goes_away_is_success(checkpoint, arguments):
    command = f"{RUN} {arguments.format(checkpoint)} | true; exit ${{PIPESTATUS[0]}}"
    for done in shell(command):
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "ascii:surrogateescape"])
def test_no_character_is_beyond_the_terminal(checkpoint, tmp_path, encoding):
    odd = tmp_path / "模型"
    odd.symlink_to(checkpoint)
    for arguments in (f"analyze {odd}", "analyze --help", "ledger"):
        for done in shell(f"{RUN} {arguments}", PYTHONIOENCODING=encoding, PYTHONUTF8="0"):
            assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_writing_leaves_nothing_behind(checkpoint, tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_SLOWLY, checkpoint, str(tmp_path / "x.csv")],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=sound(number),
    )
    assert process.stderr.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1
    start = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 10
    assert process.returncode == 128 + number
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_an_ignored_signal_stays_ignored():
    from spectral_lib.cli.streams import unwinding_on_signals

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with unwinding_on_signals():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
