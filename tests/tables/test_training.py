"""Initial beside trained, histories, losses and the card."""

import math

import numpy as np
import pytest

from spectral_lib import CONSISTENT, PAPER, tables
from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from tests.tables.reference import analyse, median


def slow(known, spectra, step, convention):
    rows, alpha, logs = analyse(known.layers[spectra.model, step], spectra.num_heads, convention)
    found = {f"log10 {name}": value / math.log(10) for name, value in logs.items()}
    found["log10 alpha"] = math.log10(alpha[0])
    found["share of p* > 0"] = sum(row["p_star"] > 0 for row in rows.values()) / len(rows)
    for kind in ("QK", "VO", "FF_IN", "FF_OUT"):
        ranks = [r["frobenius"] ** 2 / r["C"] ** 2 for (_, k, _), r in rows.items() if k == kind]
        found[f"stable rank {kind}"] = median(ranks)
    return found, min(logs, key=logs.get)


@pytest.mark.parametrize("convention", [PAPER, CONSISTENT])
def test_effect_is_initial_beside_trained(small, convention):
    table = tables.training_effect(small.family, convention)
    assert table.index.names == ["L", "N"]
    assert len(table) == 9
    for spectra in small.family.members:
        row = table.loc[spectra.num_layers, spectra.hidden_size]
        for state, step in (("initial", 0), ("trained", 30)):
            expected, smallest = slow(small, spectra, step, convention)
            for name, value in expected.items():
                assert row[name, state] == pytest.approx(value, rel=1e-8, abs=1e-9)
            assert row["smallest", state] == smallest
    assert table["log10 alpha"].to_numpy().dtype == np.float64
    changed = table["smallest", "initial"] != table["smallest", "trained"]
    assert set(table["smallest"].stack()) == {"edelman", "spectral"}
    assert changed.any()  # the fixture holds a change of order


def test_history_is_by_step(small):
    spectra = small.family.members[4]
    table = tables.training_history(small.family, spectra.model)
    assert table.index.tolist() == [0, 10, 30]
    for step, row in table.iterrows():
        expected, smallest = slow(small, spectra, step, PAPER)
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-8, abs=1e-9)
        assert row["smallest"] == smallest
    with pytest.raises(DomainError, match="no snapshots of 'other'"):
        tables.training_history(small.family, "other")


def test_loss_curves_are_by_size_and_keep_gaps(small):
    table = tables.loss_curves(small.family)
    assert table.index.tolist() == [0, 10, 30]
    assert table.loc[10, (4, 8)] == pytest.approx(6.4)
    assert table.loc[30, (1, 20)] == pytest.approx(5.2)
    losses = dict(small.family.losses)
    del losses[small.family.at(2, 12).model]
    fewer = Family("fewer", "fewer", small.family.members, {}, losses)
    assert (2, 12) not in tables.loss_curves(fewer).columns
    assert tables.loss_curves(fewer).shape == (3, 8)


def test_card_lists_what_the_manifest_says(small):
    row = tables.card(small.family).loc[small.family.at(2, 12).model]
    assert row.to_dict() == {
        "L": 2,
        "N": 12,
        "H": 3,
        "parameters": 99,
        "steps": 30,
        "peak rate": 0.01,
        "seed": 7,
        "seconds": 2.5,
        "held-out loss": 5.25,
        "all masked": 5.5,
        "below unigram": 1.0,
    }


def test_checkpoints_without_a_history(damaged, nothing):
    bare = Family("bare", "bare", (damaged[0],))
    for table in (tables.training_effect, tables.loss_curves):
        with pytest.raises(DomainError, match="'bare'"):
            table(bare)
    card = tables.card(bare)
    assert card[["L", "N", "H"]].to_numpy().tolist() == [[2, 8, 2]]
    assert card.drop(columns=["L", "N", "H"]).isna().all(axis=None)
    dead = Family("dead", "dead", (nothing,), {nothing.model: {0: nothing}})
    row = tables.training_effect(dead).iloc[0]
    assert row["log10 alpha", "trained"] == -math.inf
    assert math.isnan(row["stable rank QK", "initial"])
