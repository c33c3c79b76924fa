"""Norms and proxies over L and N against plain loops, and the exponents of exact laws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from spectral_lib import CONSISTENT, PAPER, tables
from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra
from tests.tables.reference import PROXIES, analyse

NORMS = {"spectral": "C", "Frobenius": "frobenius", "(2,1)": "n21", "(1,1)": "n11"}


def logs(known, spectra, convention):
    return analyse(known.layers[spectra.model, 30], spectra.num_heads, convention)[2]


def test_norms_are_means_over_layers_and_heads(small):
    table = tables.norm_scaling(small.family)
    assert table.index.tolist() == [8, 12, 20]
    for width in table.index:
        spectra = small.family.at(2, width)
        rows, *_ = analyse(small.layers[spectra.model, 30], spectra.num_heads, PAPER)
        for kind, norm in table.columns:
            found = [row[NORMS[norm]] for (_, k, _), row in rows.items() if k == kind]
            expected = sum(found) / len(found)
            assert table.loc[width, (kind, norm)] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(DomainError, match=r"no model of L 3, only \(1, 2, 4\)"):
        tables.norm_scaling(small.family, 3)


@pytest.mark.parametrize("convention", [PAPER, CONSISTENT])
@pytest.mark.parametrize(("along", "fixed"), [("N", "L"), ("L", "N")])
@pytest.mark.parametrize("which", ["small", "gappy"])
def test_growth_starts_at_the_smallest_size_there_is(request, which, along, fixed, convention):
    known = request.getfixturevalue(which)
    table = tables.proxy_growth(known.family, along, convention)
    assert table.index.name == along
    assert table.columns.names == ["proxy", fixed]
    expected = {}
    for spectra in known.family.members:
        size = {"L": spectra.num_layers, "N": spectra.hidden_size}
        for name, value in logs(known, spectra, convention).items():
            expected.setdefault((name, size[fixed]), {})[size[along]] = value / math.log(10)
    assert set(table.columns) == set(expected)
    for column, curve in expected.items():
        for size in table.index:
            if size in curve:
                grown = curve[size] - curve[min(curve)]
                assert table.loc[size, column] == pytest.approx(grown, abs=1e-9)
            else:
                assert math.isnan(table.loc[size, column])


def dummy_fit(x, fixed, y, level):
    """Return slope, half width, residual sd and dof from the whole design matrix."""
    full = np.column_stack([x, *(fixed == value for value in np.unique(fixed))]).astype(float)
    beta, *_ = np.linalg.lstsq(full, y, rcond=None)
    dof = len(y) - full.shape[1]
    sd = math.sqrt(((y - full @ beta) ** 2).sum() / dof)
    error = sd * math.sqrt(np.linalg.inv(full.T @ full)[0, 0])
    return beta[0], stats.t.ppf(0.5 + level / 2, dof) * error, sd, dof


def interaction_test(x, fixed, y):
    """Return the p-value of all interactions of x with the groups, from whole design matrices."""
    values = [v for v in np.unique(fixed) if (fixed == v).sum() > 1]
    kept = np.isin(fixed, values)
    x, fixed, y = x[kept], fixed[kept], y[kept]
    dummies = np.column_stack([(fixed == v).astype(float) for v in values])
    squares, dof = [], []
    for design in (np.column_stack([x, dummies]), np.hstack([x[:, None] * dummies, dummies])):
        beta, *_ = np.linalg.lstsq(design, y, rcond=None)
        squares.append(((y - design @ beta) ** 2).sum())
        dof.append(len(y) - design.shape[1])
    if len(values) < 2 or dof[1] == 0:
        return math.nan
    f = (squares[0] - squares[1]) / (dof[0] - dof[1]) / (squares[1] / dof[1])
    return stats.f.sf(f, dof[0] - dof[1], dof[1])


@pytest.mark.parametrize("along", ["N", "L"])
@pytest.mark.parametrize("which", ["small", "gappy"])
def test_exponents_are_within_group_slopes(request, which, along):
    known = request.getfixturevalue(which)
    members = known.family.members
    sizes = np.array([[s.hidden_size, s.num_layers] for s in members])
    x, fixed = sizes.T if along == "N" else sizes.T[::-1]
    table = tables.growth_exponents(known.family, along, level=0.8)
    assert table.index.tolist() == list(PROXIES)
    for name in PROXIES:
        y = np.array([logs(known, spectra, PAPER)[name] for spectra in members])
        row = table.loc[name]
        slope, half, sd, dof = dummy_fit(np.log(x), fixed, y, 0.8)
        expected = [slope, slope - half, slope + half, sd, dof]
        found = row[["exponent", "low", "high", "residual sd", "dof"]].astype(float)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        assert row["equal slopes"] == pytest.approx(
            interaction_test(np.log(x), fixed, y), rel=1e-5, nan_ok=True
        )
        if along == "L":
            rate, half, rate_sd, _ = dummy_fit(x.astype(float), fixed, y, 0.8)
            expected = [rate, rate - half, rate + half, rate_sd]
            found = row[["rate", "rate low", "rate high", "rate residual sd"]].astype(float)
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        else:
            assert "rate" not in row


@pytest.mark.parametrize("along", ["N", "L"])
@pytest.mark.parametrize("which", ["small", "gappy"])
def test_each_group_has_a_fit_of_its_own(request, which, along):
    known = request.getfixturevalue(which)
    members = known.family.members
    sizes = np.array([[s.hidden_size, s.num_layers] for s in members])
    x, fixed = sizes.T if along == "N" else sizes.T[::-1]
    table = tables.growth_by_group(known.family, along)
    assert table.index.names == ["proxy", "L" if along == "N" else "N"]
    assert table.index.tolist() == [(name, v) for name in PROXIES for v in np.unique(fixed)]
    for (name, value), row in table.iterrows():
        chosen = np.flatnonzero(fixed == value)
        y = np.array([logs(known, members[i], PAPER)[name] for i in chosen])
        assert row["models"] == chosen.size
        if chosen.size == 1:
            assert row[["exponent", "rate"]].isna().all()
            continue
        fits = [stats.linregress(at, y) for at in (np.log(x[chosen]), x[chosen])]
        found = row[["exponent", "rate"]].astype(float)
        np.testing.assert_allclose(found, [fit.slope for fit in fits], rtol=1e-7, atol=1e-9)
        if chosen.size == 2:
            assert row[["residual sd", "rate residual sd"]].isna().all()
            assert row["better law"] == "too few models"
            continue
        # The standard error of a slope is the residual's over the root of the sum of squares.
        sds = [
            fit.stderr * math.sqrt(((at - at.mean()) ** 2).sum())
            for fit, at in zip(fits, (np.log(x[chosen]), x[chosen]), strict=True)
        ]
        found = row[["residual sd", "rate residual sd"]].astype(float)
        np.testing.assert_allclose(found, sds, rtol=1e-6, atol=1e-8)
        assert row["better law"] == ("power" if sds[0] <= sds[1] else "exponential")


def identity_like(depth, width, size, norm_growth=0.0):
    """Return an encoder of matrices with all singular values equal to ``size * width**growth``."""
    value = size * width**norm_growth
    shapes = dict.fromkeys((Kind.QK, Kind.VO), (width, width))
    shapes |= {Kind.FF_IN: (width, 4 * width), Kind.FF_OUT: (4 * width, width)}
    by_kind = {}
    for kind, shape in shapes.items():
        batch = (depth, 1)
        full = np.full((*batch, width), value)
        by_kind[kind] = Spectrum(full, shape, np.full(batch, value), np.full(batch, value))
    return TransformerSpectra(f"L{depth}-N{width}", width, 1, "gelu", by_kind)


def exact(sizes, **kwargs):
    return Family("exact", "exact", tuple(identity_like(d, w, **kwargs) for d, w in sizes))


GRID = [(depth, width) for depth in (2, 4, 8) for width in (16, 64, 256)]


def test_exact_power_laws_of_norms_are_recovered():
    table = tables.norm_exponents(exact(GRID, size=0.3, norm_growth=0.7))
    expected = {"spectral": 0.7, "Frobenius": 1.2, "(2,1)": 0.7, "(1,1)": 0.7}
    for (_, norm), row in table.iterrows():
        assert row["exponent"] == pytest.approx(expected[norm], rel=1e-12)
        assert row["high"] - row["low"] < 1e-10
        assert row["dof"] == 1


def test_a_zero_norm_has_no_exponent():
    family = exact([(2, 16), (2, 64), (2, 256)], size=0.3)
    first = family.members[0]
    none = first[Kind.VO]
    none = Spectrum(0 * none.singular_values, none.shape, 0 * none.norm_21, 0 * none.norm_11)
    dead = replace(first, by_kind=first.by_kind | {Kind.VO: none})
    table = tables.norm_exponents(replace(family, members=(dead, *family.members[1:])))
    assert table.loc["VO"][["exponent", "low", "high"]].isna().all(axis=None)
    assert table.loc["QK"].notna().all(axis=None)


def test_the_spectral_proxy_off_zero_scale_grows_as_its_closed_form():
    """At p* = 0 one head a layer gives L (2 N + 2 N) + sqrt L: exponent 1 in N up to sqrt L."""
    table = tables.growth_exponents(exact(GRID, size=30.0), "N")
    assert table.loc["spectral", "exponent"] == pytest.approx(1, abs=0.01)
    along_depth = tables.growth_exponents(exact(GRID, size=30.0), "L")
    assert along_depth.loc["spectral", "exponent"] == pytest.approx(1, abs=0.01)
    law = tables.growth_by_group(exact(GRID, size=30.0), "L")["better law"]
    assert (law["spectral"] == "power").all()
    assert (law["edelman"] == "exponential").all()
    log_lambda = math.log(1.13 * 30**2 * 30 * (1 + 4 * 30))
    assert along_depth.loc["edelman", "rate"] == pytest.approx(log_lambda, rel=1e-3)


@pytest.mark.parametrize("along", ["N", "L"])
def test_the_ratio_is_of_the_exponents_and_its_ends_are_fiellers(small, along):
    exponents = tables.growth_exponents(small.family, along)
    table = tables.growth_ratio(small.family, along, level=0.6)
    assert table.index.tolist() == ["edelman", "trauger_tewari"]
    members = small.family.members
    sizes = np.array([[s.hidden_size, s.num_layers] for s in members])
    x, fixed = sizes.T if along == "N" else sizes.T[::-1]
    by_name = {n: np.array([logs(small, s, PAPER)[n] for s in members]) for n in PROXIES}
    for name, row in table.iterrows():
        ratio = exponents.loc[name, "exponent"] / exponents.loc["spectral", "exponent"]
        assert row["ratio"] == pytest.approx(ratio, rel=1e-9)
        for end, side in ((row["low"], 1), (row["high"], -1)):
            difference = by_name[name] - end * by_name["spectral"]
            slope, half, *_ = dummy_fit(np.log(x), fixed, difference, 0.6)
            assert slope == pytest.approx(side * half, rel=1e-6)


def test_two_models_have_no_exponent():
    pair = exact([(6, 384), (8, 512)], size=2.0)
    for along in ("N", "L"):
        assert tables.proxy_growth(pair, along).notna().sum().sum() == 6  # each its own start
        for fit in (tables.growth_exponents, tables.growth_ratio):
            with pytest.raises(DomainError, match="at least 3 sizes"):
                fit(pair, along)
    with pytest.raises(DomainError, match="'N' or 'L'"):
        tables.proxy_growth(pair, "H")


def test_sizes_lists_every_member(small):
    table = tables.sizes(small.family, CONSISTENT)
    for spectra, (name, row) in zip(small.family.members, table.iterrows(), strict=True):
        layers = small.layers[spectra.model, 30]
        rows, _, expected = analyse(layers, spectra.num_heads, CONSISTENT)
        assert name == spectra.model
        sizes = (spectra.num_layers, spectra.hidden_size, spectra.num_heads)
        assert tuple(row[["L", "N", "H"]]) == sizes
        for proxy, value in expected.items():
            assert row[f"log10 {proxy}"] == pytest.approx(value / math.log(10), abs=1e-9)
        ratio = (expected["edelman"] - expected["spectral"]) / math.log(10)
        assert row["log10 ratio"] == pytest.approx(ratio, abs=1e-9)
        off = sum(r["p_star"] > 0 for r in rows.values()) / len(rows)
        assert row["share of p* > 0"] == pytest.approx(off)
    shares = table["share of p* > 0"]
    assert shares.min() < shares.max()
    assert shares.between(0.01, 0.99).any()  # the fixture holds models of both sorts of matrix


def test_a_model_of_zeros_has_no_share(nothing):
    table = tables.sizes(Family("none", "zeros", (nothing,)))
    assert math.isnan(table["share of p* > 0"].iloc[0])
    assert table["log10 edelman"].iloc[0] == 0


def test_parts_where_a_layer_passes_nothing_on(nothing):
    """NaN, and no warning of numpy's."""
    parts = tables.growth_parts(Family("f", "title", (nothing,)))
    assert parts["proxy"].item() == 0.0
    assert parts[["accumulation", "one"]].isna().all(axis=None)
