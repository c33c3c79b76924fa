"""The phase diagram of p*: exact boundaries, level lines, real layers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import spectral_lib
from spectral_lib.errors import DomainError
from spectral_lib.notation import PAPER, Kind
from spectral_lib.proxies import contribution_curves, log_rank_margin
from spectral_lib.regimes import (
    fit_decay,
    layer_coordinates,
    log_level,
    p_star,
    phase_diagram,
    power_law,
)
from tests import naive


def contribution(logs: np.ndarray, size: int, log_scale: float, p: np.ndarray) -> np.ndarray:
    """Return log F(p) as the statement writes it, plain sums."""
    schatten = np.exp(p[:, None] * logs).sum(axis=1)
    return (np.log(schatten) + p * log_scale + (p + 1) * math.log(size)) / (p + 2)


@pytest.mark.parametrize("decay", [0.0, 0.1, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("rank", [3, 60])
def test_boundaries_are_those_of_the_statement(decay: float, rank: int) -> None:
    size, logs = 80, power_law(decay, rank)
    sigma = np.exp(logs)
    threshold = math.sqrt(rank / size) / math.exp(logs.mean())
    assert float(log_level(logs, size, 0.0)) == pytest.approx(math.log(threshold), abs=1e-12)
    weights = sigma**2 / (sigma**2).sum()
    other = math.sqrt((sigma**2).sum() / size) / math.exp((2 * weights * logs).sum())
    assert float(log_level(logs, size, 2.0)) == pytest.approx(math.log(other), abs=1e-12)
    if rank == size:
        assert math.log(threshold) == pytest.approx(decay * math.lgamma(size + 1) / size)


def test_power_laws_upper_boundary_is_a_factorial() -> None:
    level = float(log_level(power_law(0.7, 50), 50, 0.0))
    assert level == pytest.approx(0.7 * math.lgamma(51) / 50, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_p_star_minimises_the_contribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 40))
    logs = -rng.uniform(0, 2) * np.log(np.arange(1, rank + 1)) + rng.normal(0, 0.3, rank)
    size = rank + int(rng.integers(0, 40))
    grid = np.linspace(0, 2, 4001)
    ends = [float(log_level(logs, size, p)) for p in (0.0, 2.0)]
    assert ends[0] > ends[1]
    for scale in np.linspace(ends[1] - 1, ends[0] + 1, 9).tolist():
        found = float(p_star(logs, size, scale))
        curve = contribution(logs, size, scale, grid)
        at_found = contribution(logs, size, scale, np.array([found]))[0]
        assert at_found <= curve.min() + 1e-12
        assert abs(found - grid[curve.argmin()]) < 2e-3
        assert (found == 0) == (scale >= ends[0])
        assert (found == 2) == (scale <= ends[1])


def test_diagram_agrees_with_the_minimiser_and_its_boundaries() -> None:
    scales, decays = np.linspace(-4, 8, 49), np.linspace(0, 2, 11)
    found = phase_diagram(64, scales, decays)
    exact = p_star(power_law(decays, 64)[:, None], 64, np.broadcast_to(scales, (11, 49)))
    inner = decays > 0  # a flat spectrum jumps; interpolation has nothing to say there
    assert np.abs(found.p_star - exact)[inner].max() < 2e-3
    between = (found.p_star > 0) & (found.p_star < 2)
    inside = (scales > found.log_lower[:, None]) & (scales < found.log_upper[:, None])
    assert np.array_equal(between, inside)
    assert set(found.p_star[0]) == {0.0, 2.0}
    assert (np.diff(found.p_star, axis=1) <= 0).all()  # a larger scale never raises p*
    assert (found.log_upper >= found.log_lower).all()


def test_fit_of_the_decay() -> None:
    logs = power_law(0.7, 200) + 0.4
    fit = fit_decay(logs)
    assert (fit.exponent, fit.log_norm) == (pytest.approx(0.7), pytest.approx(0.4))
    assert (fit.first, fit.last) == (4, 100)
    assert fit.deviation < 1e-12
    bent = logs.copy()
    bent[100:] -= 5
    assert fit_decay(bent).exponent == pytest.approx(0.7)
    assert fit_decay(bent, (0.0, 1.0)).exponent > 1


def small_norm_encoder(folder: Path) -> spectral_lib.TransformerSpectra:
    """Return two layers whose scales lie around 1, with one dead head."""
    layers = naive.random_layers(np.random.default_rng(0), 2, 16, 40)
    layers = [{name: 0.11 * weight for name, weight in layer.items()} for layer in layers]
    layers[0]["value"][:8] = 0
    return spectral_lib.load(str(naive.write_bert(folder, layers, num_heads=2)))


def test_layers_agree_with_the_threshold_and_the_curves(tmp_path: Path) -> None:
    spectra = small_norm_encoder(tmp_path)
    rows = layer_coordinates(spectra, window=(0.0, 1.0))
    assert len(rows) == spectra.num_matrices - 1  # the zero matrix has no place
    margins = log_rank_margin(spectra, PAPER)
    fine = contribution_curves(spectra, PAPER, p=np.linspace(0, 2, 2001))
    assert any(0 < row["p_star"] < 2 for row in rows)
    for row in rows:
        kind, at = row["kind"], (row["layer"], row["head"] or 0)
        margin = margins[kind][at]
        if np.isfinite(margin):
            assert row["log_scale"] - row["log_upper"] == pytest.approx(margin, abs=1e-10)
            assert row["p_star"] == pytest.approx(fine.p_star[kind][at], abs=2e-3)
        else:
            assert kind is Kind.QK


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: log_level([0.0], 4, 2.1), r"p must be in \[0, 2\], got 2.1"),
        (lambda: log_level([0.0], 0, 1.0), "hidden"),
        (lambda: log_level([-np.inf], 4, 1.0), "zero matrix"),
        (lambda: phase_diagram(8, [0.0], [-1.0]), "decay must be finite and >= 0"),
        (lambda: phase_diagram(8, [0.0], [1.0], rank=9), "from 1 to hidden = 8"),
        (lambda: fit_decay(np.zeros(50), (0.5, 0.2)), "window"),
        (lambda: fit_decay(np.zeros(4), (0.0, 0.5)), "at least 3"),
    ],
)
def test_domain_errors(call, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        call()
