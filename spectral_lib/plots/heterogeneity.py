"""Figures of how unlike the kinds are, of the convention's choices, and of p* leaving 0.

Each function draws the table of the same name in :mod:`spectral_lib.tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spectral_lib.notation import Kind
from spectral_lib.plots.figure import (
    COLOURS,
    KIND_LABEL,
    MARKERS,
    PROXY_LABEL,
    Plot,
    kind_look,
    legend_above,
    log_y_ticks,
    panels,
    whole_ticks,
)

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = {
    "stable rank": "stable rank",
    "effective rank": "effective rank",
    "decay exponent": "decay exponent a",
}


def heterogeneity(table: pd.DataFrame) -> Plot:
    """Draw stable rank, effective rank and decay exponent by layer: a line a kind.

    Lines are medians over heads, bars the range over them.
    """
    figure, axes = panels(rows=len(_MEASURES), width=6.4, height=2.0, sharex=True)
    layers = table.index.unique("layer")
    for axis, (measure, name) in zip(axes, _MEASURES.items(), strict=True):
        for offset, kind in enumerate(Kind):
            rows = table.loc[kind.value]
            middle = rows[measure]
            reach = np.abs([middle - rows[f"{measure} min"], rows[f"{measure} max"] - middle])
            place = np.asarray(layers) + 0.1 * (offset - 1.5)
            axis.errorbar(place, middle, reach, elinewidth=1, **kind_look(kind))
        axis.set_ylabel(name)
    for axis in axes[:2]:
        log_y_ticks(axis)
    whole_ticks(axes[-1].xaxis)
    axes[-1].set_xlabel("layer")
    legend_above(figure, axes[0])
    return figure


def convention_effects(table: pd.DataFrame) -> Plot:
    """Draw by how many powers of ten each choice moves each proxy, on a symmetric log axis."""
    figure, (axis,) = panels(width=6.4, height=0.9 + 0.42 * len(table))
    rows = np.arange(len(table))
    for offset, (proxy, name) in enumerate(PROXY_LABEL.items()):
        axis.plot(
            table[f"log10 {proxy}"],
            rows + 0.22 * (offset - 1),
            linestyle="none",
            marker=MARKERS[offset],
            markersize=5,
            color=COLOURS[offset],
            label=name,
        )
    axis.set_xscale("symlog", linthresh=0.01, linscale=0.5)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.axvline(0, color="black", linewidth=0.8)
    names = [f"{choice}: {row['from']} to {row['to']}" for choice, row in table.iterrows()]
    axis.set_yticks(rows, names, fontsize=9)
    axis.set_ylim(len(table) - 0.5, -0.5)
    axis.set_xlabel("change of log10 of the proxy")
    legend_above(figure, axis, ncols=1)
    return figure


def leaving_zero(table: pd.DataFrame) -> Plot:
    """Draw the factors below which the first, half and all matrices of a kind leave p* = 0."""
    factors = table.columns.unique("factor")
    figure, axes = panels(rows=len(factors), width=6.4, height=2.1)
    names = [KIND_LABEL.get(kind, "all matrices") for kind in table.index]
    for axis, factor in zip(axes, factors, strict=True):
        for row, kind in enumerate(table.index):
            found = table.loc[kind, factor]
            shown = found[np.isfinite(found)]
            axis.plot(shown, np.full(len(shown), row), color="#8a8f98", linewidth=1.2)
        for mark, (milestone, colour) in enumerate(zip(found.index, COLOURS, strict=False)):
            axis.plot(
                table[factor, milestone].where(np.isfinite(table[factor, milestone])),
                range(len(table)),
                linestyle="none",
                marker=MARKERS[mark],
                color=colour,
                label=milestone,
            )
        axis.axvline(0, color="black", linewidth=0.8)
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlabel(factor)
    legend_above(figure, axes[0], ncols=3, title="matrices that have left p* = 0")
    return figure
