"""Training: the model learns, and where it was interrupted leaves no trace in it."""

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

from spectral_lib.experiments import training
from spectral_lib.experiments.batches import held_out_batches, training_batch
from spectral_lib.experiments.state import read_state, run_digest, spectra_path
from spectral_lib.transformer import TransformerSpectra
from tests.experiments import tiny

RUN = run_digest(tiny.RECIPE, tiny.tokens().digest)


def stored(folder, run=RUN):
    state = read_state(folder, run)
    assert state is not None
    return state


def assert_same_run(folder, expected, run=RUN):
    """Compare all that a run leaves behind, bit by bit; only its time may differ."""
    got, want = stored(folder, run), stored(expected, run)
    assert (got.step, got.losses, got.held_out) == (want.step, want.losses, want.held_out)
    assert got.snapshots == want.snapshots
    assert list(got.weights) == list(want.weights)
    for name, value in want.weights.items():
        assert torch.equal(got.weights[name], value), name
    for step in got.snapshots:
        assert spectra_path(folder, step).read_bytes() == spectra_path(expected, step).read_bytes()


def test_the_loss_falls(finished):
    state = stored(finished / tiny.RECIPE.name)
    assert len(state.losses) == tiny.RECIPE.steps
    assert np.mean(state.losses[-10:]) < np.mean(state.losses[:10]) - 0.3
    (first, before), (last, after) = state.held_out
    assert (first, last) == (0, tiny.RECIPE.steps)
    assert after < before - 0.3


@pytest.mark.parametrize("stops", [[1], [20], [59], [3, 19, 20, 21, 45]])
def test_a_resumed_run_is_the_uninterrupted_one(finished, tmp_path, stops):
    for stop in stops:
        state = training.train(tiny.RECIPE, tiny.tokens(), tmp_path, lambda step, s=stop: step == s)
        assert state.step == stop == stored(tmp_path).step
    training.train(tiny.RECIPE, tiny.tokens(), tmp_path)
    assert_same_run(tmp_path, finished / tiny.RECIPE.name)


def test_a_finished_run_is_left_alone(finished, tmp_path):
    path = finished / tiny.RECIPE.name / "training.state"
    before = path.stat().st_mtime_ns
    state = training.train(tiny.RECIPE, tiny.tokens(), path.parent, pytest.fail)
    assert state.step == tiny.RECIPE.steps
    assert path.stat().st_mtime_ns == before


def test_the_loss_is_that_of_transformers():
    model = training.new_model(tiny.RECIPE)
    for batch in (
        training_batch(tiny.tokens().train, tiny.RECIPE, 0),
        held_out_batches(tiny.tokens().held_out, tiny.RECIPE)[0],
    ):
        labels = np.full(batch.tokens.shape, -100)
        labels[batch.chosen] = batch.targets
        with torch.no_grad():
            theirs = model(
                input_ids=torch.from_numpy(batch.tokens), labels=torch.from_numpy(labels)
            ).loss
            ours = training.masked_loss(model, batch)
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)


def test_the_held_out_loss_counts_every_token_once():
    model = training.new_model(tiny.RECIPE)
    batches = held_out_batches(tiny.tokens().held_out, tiny.RECIPE)
    with torch.no_grad():
        parts = [(training.masked_loss(model, b).item(), b.targets.size) for b in batches]
    expected = sum(loss * size for loss, size in parts) / sum(size for _, size in parts)
    assert training.held_out_loss(model, batches) == pytest.approx(expected, rel=1e-12)


def test_the_model_has_the_sizes_of_its_recipe():
    model = training.new_model(tiny.RECIPE)
    config = model.config
    assert (config.num_hidden_layers, config.hidden_size) == (2, 32)
    assert (config.num_attention_heads, config.intermediate_size) == (2, 128)
    assert (config.hidden_act, config.hidden_dropout_prob) == ("gelu", 0.0)
    same, other = training.new_model(tiny.RECIPE), BertForMaskedLM(config)
    for name, value in model.state_dict().items():
        assert torch.equal(value, same.state_dict()[name])
    assert not torch.equal(
        model.bert.embeddings.word_embeddings.weight, other.bert.embeddings.word_embeddings.weight
    )


def test_only_matrices_decay():
    model = training.new_model(tiny.RECIPE)
    decaying, others = training._optimizer(model, tiny.RECIPE).param_groups
    assert (decaying["weight_decay"], others["weight_decay"]) == (0.01, 0.0)
    assert {p.ndim for p in decaying["params"]} == {2}
    assert {p.ndim for p in others["params"]} == {1}
    assert len(decaying["params"]) + len(others["params"]) == len(list(model.parameters()))


def test_spectra_are_kept_before_the_first_and_after_the_last_step(finished):
    from spectral_lib.loading import load

    folder = finished / tiny.RECIPE.name
    trained = training.new_model(tiny.RECIPE)
    initial = load(training.new_model(tiny.RECIPE))
    trained.load_state_dict(stored(folder).weights)
    for step, expected in {0: initial, tiny.RECIPE.steps: load(trained)}.items():
        found = TransformerSpectra.load(spectra_path(folder, step))
        assert found.model == "grid/L2-N32"
        for kind, spectrum in expected.by_kind.items():
            np.testing.assert_array_equal(found[kind].singular_values, spectrum.singular_values)
