"""A run in a process of its own is killed again and again, and goes on as if it never had been."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spectral_lib.experiments import worker
from spectral_lib.experiments.locks import alone
from spectral_lib.experiments.runner import train_grid
from spectral_lib.experiments.state import STATE, TrainingError, read_state, run_digest
from spectral_lib.families.folder import read_family
from tests.experiments import tiny
from tests.experiments.test_training import assert_same_run
from tests.signals import sound

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="finds the workers of a process in /proc"
)

RUN = run_digest(tiny.LONG, tiny.tokens().digest)


def start(folder, *options):
    command = [sys.executable, "-m", "tests.experiments.driver", "--folder", str(folder)]
    return subprocess.Popen(
        [*command, "--workers", "1", *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=sound(),
    )


def end(process):
    out, err = process.communicate(timeout=180)
    assert out == ""
    assert "Traceback" not in err
    return process.returncode, err.splitlines()


def workers(process):
    """Return the process numbers of the workers: the children that spawn started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def steps(folder):
    state = read_state(folder / tiny.LONG.name, RUN)
    return 0 if state is None else state.step


def at_a_random_moment(rng, folder, process):
    """Wait until the state has been stored in this run, and then a little."""
    path = folder / tiny.LONG.name / STATE
    before = path.stat().st_mtime_ns if path.exists() else 0
    while not path.exists() or path.stat().st_mtime_ns == before:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    time.sleep(rng.uniform(0, 0.2))


def test_a_run_survives_what_ends_it(tmp_path):
    from spectral_lib.experiments.training import train

    tiny.prepare(tmp_path)
    rng, done = random.Random(5), 0
    for blow in ("everything", "parent", "worker", "interrupt"):
        process = start(tmp_path)
        at_a_random_moment(rng, tmp_path, process)
        if blow == "everything":
            os.killpg(process.pid, signal.SIGKILL)
        elif blow == "parent":
            process.kill()
        elif blow == "worker":
            os.kill(workers(process)[0], signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGINT)
        code, lines = end(process)
        if blow == "worker":
            assert code == 2
            assert lines[-1] == (
                "spectral-lib: the process that trained L2-N32 was killed, as the system does when "
                "memory runs out; run the command again to go on"
            )
        elif blow == "interrupt":
            assert code == 130
            assert lines[-1] == "Interrupted; the states are stored: the same command goes on."
        else:
            assert code == -signal.SIGKILL
        now = steps(tmp_path)
        assert done < now < tiny.LONG.steps
        done = now
    code, lines = end(start(tmp_path))
    assert code == 0
    assert lines[-1] == f"The family: {tmp_path / 'family'}"
    assert not list(tmp_path.rglob(".spectral-lib-*"))

    alone_path = tmp_path / "uninterrupted"
    train(tiny.LONG, tiny.tokens(), alone_path)
    assert_same_run(tmp_path / tiny.LONG.name, alone_path, RUN)
    losses = read_family(tmp_path / "family").losses["grid/L2-N32"]
    assert losses.training.size == tiny.LONG.steps


def test_a_run_goes_on_when_nobody_reads_its_progress(tmp_path):
    tiny.prepare(tmp_path)
    process = start(tmp_path)
    process.stderr.readline()
    process.stderr.close()
    assert process.wait(180) == 0
    process.stdout.close()
    assert read_family(tmp_path / "family").losses["grid/L2-N32"].training.size == tiny.LONG.steps


def test_a_second_run_in_the_folder_is_refused(tmp_path):
    with (
        alone(tmp_path),
        pytest.raises(TrainingError, match="another run is at work here"),
        alone(tmp_path),
    ):
        pass
    with alone(tmp_path):  # it is free again
        pass


def test_the_workers_of_a_killed_run_are_waited_for(tmp_path):
    holder = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from spectral_lib.experiments.locks import working\n"
        "with working(Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(0.5)\n"
        "    (Path(sys.argv[1]) / '.spectral-lib-left').touch()\n"
    )
    command = [sys.executable, "-c", holder, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with alone(tmp_path):
            assert {path.name for path in tmp_path.iterdir()} == {"run.lock", "workers.lock"}


@pytest.mark.parametrize("error", [RuntimeError, ImportError])
def test_what_torch_raises_reaches_the_parent_in_one_line(tmp_path, monkeypatch, error):
    def fail(*_):
        raise error("[enforce fail at alloc_cpu.cpp]\ncan't allocate memory")

    tiny.prepare(tmp_path)
    mine, theirs = multiprocessing.Pipe()
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)  # this process keeps its own
    monkeypatch.setattr(worker, "_train_all", fail)
    worker.work(theirs, tmp_path)
    message = mine.recv()
    assert isinstance(message, TrainingError)
    assert str(message).startswith("torch cannot go on: [enforce fail at alloc_cpu.cpp] can't")


def test_what_stops_a_worker_reaches_its_parent(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"tokens\.npz"):
        train_grid(tmp_path, [tiny.RECIPE], 1, pytest.fail)
