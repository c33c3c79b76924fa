"""The grid that ships: every promise about it, checked on its files."""

import numpy as np
import pytest

import spectral_lib
from spectral_lib.checkpoints import PACKAGED
from spectral_lib.experiments import recipe
from spectral_lib.families import family_folder, load_family

GRID = {r.model: r for r in recipe.grid()}


@pytest.fixture(scope="module")
def grid():
    return load_family("grid")


def recipe_of(entry):
    fields = {name: tuple(v) if isinstance(v, list) else v for name, v in entry["recipe"].items()}
    return recipe.Recipe(**fields)


def assert_same_spectra(got, want, tolerance):
    for kind, spectrum in want.by_kind.items():
        scale = spectrum.singular_values.max()
        assert np.abs(got[kind].singular_values - spectrum.singular_values).max() <= (
            tolerance * scale
        )
        np.testing.assert_allclose(got[kind].norm_21, spectrum.norm_21, rtol=tolerance)
        np.testing.assert_allclose(got[kind].norm_11, spectrum.norm_11, rtol=tolerance)


def test_the_grid_has_its_24_models_trained_by_its_recipes(grid):
    assert grid.depths == recipe.DEPTHS
    assert grid.widths == recipe.WIDTHS
    assert len(grid.members) == 24
    for spectra, entry in zip(grid.members, grid.manifest["members"], strict=True):
        assert spectra.model == entry["model"]
        assert recipe_of(entry) == GRID[entry["model"]]
        assert spectra.num_heads == spectra.hidden_size // 16
        assert spectra[spectral_lib.Kind.FF_IN].shape[1] == 4 * spectra.hidden_size
        assert entry["seconds"] > 0
        assert entry["parameters"] > 0
    assert "not the paper's checkpoints" in grid.title


def test_every_model_was_watched_from_its_first_to_its_last_step(grid):
    for model, trained_by in GRID.items():
        steps = grid.snapshots[model]
        assert set(steps) == set(trained_by.snapshots)
        assert {0, trained_by.steps} <= set(steps)
        assert len(steps) >= 4
    assert len(grid.initial) == 24


def test_every_model_beats_the_unigram_entropy_on_held_out_text(grid):
    entropy = grid.manifest["unigram_entropy"]
    for entry in grid.manifest["members"]:
        curve = grid.losses[entry["model"]]
        assert abs(curve.held_out[-1] - entry["held_out_loss"]) < 0.2  # a selection of the text
        assert entry["held_out_loss"] <= entropy - 0.2, entry["model"]
        assert entry["all_masked_loss"] <= entropy - 0.2, entry["model"]


def test_losses_fall(grid):
    for model, trained_by in GRID.items():
        curve = grid.losses[model]
        assert curve.training.size == trained_by.steps
        assert curve.held_out_steps[0] == 0
        assert curve.held_out_steps[-1] == trained_by.steps
        assert np.isfinite(curve.training).all()
        tenths = curve.training.reshape(10, -1).mean(axis=1)
        assert tenths[0] > tenths[4] > tenths[9]
        assert curve.held_out[-1] == curve.held_out.min()


def test_the_shipped_weights_have_the_shipped_spectra(grid):
    folder = family_folder("grid")
    weights = grid.manifest["weights"]
    assert {"L2-N32", "L4-N64"} <= set(weights)
    for name, path in weights.items():
        trained_by = GRID[f"grid/{name}"]
        member = grid.at(trained_by.num_layers, trained_by.hidden_size)
        assert_same_spectra(spectral_lib.load(folder / path), member, 1e-12)


@pytest.mark.parametrize("name", ["L2-N32", "L4-N64", "L12-N96"])
def test_the_initial_weights_are_those_of_the_seed(grid, name):
    """To a part in a million: another version of torch may round otherwise, not draw otherwise."""
    from spectral_lib.experiments.training import new_model

    model = f"grid/{name}"
    initial = spectral_lib.load(new_model(GRID[model]))
    assert_same_spectra(initial, grid.snapshots[model][0], 1e-6)


def test_the_corpus_is_rebuilt_and_the_held_out_loss_with_it(grid):
    """Half a minute: the text is extracted from the installed packages."""
    from transformers import BertForMaskedLM

    from spectral_lib.experiments import corpus, preparation
    from spectral_lib.experiments.batches import held_out_batches, unigram_entropy
    from spectral_lib.experiments.training import WINDOWS, held_out_loss

    shipped = grid.manifest["corpus"]
    here = {source: corpus._version(source) for source in corpus.SOURCES}
    if here != shipped["versions"]:
        pytest.skip(f"the shipped text was extracted from {shipped['versions']}, here are {here}")
    trained_by = GRID["grid/L2-N32"]
    built = preparation._build(trained_by.vocabulary)
    assert built.corpus["sha256"] == shipped["sha256"]
    folder = family_folder("grid")
    vocabulary = (folder / "weights" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert tuple(vocabulary[:-1]) == built.vocabulary
    held_out = built.tokens.held_out
    assert shipped["tokens"] == {"training": built.tokens.train.size, "held_out": held_out.size}
    assert grid.manifest["unigram_entropy"] == pytest.approx(unigram_entropy(held_out), rel=1e-12)
    model = BertForMaskedLM.from_pretrained(folder / grid.manifest["weights"]["L2-N32"])
    (entry,) = (e for e in grid.manifest["members"] if e["model"] == trained_by.model)
    loss = held_out_loss(model, held_out_batches(held_out, trained_by))
    assert loss == pytest.approx(entry["held_out_loss"], rel=1e-5)
    selection = held_out_loss(model, held_out_batches(held_out, trained_by, WINDOWS))
    assert selection == pytest.approx(grid.losses[trained_by.model].held_out[-1], rel=1e-5)


def test_the_manifest_tells_whose_words_and_weights_these_are(grid):
    assert set(grid.manifest["corpus"]["licences"]) == set(grid.manifest["corpus"]["versions"])
    assert grid.manifest["licence"] == "MIT"
    for name, package in PACKAGED.items():
        told = grid.manifest["packaged"][name]
        assert told["licence"] == package.licence
        assert told["sha256"] == package.sha256
