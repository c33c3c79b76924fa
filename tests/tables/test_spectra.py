"""Decay, contribution curves and p* against plain loops."""

import math
from collections import Counter

import numpy as np
import pytest

from spectral_lib import CONSISTENT, PAPER, tables
from spectral_lib.errors import DomainError
from spectral_lib.notation import Kind
from spectral_lib.proxies import log_rank_margin
from tests.tables.conftest import HEAD
from tests.tables.reference import analyse, median


@pytest.mark.parametrize("size", [(1, 8), (2, 12), (4, 20)])
def test_decay_is_the_median_over_heads(small, size):
    spectra = small.family.at(*size)
    rows, *_ = analyse(small.layers[spectra.model, 30], size[1] // HEAD, PAPER)
    table = tables.spectral_decay(spectra, layers=(0, size[0] - 1))
    assert table.index.name == "j"
    assert list(table.columns.names) == ["kind", "layer"]
    assert table.columns.unique("kind").tolist() == [kind.value for kind in Kind]
    for kind, layer in table.columns:
        heads = [row["s"] for (i, k, _), row in rows.items() if (i, k) == (layer, kind)]
        rank = size[1] if kind.startswith("FF") else HEAD
        for j in range(1, len(table) + 1):
            if j <= rank:
                expected = median([s[j - 1] / s[0] for s in heads])
                assert table.loc[j, (kind, layer)] == pytest.approx(expected, rel=1e-9)
            else:
                assert math.isnan(table.loc[j, (kind, layer)])


def test_decay_of_missing_and_zero_matrices(damaged, nothing):
    spectra, _ = damaged
    table = tables.spectral_decay(spectra)
    assert table.columns.unique("layer").tolist() == [0, 1]  # 2 and 3 are not there
    assert table["QK", 0].tolist()[3] == 0  # of the two heads one is zero, the other of rank 3
    assert table["QK", 0].iloc[:3].gt(0).all()
    assert table["FF_OUT", 0].isna().all()
    assert table["FF_OUT", 1].notna().all()
    assert tables.spectral_decay(nothing).isna().all(axis=None)


@pytest.mark.parametrize("layers", [(), (2,), (-1, 0)])
def test_decay_of_no_layer_is_refused(damaged, layers):
    with pytest.raises(DomainError, match=r"0 \.\. 1"):
        tables.spectral_decay(damaged[0], layers)


@pytest.mark.parametrize("convention", [PAPER, CONSISTENT])
def test_contribution_curves_by_head_and_layer(small, convention):
    spectra = small.family.at(2, 12)
    rows, *_ = analyse(small.layers[spectra.model, 30], 3, convention)
    table = tables.contribution_curves(spectra, convention)
    assert table.shape == (2 * math.ceil(2 + math.log(12)) + 1, len(rows))
    for (layer, kind, head), row in rows.items():
        expected = [math.log10(value / row["curve"][0]) for value in row["curve"]]
        np.testing.assert_allclose(table[kind, layer, head], expected, atol=1e-9)


def test_contribution_curves_of_zero_matrices_are_nan(damaged):
    table = tables.contribution_curves(damaged[0])
    assert table["QK", 0, 0].isna().all()
    assert table["QK", 1, 0].notna().all()
    assert table["VO", 0, 0].tolist()[1:] == [-math.inf] * (len(table) - 1)  # behind a zero matrix


def test_histogram_counts_p_star_over_all_models(small):
    expected = Counter()
    for spectra in small.family.members:
        layers = small.layers[spectra.model, 30]
        rows, *_ = analyse(layers, spectra.num_heads, PAPER)
        expected.update((kind, row["p_star"]) for (_, kind, _), row in rows.items())
    table = tables.p_star_histogram(small.family)
    found = {(kind, p): n for kind in table for p, n in table[kind].items() if n}
    assert found == expected
    assert {p > 0 for _, p in found} == {True, False}  # the fixture has both
    assert table.index.is_unique
    assert table.index.is_monotonic_increasing


def test_histogram_of_one_model_and_of_several(small, damaged):
    members = small.family.members[:2]
    both = tables.p_star_histogram(iter(members))
    alone = [tables.p_star_histogram(spectra) for spectra in members]
    assert (both.sum() == alone[0].sum() + alone[1].sum()).all()
    counts = tables.p_star_histogram(damaged[0]).sum()
    assert counts.to_dict() == {"QK": 3, "VO": 4, "FF_IN": 2, "FF_OUT": 1}  # no zero matrix
    with pytest.raises(DomainError, match="at least one model"):
        tables.p_star_histogram([])


def test_margins_are_the_smallest_over_heads_and_leave_zero_matrices_out(small, damaged, nothing):
    spectra = small.family.at(2, 12)
    margins = log_rank_margin(spectra)
    table = tables.rank_margins(spectra)
    for kind in Kind:
        expected = [min(heads) / math.log(10) for heads in margins[kind].tolist()]
        assert table[kind.value].tolist() == pytest.approx(expected)
    table = tables.rank_margins(damaged[0])
    assert math.isnan(table.loc[0, "FF_OUT"])  # its only matrix is zero
    assert table.drop(columns="FF_OUT").notna().all(axis=None)
    assert tables.rank_margins(nothing).isna().all(axis=None)
