"""Propositions about the contribution curve, and the grid it is evaluated on."""

import math

import numpy as np
import pytest

import spectral_lib
from spectral_lib import CONSISTENT, PAPER, Kind, TransformerSpectra, proxies
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Spectrum
from tests import naive


def power_law_model(rng, scale, num_layers=2, hidden=16, num_heads=2):
    """Spectra with random power-law decay and random rank, at a common scale."""
    by_kind = {}
    for kind in Kind:
        heads = num_heads if kind.per_head else 1
        inner = hidden if kind.per_head else 4 * hidden
        q = hidden // num_heads if kind.per_head else hidden
        decay = rng.uniform(0, 3, (num_layers, heads, 1))
        values = scale * np.arange(1.0, q + 1) ** -decay
        values[..., rng.integers(1, q + 1) :] = 0
        ones = np.ones((num_layers, heads))
        shape = (inner, hidden) if kind is Kind.FF_OUT else (hidden, inner)
        by_kind[kind] = Spectrum(values, shape, ones, ones)
    return TransformerSpectra("power laws", hidden, num_heads, "gelu", by_kind)


@pytest.mark.statement("prop-rank-threshold")
@pytest.mark.parametrize("convention", [PAPER, CONSISTENT], ids=["paper", "consistent"])
def test_p_star_leaves_zero_exactly_below_the_threshold(convention):
    """On a fine grid, p* = 0 if and only if the margin is at least 0; both cases occur often."""
    rng = np.random.default_rng(0)
    fine = np.concatenate([[0.0], np.geomspace(1e-5, 2, 200)])
    above = below = 0
    for scale in np.geomspace(0.02, 3, 30):
        spectra = power_law_model(rng, scale)
        p_star = proxies.contribution_curves(spectra, convention, p=fine).p_star
        for kind, margin in proxies.log_rank_margin(spectra, convention).items():
            clear = np.abs(margin) > 1e-2
            assert ((p_star[kind] == 0) == (margin >= 0))[clear].all()
            above += (clear & (margin >= 0)).sum()
            below += (clear & (margin < 0)).sum()
    assert min(above, below) > 30


@pytest.mark.statement("prop-rank-threshold")
def test_the_threshold_is_not_a_little_higher_or_lower():
    """A threshold perturbed by two per cent fails: the curve's slope at 0 changes sign there."""
    spectra = power_law_model(np.random.default_rng(1), 1.0)
    spectrum = spectra[Kind.FF_OUT][-1, 0]
    rank, size = int(spectrum.rank), spectra.hidden_size
    mean = math.exp(np.log(spectrum.singular_values[:rank]).mean())
    threshold = math.sqrt(rank / size) / mean
    for factor, leaves in ((1.02, False), (0.98, True)):
        scale, tiny = factor * threshold, 1e-6
        curve = [
            float(spectrum.log_schatten(p) + p * math.log(scale) + (p + 1) * math.log(size))
            / (p + 2)
            for p in (0.0, tiny)
        ]
        assert (curve[1] < curve[0]) == leaves


def test_contributions_are_quasi_convex():
    """No curve rises and then falls."""
    rng = np.random.default_rng(2)
    for scale in np.geomspace(0.05, 2, 10):
        curves = proxies.contribution_curves(power_law_model(rng, scale), p=np.linspace(0, 2, 101))
        for array in curves.log_contribution.values():
            rises = np.diff(array, axis=-1) > 1e-12
            assert (np.diff(rises.astype(int), axis=-1) >= 0).all()


def test_ties_go_to_the_smallest_p():
    """One singular value 1 at scale 1 and width 1: every p gives the same contribution."""
    one = np.ones((1, 1))
    by_kind = {kind: Spectrum(one[..., None], (1, 1), one, one) for kind in Kind}
    spectra = TransformerSpectra("tie", 1, 1, "gelu", by_kind)
    curves = proxies.contribution_curves(spectra)
    flat = curves.log_contribution[Kind.FF_OUT][0, 0]
    assert np.ptp(flat) < 1e-15
    assert curves.p_star[Kind.FF_OUT] == 0


@pytest.mark.parametrize(("depth", "size", "m"), [(6, 384, 12), (1, 1, 1), (12, 768, 19)])
def test_the_grid_of_the_paper(depth, size, m):
    grid = proxies.p_grid(depth, size)
    assert len(grid) == 2 * m + 1
    assert grid[0] == 0
    assert grid[-1] == 2
    assert np.diff(grid) == pytest.approx(1 / m)


def test_sizes_of_the_grid_must_be_admissible():
    with pytest.raises(DomainError, match="at least 1"):
        proxies.p_grid(0, 4)


def test_an_index_outside_the_range_is_refused():
    spectra = power_law_model(np.random.default_rng(0), 1.0)
    with pytest.raises(DomainError, match="must lie in"):
        proxies.contribution_curves(spectra, p=np.array([2.5]))


def test_cut_and_rescaled_encoders_agree_with_the_naive_route(tmp_path):
    """The first layers are those of a shallower model; a factor acts on every weight."""
    layers = naive.random_layers(np.random.default_rng(5), 3, 8, 20)
    spectra = spectral_lib.load(naive.write_bert(tmp_path / "whole", layers, num_heads=2))
    changed = [{name: 0.3 * w for name, w in layer.items()} for layer in layers[:2]]
    _, _, *expected = naive.analyse(changed, 2, PAPER, PAPER.l_phi)
    found = spectral_lib.analyze(spectra.first_layers(2).rescaled(0.3))
    assert [p.value for p in found.proxies.values()] == pytest.approx(expected, rel=1e-9)
    for bad in (0, 4):
        with pytest.raises(DomainError, match="count must lie"):
            spectra.first_layers(bad)
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(DomainError, match="factor must be"):
            spectra.rescaled(bad)


def test_frames_have_a_row_for_every_matrix():
    spectra = power_law_model(np.random.default_rng(3), 0.3)
    proxy = proxies.spectral(spectra)
    frame = proxy.to_frame()
    assert list(frame.columns) == ["layer", "head", "kind", "p_star", "log_contribution"]
    total = np.exp(frame.log_contribution).sum() + math.sqrt(spectra.num_layers)
    assert total == pytest.approx(proxy.value)
    curves = proxy.curves.to_frame()
    assert len(curves) == spectra.num_matrices * len(proxy.curves.p)
    smallest = curves.groupby(["layer", "kind", "head"], dropna=False).log_contribution.min()
    assert np.exp(smallest).sum() + math.sqrt(2) == pytest.approx(proxy.value)
    assert len(proxies.edelman(spectra).to_frame()) == spectra.num_matrices
