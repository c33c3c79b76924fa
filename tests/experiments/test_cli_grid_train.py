"""``spectral-lib grid train`` where it can be refused before anything is trained."""

import sys

import pytest

from spectral_lib.cli import main
from spectral_lib.cli.grid.display import progress
from spectral_lib.experiments import preparation, runner
from spectral_lib.experiments.locks import alone
from spectral_lib.experiments.recipe import grid, rehearsal
from tests.experiments import tiny


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in a folder with a text; return its code and its lines on stderr."""
    tiny.prepare(tmp_path)
    monkeypatch.setattr(preparation, "_build", lambda vocabulary: tiny.prepared())
    monkeypatch.setattr(preparation, "_shipped_corpus", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def run(*options, folder=True):
        code = main(["grid", "train", *(["--folder", str(tmp_path)] if folder else []), *options])
        out, err = capsys.readouterr()
        assert out == ""
        return code, err.splitlines()

    return run


@pytest.fixture
def trained(monkeypatch):
    """Names and steps of the models that the runner is asked to train; nothing is trained."""
    asked: list[tuple[str, int]] = []

    def train_grid(folder, recipes, workers, report):
        for recipe in recipes:
            asked.append((recipe.name, recipe.steps))
            report(recipe, recipe.steps)

    monkeypatch.setattr(runner, "train_grid", train_grid)
    return asked


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "1"], "steps must be >= 2"),
        (["--workers", "0"], "--workers"),
        (["--models", "L2-N32,L3-N32"], "the grid has no model 'L3-N32'"),
        (["--models", ""], "--models names no model"),
        (["--models", " ,"], "--models names no model"),
        (["--output", "."], "the states of the training are in it"),
        (["--output", "tokens.npz/family"], "no folder can be made in"),
    ],
)
def test_bad_options_get_one_line(run, trained, monkeypatch, tmp_path, options, words):
    monkeypatch.chdir(tmp_path)
    code, lines = run(*options)
    assert (code, len(lines), trained) == (2, 1, [])
    assert words in lines[0]


def test_the_group_without_a_command_gets_one_line(capsys):
    for arguments, command in (([], "spectral-lib"), (["grid"], "spectral-lib grid")):
        assert main(arguments) == 2
        assert capsys.readouterr() == (
            "",
            f"spectral-lib: Missing command. (see {command} --help)\n",
        )


def test_a_missing_package_gets_one_line_and_no_folder(run, trained, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, lines = run("--folder", str(tmp_path / "other"), folder=False)
    assert code == 2
    assert not (tmp_path / "other").exists()
    assert lines == [
        "spectral-lib: training the grid needs matplotlib, torch: pip install 'spectral-lib[all]'"
    ]


def test_a_folder_at_work_is_refused(run, trained, tmp_path):
    with alone(tmp_path):
        code, lines = run()
    assert (code, len(lines), trained) == (2, 1, [])
    assert "another run is at work here" in lines[0]


def test_a_part_is_trained_and_not_published(run, trained, tmp_path):
    code, lines = run("--models", "L2-N32,L4-N64", "--models", "L2-N64")
    assert code == 0
    assert trained == [("L4-N64", 1500), ("L2-N64", 1500), ("L2-N32", 1500)]
    assert lines[-1] == "Trained. A part of the grid is not published."
    assert not (tmp_path / "family").exists()


def test_a_rehearsal_has_a_folder_of_its_own(run, trained, tmp_path):
    for options, folder in (((), "grid"), (("--steps", "7"), "grid-7-steps")):
        code, lines = run("--models", "L2-N32", *options, folder=False)
        assert code == 0
        assert f"1 of 1 models to train; states in {tmp_path / 'spectral-lib' / folder}" in lines
    assert trained == [("L2-N32", 1500), ("L2-N32", 7)]


def test_a_state_of_another_recipe_asks_for_restart(run, trained, finished, tmp_path):
    import shutil

    shutil.copytree(finished / "L2-N32", tmp_path / "L2-N32")
    code, lines = run("--models", "L2-N32")
    assert (code, trained) == (2, [])
    assert lines[-1].endswith("(--restart), or train in another folder (--folder)")
    code, lines = run("--models", "L2-N32", "--restart")
    assert (code, trained) == (0, [("L2-N32", 1500)])


def test_an_interrupt_says_how_to_go_on(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "train_grid", interrupted)
    code, lines = run("--models", "L2-N32")
    assert code == 130
    assert lines[-1] == "Interrupted; the states are stored: the same command goes on."


def test_a_package_that_does_not_load_gets_one_line(run, monkeypatch):
    def broken(*_):
        raise ImportError("libtorch_cpu.so: failed to map\nsegment")

    monkeypatch.setattr(runner, "train_grid", broken)
    code, lines = run("--models", "L2-N32")
    assert code == 2
    assert lines[-1] == (
        "spectral-lib: a package does not load: libtorch_cpu.so: failed to map segment"
    )


def test_progress_is_plain_off_a_terminal(capsys):
    recipe = rehearsal(grid()[-1], 100)
    with progress({recipe: 30}) as report:
        for steps in range(35, 101, 5):
            report(recipe, steps)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"L2-N32: {steps} of 100 steps" for steps in range(40, 101, 10)]


def test_progress_draws_bars_on_a_terminal(capsys, monkeypatch):
    first, second = (rehearsal(recipe, 100) for recipe in grid()[-2:])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress({first: 0, second: 50}) as report:
        report(second, 100)
        report(first, 45)
    shown = capsys.readouterr().err
    assert "1/2 models" in shown
    assert f"{first.name} " in shown
    assert "45/100 steps" in shown
