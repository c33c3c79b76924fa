"""Each choice of the convention, and the factors at which p* leaves 0."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from spectral_lib import CONSISTENT, PAPER, tables
from spectral_lib.errors import DomainError
from spectral_lib.notation import Convention, Kind
from spectral_lib.proxies import contribution_curves, log_rank_margin
from tests.tables.reference import PROXIES, analyse

ALTERNATIVES = {"kappa": 1.0, "pi_before_phi": False}


def test_each_choice_is_moved_alone(small):
    spectra = small.family.at(2, 12)
    layers = small.layers[spectra.model, 30]
    table = tables.convention_effects(spectra)
    names = [field.name for field in fields(Convention)]
    assert table.index.tolist() == [*names, "all"]
    rows, _, before = analyse(layers, 3, PAPER)
    zero = sum(row["p_star"] == 0 for row in rows.values())
    for choice, row in table.iterrows():
        if choice == "all":
            convention = CONSISTENT
        else:
            to = ALTERNATIVES.get(choice, getattr(CONSISTENT, choice))
            assert to != getattr(PAPER, choice)
            assert (row["from"], row["to"]) == (str(getattr(PAPER, choice)), str(to))
            convention = replace(PAPER, **{choice: to})
        rows, _, after = analyse(layers, 3, convention)
        for name in PROXIES:
            change = (after[name] - before[name]) / math.log(10)
            assert row[f"log10 {name}"] == pytest.approx(change, abs=1e-10)
        assert row["p* = 0"] == sum(r["p_star"] == 0 for r in rows.values()) - zero
    moved = table.drop(columns=["from", "to"]).drop(index="all")
    assert (moved != 0).any(axis=1).all()  # each choice moves some number of this model
    assert (moved["p* = 0"] != 0).any()


def test_an_unknown_activation_is_an_error_for_people(damaged):
    with pytest.raises(DomainError, match="swish"):
        tables.convention_effects(replace(damaged[0], activation="swish"))


def counts_off_zero(spectra, convention, log_scale_shift=0.0):
    """Return how many matrices of each kind (nonzero ones) have left p* = 0, and how many are."""
    margins = log_rank_margin(spectra, convention)
    found = {}
    for kind in Kind:
        values = margins[kind][~np.isnan(margins[kind])] + log_scale_shift
        found[kind.value] = (int((values < 0).sum()), values.size)
    found["all"] = tuple(map(sum, zip(*found.values(), strict=True)))
    return found


def reached(off, total):
    return {"first": off >= 1, "half": off >= total / 2, "all": off == total}


@pytest.mark.parametrize("convention", [PAPER, CONSISTENT])
@pytest.mark.parametrize("size", [(1, 12), (2, 12), (4, 20)])
def test_factors_are_where_the_count_reaches_its_share(small, size, convention):
    spectra = small.family.at(*size)
    table = tables.leaving_zero(spectra, convention)
    assert table.index.tolist() == ["QK", "VO", "FF_IN", "FF_OUT", "all"]
    for (factor, milestone), thresholds in table.items():
        for kind, threshold in thresholds.items():
            for nudge, expected in ((-1e-6, True), (1e-6, False)):
                log_factor = (threshold + nudge) * math.log(10)
                if factor == "log10 scale factor":
                    counts = counts_off_zero(spectra, convention, log_factor)
                else:
                    rescaled = spectra.rescaled(math.exp(log_factor))
                    counts = counts_off_zero(rescaled, convention)
                assert reached(*counts[kind])[milestone] is expected, (factor, milestone, kind)


def test_the_minimum_over_p_moves_off_zero_at_the_factor(small):
    spectra = small.family.at(2, 12)
    factor = 10 ** tables.leaving_zero(spectra).loc["all", ("log10 weight factor", "first")]
    fine = np.linspace(0, 2, 4001)
    for nudge, off in ((0.99, True), (1.01, False)):
        curves = contribution_curves(spectra.rescaled(nudge * factor), p=fine)
        assert any((p > 0).any() for p in curves.p_star.values()) is off


def test_zero_scales_have_left_and_zero_matrices_do_not_count(damaged, nothing):
    table = tables.leaving_zero(damaged[0])
    assert table.loc["VO", ("log10 scale factor", "first")] == math.inf  # behind the zero FF_OUT
    assert table.loc["VO", ("log10 weight factor", "half")] == math.inf
    assert np.isfinite(table.loc["VO", ("log10 scale factor", "all")])
    assert np.isfinite(table.loc["FF_OUT"]).all()  # one of two is zero, the other alive
    assert table.loc["FF_OUT"].xs("first", level=1).equals(table.loc["FF_OUT"].xs("all", level=1))
    assert tables.leaving_zero(nothing).isna().all(axis=None)
