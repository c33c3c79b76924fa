"""Figures of one model: its spectra, its contribution curves, its p*."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from spectral_lib.analysis import Analysis
from spectral_lib.matrices import Array
from spectral_lib.notation import Kind
from spectral_lib.plots.figure import KIND_COLOUR, KIND_LABEL, KIND_STYLE, Plot, panels
from spectral_lib.transformer import TransformerSpectra


def spectral_decay(spectra: TransformerSpectra) -> Plot:
    """Draw sigma_j / sigma_1 against j / q by kind: the median over matrices and the full range."""
    figure, (axis,) = panels()
    _decay(axis, spectra)
    axis.legend(frameon=False)
    return figure


def contribution_curves(analysis: Analysis) -> Plot:
    """Draw every matrix's contribution against p, relative to its value at p = 0, by kind."""
    figure, axes = panels(columns=4, height=2.8, sharey=True)
    for axis, kind in zip(axes, Kind, strict=True):
        _contributions(axis, analysis, kind)
        axis.set_title(KIND_LABEL[kind], fontsize=10)
    axes[0].set_ylabel("contribution, relative to p = 0 (log10)")
    return figure


def p_star_counts(analysis: Analysis) -> Plot:
    """Draw how many matrices of each kind attain their minimum at each p of the grid."""
    figure, (axis,) = panels()
    grid = analysis.spectral.curves.p
    width = 0.8 * (grid[1] - grid[0]) / len(Kind)
    for offset, kind in enumerate(Kind):
        index = analysis.spectral.curves.p_star_index[kind].ravel()
        counts = np.bincount(index, minlength=len(grid))
        axis.bar(
            grid + (offset - 1.5) * width,
            counts,
            width,
            label=KIND_LABEL[kind],
            color=KIND_COLOUR[kind],
        )
    axis.set(xlabel="p*", ylabel="matrices")
    axis.legend(frameon=False)
    return figure


def overview(analysis: Analysis) -> Plot:
    """Draw spectra by kind above, contribution curves by kind below."""
    figure, axes = panels(columns=2, rows=2)
    spectra = analysis.spectra
    for axis, kinds in zip(axes[:2], ((Kind.QK, Kind.VO), (Kind.FF_IN, Kind.FF_OUT)), strict=True):
        _decay(axis, spectra, kinds)
        axis.legend(frameon=False)
    for axis, kinds in zip(axes[2:], ((Kind.QK, Kind.VO), (Kind.FF_IN, Kind.FF_OUT)), strict=True):
        for kind in kinds:
            _contributions(axis, analysis, kind)
        axis.set_ylabel("contribution, relative to p = 0 (log10)")
    figure.suptitle(
        f"{spectra.model}: L {spectra.num_layers}, N {spectra.hidden_size}, H {spectra.num_heads}"
    )
    return figure


def _decay(axis: Axes, spectra: TransformerSpectra, kinds: Any = Kind) -> None:
    for kind in kinds:
        spectrum = spectra[kind]
        values = spectrum.singular_values.reshape(-1, spectrum.singular_values.shape[-1])
        values = values[values[:, 0] > 0]
        if len(values) == 0:
            continue
        relative = values / values[:, :1]
        position = np.arange(1, values.shape[1] + 1) / values.shape[1]
        axis.plot(
            position,
            np.median(relative, axis=0),
            color=KIND_COLOUR[kind],
            linestyle=KIND_STYLE[kind],
            label=f"{KIND_LABEL[kind]} (q = {values.shape[1]})",
        )
        axis.fill_between(
            position,
            relative.min(axis=0),
            relative.max(axis=0),
            color=KIND_COLOUR[kind],
            alpha=0.15,
        )
    axis.set_yscale("log")
    axis.set(xlabel="j / q", ylabel="singular value / largest")


def _contributions(axis: Axes, analysis: Analysis, kind: Kind) -> None:
    curves: Array = analysis.spectral.curves.log_contribution[kind]
    flat = curves.reshape(-1, curves.shape[-1])
    flat = flat[np.isfinite(flat).all(axis=1)]
    axis.plot(
        analysis.spectral.curves.p,
        (flat - flat[:, :1]).T / math.log(10),
        color=KIND_COLOUR[kind],
        linestyle=KIND_STYLE[kind],
        linewidth=0.7,
        alpha=0.6,
    )
    axis.set_xlabel("p")
