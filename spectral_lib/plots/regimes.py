r"""Figures of the comparison chapters: bounds and members, maps of winners, the phase of p*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectral_lib.notation import Kind
from spectral_lib.plots.figure import (
    COLOURS,
    KIND_COLOUR,
    KIND_LABEL,
    KIND_MARKER,
    STYLES,
    Plot,
    legend_above,
    panels,
)
from spectral_lib.regimes.crossovers import WinnerMap
from spectral_lib.regimes.phase import PhaseDiagram
from spectral_lib.regimes.symbolic import Bound, Regime

Array = NDArray[np.float64]

BOUND_LABEL = {
    Bound.SUM: "sum form (paper)",
    Bound.ROOT_SUM_SQUARE: "root-sum-square",
    Bound.EDELMAN: "Edelman et al.",
    Bound.TRAUGER_TEWARI: "Trauger and Tewari",
    Bound.FULL_RANK: "full rank",
    Bound.INTERPOLATED: "$Q_p$",
    Bound.MINIMUM: "min(full rank, $Q_p$)",
}
REGIME_LABEL = {
    Regime.RANK: "rank",
    Regime.FROBENIUS: "Frobenius norm",
    Regime.SPECTRAL: "spectral norm",
    Regime.POWER_LAW: "power law",
}
_AXIS_LABEL = {
    "L": "depth $L$",
    "N": "width $N$",
    "r": "rank $r$",
    "s": "spectral norm $s$",
    "F": "Frobenius norm $F$",
    "a": "decay $a$",
    "p": "index $p$",
}
_BOUND_COLOUR = dict(zip(Bound, COLOURS, strict=False)) | {Bound.MINIMUM: "0.15"}
_BOUND_STYLE = dict(zip(Bound, STYLES, strict=False)) | {Bound.MINIMUM: "-"}
#: Hatches, so that no map speaks by colour alone.
_HATCH = dict(zip(Bound, ("", "///", "...", "xx", "\\\\\\", "++"), strict=False))


def bounds_against(
    name: str, x: ArrayLike, by_panel: Mapping[str, Mapping[Bound, ArrayLike]]
) -> Plot:
    """Draw logs of bounds against a parameter, a panel for each regime or case.

    Parameters
    ----------
    name, x
        Symbol's name and values, ``[X]``.
    by_panel
        For each title the natural logs of the bounds, ``[X]`` each.
    """
    figure, axes = panels(len(by_panel), width=8.5)
    for axis, (title, curves) in zip(axes, by_panel.items(), strict=True):
        for bound, logs in curves.items():
            thick = 3.5 if bound is Bound.MINIMUM else 1.5
            axis.plot(
                np.asarray(x),
                np.exp(np.asarray(logs, dtype=float)),
                color=_BOUND_COLOUR[bound],
                linestyle=_BOUND_STYLE[bound],
                linewidth=thick,
                alpha=0.35 if bound is Bound.MINIMUM else 1.0,
                label=BOUND_LABEL[bound],
            )
        axis.set(title=title, xscale="log", yscale="log", xlabel=_AXIS_LABEL[name])
    axes[0].set_ylabel("bound")
    legend_above(figure, axes[0])
    return figure


def winner_maps(
    maps: Mapping[str, WinnerMap], lines: Mapping[str, ArrayLike] | None = None
) -> Plot:
    """Draw which bound is the smallest over two parameters, a panel a map.

    Parameters
    ----------
    maps
        Maps by title.
    lines
        Crossovers to be drawn over every map: the ordinate over the map's x, by label.
    """
    from matplotlib.patches import Patch

    figure, axes = panels(len(maps), width=8.5, height=3.8)
    seen: list[Bound] = []
    for axis, (title, found) in zip(axes, maps.items(), strict=True):
        for index, bound in enumerate(found.bounds):
            here = found.winner == index
            if not here.any():
                continue
            seen += [bound] if bound not in seen else []
            axis.contourf(
                found.x,
                found.y,
                here.astype(float),
                levels=[0.5, 1.5],
                colors=[_BOUND_COLOUR[bound]],
                hatches=[_HATCH[bound]],
                alpha=0.55,
            )
        for (label, ordinate), style in zip((lines or {}).items(), STYLES, strict=False):
            axis.plot(found.x, np.asarray(ordinate), color="black", linestyle=style, label=label)
        axis.set(
            title=title,
            xscale="log",
            yscale="log",
            xlabel=_AXIS_LABEL[found.x_name],
            ylabel=_AXIS_LABEL[found.y_name],
            xlim=(found.x.min(), found.x.max()),
            ylim=(found.y.min(), found.y.max()),
        )
    patches = [
        Patch(facecolor=_BOUND_COLOUR[b], hatch=_HATCH[b], alpha=0.55, label=BOUND_LABEL[b])
        for b in seen
    ]
    drawn, _ = axes[0].get_legend_handles_labels()
    figure.legend(
        handles=[*patches, *drawn], loc="outside upper center", ncols=3, frameon=False, fontsize=9
    )
    return figure


def phase(
    diagram: PhaseDiagram, layers: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> Plot:
    r"""Draw p* over scale and decay, its two boundaries, and the places of real layers.

    Parameters
    ----------
    diagram
        The diagram; its abscissa is :math:`\log(s \gamma\alpha L)`.
    layers
        Rows of :func:`~spectral_lib.regimes.phase.layer_coordinates` by model; filled markers for
        the first model, open ones for the others.
    """
    figure, (axis,) = panels(height=4.2)
    image = axis.pcolormesh(
        diagram.log_scale,
        diagram.decay,
        diagram.p_star,
        cmap="viridis",
        vmin=0.0,
        vmax=2.0,
        shading="nearest",
        rasterized=True,
    )
    figure.colorbar(image, ax=axis, label="$p^*$")
    for edge, style, label in (
        (diagram.log_upper, "-", "$p^* = 0$ to the right"),
        (diagram.log_lower, "--", "$p^* = 2$ to the left"),
    ):
        axis.plot(edge, diagram.decay, color="white", linewidth=3)
        axis.plot(edge, diagram.decay, color="black", linestyle=style, label=label)
    for number, (model, rows) in enumerate((layers or {}).items()):
        for kind in Kind:
            chosen = [row for row in rows if row["kind"] is kind]
            if not chosen:
                continue
            axis.scatter(
                [row["log_coordinate"] for row in chosen],
                [row["decay"] for row in chosen],
                s=14,
                marker=KIND_MARKER[kind],
                edgecolors=KIND_COLOUR[kind],
                facecolors=KIND_COLOUR[kind] if number == 0 else "none",
                label=f"{model}: {KIND_LABEL[kind]}",
            )
    axis.set(
        xlabel=r"$\log(s\,\gamma\alpha L)$",
        ylabel="decay $a$",
        ylim=(diagram.decay.min(), diagram.decay.max()),
    )
    legend_above(figure, axis)
    return figure


def slopes(name: str, x: ArrayLike, curves: Mapping[str, tuple[Iterable[float], float]]) -> Plot:
    """Draw log-derivatives of explicit forms against a parameter, and the exponents they reach.

    Parameters
    ----------
    name, x
        Symbol's name and values, ``[X]``.
    curves
        For each label the slopes, ``[X]``, and the limit.
    """
    figure, (axis,) = panels()
    for number, (label, (values, limit)) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        axis.plot(np.asarray(x), list(values), color=colour, label=label)
        axis.axhline(limit, color=colour, linestyle=":", linewidth=1)
    axis.set(xscale="log", xlabel=_AXIS_LABEL[name], ylabel="local exponent")
    legend_above(figure, axis)
    return figure
