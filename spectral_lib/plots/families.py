"""Figures of a family: decay, contribution curves, p*, norms and proxies against N and L.

Each function draws the table of the same name in :mod:`spectral_lib.tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from spectral_lib.notation import Kind
from spectral_lib.plots.figure import (
    KIND_COLOUR,
    KIND_LABEL,
    PROXY_LABEL,
    Plot,
    grid_of,
    kind_look,
    label,
    legend_above,
    log_y,
    log_y_ticks,
    looks,
    panels,
    ticks_at,
    whiskers,
    whole_ticks,
)

if TYPE_CHECKING:
    import pandas as pd


def spectral_decay(table: pd.DataFrame) -> Plot:
    """Draw sigma_j / sigma_1 against j on logarithmic axes: a panel a layer, a line a kind."""
    layers = table.columns.unique("layer")
    figure, axes = grid_of(len(layers), sharex=True, sharey=True)
    for axis, layer in zip(axes, layers, strict=True):
        for kind in Kind:
            curve = table[kind.value, layer]
            look = kind_look(kind) | {"marker": ""}
            axis.plot(table.index, curve.where(curve > 0), **look)
        axis.set_title(f"layer {layer}", fontsize=10)
        axis.set_xscale("log")
        log_y(axis)
        ticks_at(axis.xaxis, [2**k for k in range(0, int(table.index[-1]).bit_length(), 2)])
    label(figure, "j", "singular value / largest")
    legend_above(figure, axes[0])
    return figure


def contribution_curves(table: pd.DataFrame) -> Plot:
    """Draw log10 of contribution over that at p = 0 against p: a panel a kind, a line a head.

    Later layers are darker; the first and the last are named at the curves' ends.
    """
    layers = table.columns.unique("layer")
    first, last = layers[0], layers[-1]
    paler = 0.25 * (last - first) + 0.5  # the palest shades are left out: they fade on white
    shade = ScalarMappable(Normalize(first - paler, last + 0.5), "viridis_r")
    figure, axes = panels(columns=2, rows=2, width=6.4, height=2.7, sharex=True)
    for axis, kind in zip(axes, Kind, strict=True):
        for layer in layers:
            curves = table[kind.value, layer].to_numpy()
            axis.plot(table.index, curves, color=shade.to_rgba(layer), linewidth=0.9, alpha=0.8)
        for layer in {first, last}:
            end = np.median(table[kind.value, layer].iloc[-1])
            if np.isfinite(end):
                axis.annotate(
                    f"layer {layer}",
                    (table.index[-1], end),
                    xytext=(-2, 3),
                    textcoords="offset points",
                    ha="right",
                    fontsize=8,
                )
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set_title(KIND_LABEL[kind], fontsize=10)
    bar = figure.colorbar(shade, ax=axes, label="layer", pad=0.02)
    bar.ax.set_ylim(first - 0.5, last + 0.5)
    whole_ticks(bar.ax.yaxis)
    label(figure, "Schatten index p", "contribution, relative to p = 0 (log10)")
    return figure


def p_star_histogram(table: pd.DataFrame) -> Plot:
    """Draw how many matrices have their smallest contribution at each p: a panel a kind."""
    figure, axes = panels(columns=2, rows=2, width=6.4, height=2.3, sharex=True, sharey="row")
    for axis, kind in zip(axes, Kind, strict=True):
        counts = table[kind.value]
        taken = counts[counts > 0]
        axis.vlines(taken.index, 0, taken, color=KIND_COLOUR[kind], linewidth=2)
        axis.plot(taken.index, taken, "o", color=KIND_COLOUR[kind], markersize=4)
        axis.set_title(f"{KIND_LABEL[kind]}: {counts.sum()}", fontsize=10)
        axis.set(xlim=(-0.08, 2.08), ylim=(0, None))
    label(figure, "p*", "matrices")
    return figure


def norm_scaling(table: pd.DataFrame) -> Plot:
    """Draw mean norms against N on logarithmic axes: a panel a norm, a line a kind."""
    norms = table.columns.unique("norm")
    figure, axes = grid_of(len(norms), sharex=True)
    for axis, norm in zip(axes, norms, strict=True):
        for kind in Kind:
            axis.plot(table.index, table[kind.value, norm], **kind_look(kind))
        axis.set_title(f"{norm} norm", fontsize=10)
        axis.set_xscale("log")
        log_y_ticks(axis)
        ticks_at(axis.xaxis, table.index)
    label(figure, "N", "mean over layers and heads")
    legend_above(figure, axes[0])
    return figure


def norm_exponents(table: pd.DataFrame) -> Plot:
    """Draw the exponents of N in the norms with their intervals: a panel a norm."""
    norms = table.index.unique("norm")
    figure, axes = grid_of(len(norms), height=1.8, sharex=True, sharey=True)
    for axis, norm in zip(axes, norms, strict=True):
        whiskers(axis, table.xs(norm, level="norm"), "exponent", dict(KIND_LABEL))
        axis.set_title(f"{norm} norm", fontsize=10)
    label(figure, "exponent of N", "")
    return figure


def proxy_growth(table: pd.DataFrame, proxies: Sequence[str] = ("spectral", "edelman")) -> Plot:
    """Draw log10 of the proxies, each from 0: a panel a value of the fixed size.

    Parameters
    ----------
    table
        That of :func:`spectral_lib.tables.proxy_growth`.
    proxies
        Those to draw; the paper's figures show these two.
    """
    along, fixed = table.index.name, table.columns.names[1]
    values = table.columns.unique(fixed)
    figure, axes = grid_of(len(values), height=2.1, sharex=True, sharey=True)
    for axis, value in zip(axes, values, strict=True):
        for proxy, look in zip(proxies, looks(), strict=False):
            axis.plot(table[proxy, value].dropna(), label=PROXY_LABEL[proxy], **look)
        axis.set_title(f"{fixed} = {value}", fontsize=10)
        ticks_at(axis.xaxis, table.index)
    label(figure, along, f"log10 of proxy over\nproxy at smallest {along}")
    legend_above(figure, axes[0])
    return figure


def growth_exponents(table: pd.DataFrame) -> Plot:
    """Draw the fitted exponents with their intervals."""
    figure, (axis,) = panels(width=6.4, height=0.8 + 0.36 * len(table))
    whiskers(axis, table, "exponent", PROXY_LABEL)
    axis.set_xlabel("exponent")
    return figure


def growth_ratio(table: pd.DataFrame) -> Plot:
    """Draw how many times the spectral exponent the norm-based ones are, with intervals."""
    figure, (axis,) = panels(width=6.4, height=0.8 + 0.4 * len(table))
    whiskers(axis, table, "ratio", PROXY_LABEL)
    axis.axvline(1, color="black", linewidth=1)
    axis.set_xlabel("exponent / exponent of the spectral proxy")
    return figure


def sizes(table: pd.DataFrame) -> Plot:
    """Draw log10 of the norm-based proxy over the spectral one as a map over L and N."""
    grid = table.pivot(index="L", columns="N", values="log10 ratio")
    figure, (axis,) = panels(width=5.6, height=1.2 + 0.42 * len(grid))
    axis.grid(visible=False)
    shown = axis.imshow(grid.to_numpy(), cmap="cividis", aspect="auto", origin="lower")
    for (row, column), value in np.ndenumerate(grid.to_numpy()):
        if np.isfinite(value):
            ink = "white" if np.asarray(shown.norm(value)) < 0.6 else "black"
            axis.text(column, row, f"{value:.1f}", ha="center", va="center", color=ink)
    axis.set_xticks(range(grid.shape[1]), grid.columns)
    axis.set_yticks(range(grid.shape[0]), grid.index)
    axis.set(xlabel="N", ylabel="L")
    axis.set_title("log10 of Edelman et al. / spectral", fontsize=10)
    figure.colorbar(shown, label="log10")
    return figure
