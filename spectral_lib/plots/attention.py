"""Figures of the chapters on notation, attention and propagation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spectral_lib.matrices import Array
from spectral_lib.plots.figure import COLOURS, STYLES, Plot, panels

_MARKERS = ("o", "s", "^", "D", "v", "P")


def _curves(axis: object, x: Array, curves: Mapping[str, Array]) -> None:
    for (name, values), colour, style in zip(curves.items(), COLOURS, STYLES, strict=False):
        axis.plot(x, values, color=colour, linestyle=style, label=name)  # type: ignore[attr-defined]


def schatten_curves(p: Array, quantities: Mapping[str, Array]) -> Plot:
    """Draw Schatten quantities ``[P]`` against p, one curve a matrix."""
    figure, (axis,) = panels(height=3.2)
    _curves(axis, p, quantities)
    axis.set(xlabel="Schatten index p", ylabel="$S_p(W)$", yscale="log", xlim=(0, 2))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter("")
    axis.legend()
    return figure


def softmax_moduli(
    distance: Array, bounds: Mapping[str, Array], pairs: tuple[Array, Array]
) -> Plot:
    """Draw bounds on the softmax's movement and random pairs below them.

    Parameters
    ----------
    distance
        ``[t]``, distances of the logits in the largest entry.
    bounds
        For each name ``[t]``, a bound on the 1-norm distance of the weights.
    pairs
        Distances of logits and of weights of sampled pairs, ``[m]`` each.
    """
    figure, (axis,) = panels(height=3.4)
    axis.scatter(*pairs, s=4, color="#8a8f98", alpha=0.5, label="random pairs", rasterized=True)
    _curves(axis, distance, bounds)
    axis.axhline(2.0, color="black", linewidth=0.8)
    axis.text(
        distance[-1], 2.04, "diameter of the simplex", fontsize="small", ha="right", va="bottom"
    )
    axis.set(
        xlabel=r"$\|z - z'\|_\infty$",
        ylabel=r"$\|\mathrm{softmax}(z) - \mathrm{softmax}(z')\|_1$",
        xlim=(0, distance[-1]),
        ylim=(0, 2.5),
    )
    axis.legend(loc="lower right", markerscale=3)
    return figure


def head_moduli(norm_qk: Array, bounds: Mapping[str, Array], attained: Array) -> Plot:
    """Draw Lipschitz constants of a head over C_V against C_QK, and slopes that are attained."""
    figure, (axis,) = panels(height=3.4)
    _curves(axis, norm_qk, bounds)
    axis.plot(norm_qk, attained, "k.", markersize=5, label="attained")
    axis.set(xlabel=r"$C_{QK}$", ylabel=r"Lipschitz constant / $C_V$", xscale="log", yscale="log")
    axis.legend()
    return figure


def activation_slopes(
    x: Array, slopes: Mapping[str, Array], peaks: Mapping[str, float], window: float
) -> Plot:
    """Draw derivatives of activations, whole and near their maxima.

    Parameters
    ----------
    x
        ``[x]``, ascending.
    slopes
        For each name ``[x]``, the derivative.
    peaks
        For each name, the supremum of the derivative.
    window
        The second panel shows the part within ``window`` of the highest point.
    """
    figure, (whole, near) = panels(2, height=3.2)
    top = max(peaks.values())
    for axis in (whole, near):
        _curves(axis, x, slopes)
        for peak, colour in zip(peaks.values(), COLOURS, strict=False):
            axis.axhline(peak, color=colour, linewidth=0.8)
        axis.set(xlabel="x")
    whole.set(ylabel="derivative")
    whole.legend(loc="lower right")
    centre = x[int(np.argmax(next(iter(slopes.values()))))]
    near.set(xlim=(centre - window, centre + window), ylim=(top - 0.0012, top + 0.0001))
    near.ticklabel_format(axis="y", useOffset=False)
    return figure


def swap_ladder(labels: Sequence[str], measured: Array, bounds: Array) -> Plot:
    """Draw what each swap of the telescoping moved beside its bound, in the order of the swaps."""
    figure, (axis,) = panels(height=3.6)
    at = np.arange(len(labels))
    axis.plot(at, bounds, _MARKERS[1], color=COLOURS[1], label="its term of the bound")
    axis.plot(at, measured, _MARKERS[0], color=COLOURS[0], label="what the swap moved")
    axis.vlines(at, measured, bounds, color="#8a8f98", linewidth=0.8)
    axis.set_xticks(at, labels, rotation=60, ha="right", fontsize="small")
    axis.set(ylabel="movement of the output", yscale="log")
    axis.legend()
    return figure


def growth(log_factors: Mapping[str, Array], log_alphas: Mapping[str, Array]) -> Plot:
    r"""Draw what a layer's Lipschitz constant is made of, and the products over later layers.

    Parameters
    ----------
    log_factors
        For each factor of lambda ``[L]``, natural log, all >= 0: stacked.
    log_alphas
        For each convention ``[L]``, natural log of alpha.
    """
    figure, (stacked, lines) = panels(2, height=3.6)
    bottom = np.zeros(len(next(iter(log_factors.values()))))
    layers = np.arange(1, len(bottom) + 1)
    hatches = ("", "//", "..", "xx", "\\\\")
    for (name, logs), colour, hatch in zip(log_factors.items(), COLOURS, hatches, strict=False):
        decades = logs / np.log(10.0)
        stacked.bar(
            layers, decades, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", label=name
        )
        bottom = bottom + decades
    stacked.set(
        xlabel="layer", ylabel=r"$\log_{10} \lambda$ by factor", ylim=(0, 1.45 * max(bottom))
    )
    stacked.legend(fontsize="small", ncols=2, loc="upper center")
    for (name, logs), colour, style, marker in zip(
        log_alphas.items(), COLOURS, STYLES, _MARKERS, strict=False
    ):
        lines.plot(
            layers, logs / np.log(10.0), color=colour, linestyle=style, marker=marker, label=name
        )
    lines.set(xlabel="layer", ylabel=r"$\log_{10} \alpha$")
    lines.legend(fontsize="small")
    return figure
