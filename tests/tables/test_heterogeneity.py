"""Ranks and decay exponents against plain loops and exact laws."""

import math

import numpy as np
import pytest

from spectral_lib import PAPER, tables
from spectral_lib.matrices import Spectrum
from spectral_lib.tables.heterogeneity import decay_fit, effective_rank
from tests.tables.conftest import HEAD
from tests.tables.reference import analyse, median


def of(values):
    """Return the spectrum of one matrix a row."""
    values = np.asarray(values, dtype=float)
    size = values.shape[-1]
    ones = np.ones(values.shape[:-1])
    return Spectrum(values, (size, size), ones, ones)


def slow_measures(s):
    """Return stable rank, effective rank, and the decay fit of nonzero singular values."""
    stable = sum(x * x for x in s) / s[0] ** 2
    share = [x / sum(s) for x in s]
    effective = math.exp(-sum(x * math.log(x) for x in share))
    start, end = max(1, math.ceil(0.1 * len(s))), math.floor(0.75 * len(s))
    points = [(math.log(j), math.log(s[j - 1])) for j in range(start, end + 1)]
    if len(points) < 3:
        return stable, effective, None
    x, y = np.array(points).T
    (slope, intercept), squares, *_ = np.polyfit(x, y, 1, full=True)
    error = math.sqrt(squares[0] / (len(x) - 2) / ((x - x.mean()) ** 2).sum())
    r_squared = np.corrcoef(x, y)[0, 1] ** 2
    del intercept
    return stable, effective, (-slope, start, end, r_squared, error)


@pytest.mark.parametrize("size", [(2, 20), (4, 12)])
def test_measures_are_those_of_plain_loops(small, size):
    spectra = small.family.at(*size)
    rows, *_ = analyse(small.layers[spectra.model, 30], spectra.num_heads, PAPER)
    table = tables.heterogeneity(spectra)
    assert table.index.names == ["kind", "layer"]
    assert len(table) == 4 * size[0]
    for (kind, layer), row in table.iterrows():
        heads = [r["s"] for (i, k, _), r in rows.items() if (i, k) == (layer, kind)]
        assert row["rank"] == median([len(s) for s in heads])
        assert row["rank bound"] == (size[1] if kind.startswith("FF") else HEAD)
        measured = [slow_measures(s) for s in heads]
        for name, place in (("stable rank", 0), ("effective rank", 1)):
            values = [m[place] for m in measured]
            assert row[name] == pytest.approx(median(values), rel=1e-9)
            assert row[f"{name} min"] == pytest.approx(min(values), rel=1e-9)
            assert row[f"{name} max"] == pytest.approx(max(values), rel=1e-9)
        fits = [m[2] for m in measured]
        names = ("decay exponent", "window start", "window end", "R^2", "standard error")
        for place, name in enumerate(names):
            values = [fit[place] for fit in fits]
            assert row[name] == pytest.approx(median(values), rel=1e-7)
        assert row["decay exponent min"] == pytest.approx(min(fit[0] for fit in fits), rel=1e-7)
        assert row["decay exponent max"] == pytest.approx(max(fit[0] for fit in fits), rel=1e-7)


@pytest.mark.parametrize("exponent", [0.0, 0.4, 1.7])
def test_an_exact_power_law_gives_its_exponent(exponent):
    fit = decay_fit(of(5 * np.arange(1.0, 65) ** -exponent))
    assert fit["decay exponent"] == pytest.approx(exponent, abs=1e-12)
    assert fit["standard error"] == pytest.approx(0, abs=1e-12)
    assert (fit["window start"], fit["window end"]) == (7, 48)
    if exponent:
        assert fit["R^2"] == pytest.approx(1)


def test_only_the_window_counts():
    values = np.arange(1.0, 65) ** -0.8
    values[:6] *= 50  # before ceil(6.4) = 7
    values[48:] *= 1e-3  # after floor(48) = 48
    assert decay_fit(of(values))["decay exponent"] == pytest.approx(0.8, rel=1e-12)
    values[6] *= 1.2
    assert decay_fit(of(values))["decay exponent"] != pytest.approx(0.8, rel=1e-3)


def test_the_window_is_of_the_rank_and_not_of_the_shape():
    values = np.append(np.arange(1.0, 21) ** -1.1, np.zeros(44))
    fit = decay_fit(of(values))
    assert fit["decay exponent"] == pytest.approx(1.1)
    assert (fit["window start"], fit["window end"]) == (2, 15)


def test_effective_rank_runs_from_one_to_the_rank():
    values = [[3.0, 3, 3, 3], [2.0, 0, 0, 0], [1.0, 1, 0, 0], [0.0, 0, 0, 0]]
    np.testing.assert_allclose(effective_rank(of(values)), [4, 1, 2, 0], rtol=1e-12)


def test_short_windows_and_one_head(one_head):
    spectra, _ = one_head
    table = tables.heterogeneity(spectra)
    assert table["decay exponent"].notna().all()  # rank 6: j = 1 .. 4
    assert (table["stable rank min"] == table["stable rank max"]).all()
    short = decay_fit(of([4.0, 3.0, 2.0]))  # j = 1, 2
    assert all(np.isnan(value) for value in short.values())


def test_zero_heads_are_left_out(damaged, nothing):
    table = tables.heterogeneity(damaged[0])
    alive = damaged[0]
    assert table.loc[("QK", 0), "rank"] == 3
    assert table.loc[("QK", 0), "stable rank min"] == table.loc[("QK", 0), "stable rank max"] > 0
    spectrum = alive["QK"]
    assert table.loc[("QK", 0), "stable rank"] == pytest.approx(spectrum.stable_rank[0, 1])
    assert table.loc[("FF_OUT", 0)].drop("rank bound").isna().all()
    assert tables.heterogeneity(nothing).drop(columns="rank bound").isna().all(axis=None)
