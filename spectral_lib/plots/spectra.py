"""Figures of one model: an overview, its margins, its growth, its norms, and rescaling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from spectral_lib.analysis import Analysis
from spectral_lib.matrices import Array
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.plots.figure import (
    COLOURS,
    KIND_COLOUR,
    KIND_LABEL,
    KIND_STYLE,
    PROXY_LABEL,
    STYLES,
    Plot,
    drawable,
    grid_of,
    kind_look,
    label,
    legend_above,
    log_y_ticks,
    panels,
    whole_ticks,
)
from spectral_lib.proxies import log_rank_margin
from spectral_lib.transformer import TransformerSpectra

if TYPE_CHECKING:
    import pandas as pd


def rank_margins(spectra: TransformerSpectra, convention: Convention = PAPER) -> Plot:
    """Draw log10 of scale over threshold for every matrix; p* = 0 where it is at least 0."""
    figure, (axis,) = panels(height=3.0)
    for kind, margins in log_rank_margin(spectra, convention).items():
        layers = np.broadcast_to(np.arange(spectra.num_layers)[:, None], margins.shape)
        axis.plot(
            layers.ravel() + 0.12 * (list(Kind).index(kind) - 1.5),
            margins.ravel() / math.log(10),
            alpha=0.7,
            **kind_look(kind) | {"linestyle": "none"},
        )
    axis.axhline(0, color="black", linewidth=1)
    axis.set(xlabel="layer", ylabel="log10 of scale / threshold")
    axis.set_xticks(range(spectra.num_layers))
    legend_above(figure, axis)
    return figure


def overview(analysis: Analysis) -> Plot:
    """Draw spectra by kind above, contribution curves by kind below."""
    figure, axes = panels(columns=2, rows=2)
    spectra = analysis.spectra
    for axis, kinds in zip(axes[:2], ((Kind.QK, Kind.VO), (Kind.FF_IN, Kind.FF_OUT)), strict=True):
        _decay(axis, spectra, kinds)
        if axis.lines:  # none where every matrix of these kinds is zero
            axis.legend(frameon=False)
    for axis, kinds in zip(axes[2:], ((Kind.QK, Kind.VO), (Kind.FF_IN, Kind.FF_OUT)), strict=True):
        for kind in kinds:
            _contributions(axis, analysis, kind)
        axis.set_ylabel("contribution, relative to p = 0 (log10)")
    sizes = f"L {spectra.num_layers}, N {spectra.hidden_size}, H {spectra.num_heads}"
    figure.suptitle(f"{drawable(spectra.model)}: {sizes}", parse_math=False)
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
        linewidth=0.7 if kind.per_head else 1.4,  # one matrix a layer must be seen as well
        alpha=0.6 if kind.per_head else 0.9,
    )
    axis.set_xlabel("p")


def growth_in_depth(growth: dict[str, pd.DataFrame]) -> Plot:
    """Draw log10 of each proxy against the number of layers kept, a panel for each model."""
    figure, axes = panels(columns=len(growth), sharey=True)
    for axis, (model, table) in zip(axes, growth.items(), strict=True):
        for column, colour, style in zip(table, COLOURS, STYLES, strict=False):
            axis.plot(
                table.index,
                table[column],
                color=colour,
                linestyle=style,
                marker="o",
                markersize=4,
                label=PROXY_LABEL[column],
            )
        axis.set(title=model, xlabel="layers kept")
        axis.set_xticks(table.index)
    axes[0].set_ylabel("log10 of the proxy")
    legend_above(figure, axes[0])
    return figure


def norms_by_layer(norms: pd.DataFrame) -> Plot:
    """Draw the norms of :func:`spectral_lib.tables.norms_by_layer` against the layer."""
    figure, axes = grid_of(3, sharex=True)
    for axis, name in zip(axes, ("spectral", "(2,1)", "(1,1)"), strict=True):
        for kind in Kind:
            axis.plot(norms.index, norms[kind.value, name], **kind_look(kind))
        axis.set_title(f"{name} norm", fontsize=10)
        log_y_ticks(axis)
        whole_ticks(axis.xaxis)
    label(figure, "layer", "mean over heads")
    legend_above(figure, axes[0])
    return figure


def rescaling(table: pd.DataFrame) -> Plot:
    """Draw the proxies and the share of matrices with p* > 0 against the factor on every weight."""
    figure, (above, below) = panels(rows=2, height=2.3, sharex=True)
    for column, colour, style in zip(PROXY_LABEL, COLOURS, STYLES, strict=False):
        above.plot(
            table.index, table[column], color=colour, linestyle=style, label=PROXY_LABEL[column]
        )
    above.set(ylabel="log10 of the proxy", xscale="log")
    above.legend(frameon=False)
    below.plot(table.index, table["share of p* > 0"], color=COLOURS[0])
    below.set(xlabel="factor on every weight", ylabel="share of p* > 0")
    return figure
