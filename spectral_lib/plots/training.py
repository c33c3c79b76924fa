"""Figures of training: initial beside trained, the way between, and the losses.

Each function draws the table of the same name in :mod:`spectral_lib.tables`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from spectral_lib.notation import Kind
from spectral_lib.plots.figure import (
    KIND_LABEL,
    Plot,
    grid_of,
    kind_look,
    label,
    legend_above,
    looks,
    panels,
    ticks_at,
)

if TYPE_CHECKING:
    import pandas as pd


#: Names of the proxies where there is no room for those of PROXY_LABEL.
_SHORT = {"spectral": "spectral", "edelman": "(2,1) norms", "trauger_tewari": "(1,1) norms"}


def training_effect(table: pd.DataFrame) -> Plot:
    """Draw the members' quantities against L, initial (open, dashed) and trained (filled).

    A line a width. Above 0 in the second panel the norm-based proxy is the larger one.
    """
    drawn = {
        "log10 alpha, first layer": table["log10 alpha"],
        "log10 of Edelman et al. / spectral": table["log10 edelman"] - table["log10 spectral"],
        "share of matrices with p* > 0": table["share of p* > 0"],
        **{f"stable rank, {KIND_LABEL[k]}": table[f"stable rank {k}"] for k in Kind},
    }
    figure, axes = grid_of(len(drawn), height=2.1, sharex=True)
    widths = table.index.unique("N")
    for axis, (title, values) in zip(axes, drawn.items(), strict=True):
        for width, look in zip(widths, looks(), strict=False):
            curves = values.xs(width, level="N").sort_index()
            axis.plot(
                curves["initial"],
                **look | {"linestyle": "--"},
                markerfacecolor="white",
                linewidth=1,
            )
            axis.plot(curves["trained"], **look | {"linestyle": "-"}, label=f"N = {width}")
        axis.set_title(title, fontsize=10)
        ticks_at(axis.xaxis, table.index.unique("L"))
    for axis in axes[:2]:
        axis.axhline(0, color="black", linewidth=0.8)
    for axis in axes[2:3]:
        axis.set_ylim(-0.05, 1.05)
    label(figure, "L", "")
    legend_above(figure, axes[0], ncols=4, title="filled: trained; open: initial weights")
    return figure


def training_history(table: pd.DataFrame) -> Plot:
    """Draw one model's quantities by training step, on an axis that is linear up to the second."""
    figure, axes = panels(columns=2, rows=2, width=6.4, height=2.6, sharex=True)
    look = next(looks())
    axes[0].plot(table["log10 alpha"], **look)
    axes[0].set_title("log10 alpha, first layer", fontsize=10)
    for (proxy, name), each in zip(_SHORT.items(), looks(), strict=False):
        axes[1].plot(table[f"log10 {proxy}"], label=name, **each)
    axes[1].set_title("log10 of the proxies", fontsize=10)
    axes[2].plot(table["share of p* > 0"], **look)
    axes[2].set_title("share of matrices with p* > 0", fontsize=10)
    axes[2].set_ylim(-0.05, 1.05)
    for kind in Kind:
        axes[3].plot(table[f"stable rank {kind}"], **kind_look(kind))
    axes[3].set_title("stable rank, median", fontsize=10)
    axes[3].set_ylim(0, None)
    for axis in (axes[1], axes[3]):
        axis.legend(frameon=False, fontsize=8)
    _step_axis(axes[-1], table.index)
    label(figure, "training step", "")
    return figure


def loss_curves(table: pd.DataFrame, unigram_entropy: float | None = None) -> Plot:
    """Draw held-out losses by training step: a panel a depth, a line a width.

    Parameters
    ----------
    table
        That of :func:`spectral_lib.tables.loss_curves`.
    unigram_entropy
        Smallest loss of one distribution for every place, in nats; drawn as a line.
    """
    depths, widths = table.columns.unique("L"), sorted(table.columns.unique("N"))
    figure, axes = grid_of(len(depths), height=2.1, sharex=True, sharey=True)
    for axis, depth in zip(axes, depths, strict=True):
        if unigram_entropy is not None:
            axis.axhline(unigram_entropy, color="black", linewidth=1)
        for width, look in zip(widths, looks(), strict=False):
            if (depth, width) in table.columns:
                curve = table[depth, width].replace(math.inf, math.nan).dropna()
                axis.plot(curve, label=f"N = {width}", markevery=0.2, **look)
        axis.set_title(f"L = {depth}", fontsize=10)
    title = None if unigram_entropy is None else "black line: unigram entropy"
    label(figure, "training step", "held-out loss (nats)")
    fullest = max(axes, key=lambda axis: len(axis.get_legend_handles_labels()[0]))
    legend_above(figure, fullest, ncols=4, title=title)
    return figure


def card(table: pd.DataFrame) -> Plot:
    """Draw by how much each model's all-masked loss is below the unigram entropy, against L."""
    figure, (axis,) = panels(width=6.4, height=3.0)
    for (width, models), look in zip(table.groupby("N"), looks(), strict=False):
        axis.plot(models["L"], models["below unigram"], label=f"N = {width}", **look)
    axis.axhline(0, color="black", linewidth=0.8)
    ticks_at(axis.xaxis, sorted(table["L"].unique()))
    axis.set(xlabel="L", ylabel="unigram entropy - all-masked loss (nats)")
    legend_above(figure, axis, ncols=4)
    return figure


def _step_axis(axis: Axes, steps: pd.Index) -> None:
    later = [step for step in steps if step > 0]
    if later:
        axis.set_xscale("symlog", linthresh=later[0], linscale=0.5)
        axis.set_xlim(left=-0.2 * later[0])
    ticks_at(axis.xaxis, list(steps))
