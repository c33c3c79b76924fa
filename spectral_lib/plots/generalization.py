"""Figures of the chapters from the entropy integral to Theorem 3.1 and the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from spectral_lib.plots.figure import COLOURS, STYLES, Plot, panels

Values = npt.ArrayLike


def chaining(eps: Values, root_entropy: Values, scales: Values, heights: Values) -> Plot:
    """Draw the root entropy and the rectangles that chaining puts under it.

    Parameters
    ----------
    eps, root_entropy
        The curve.
    scales, heights
        Scales, descending, and the root entropy there: rectangle j spans scales j and j + 1.
    """
    figure, (axis,) = panels()
    ends = np.asarray(scales, dtype=np.float64)
    tops = np.asarray(heights, dtype=np.float64)
    axis.bar(
        ends[1:],
        tops[:-1],
        width=ends[:-1] - ends[1:],
        align="edge",
        color=COLOURS[5],
        alpha=0.35,
        edgecolor=COLOURS[0],
        label="rectangles of the chain",
    )
    axis.plot(eps, root_entropy, color=COLOURS[1], label=r"$\sqrt{\log N(\varepsilon)}$")
    axis.set_xlabel(r"scale $\varepsilon$")
    axis.set_xlim(left=0.0)
    axis.legend(frameon=False)
    return figure


def logarithms(
    samples: Values, power: Mapping[float, float], alone: Values, capped: Values
) -> Plot:
    """Draw Dudley's bound times the root of n for power entropies and for the 1/eps entropy."""
    figure, (axis,) = panels()
    for (p, level), style in zip(power.items(), STYLES, strict=False):
        axis.axhline(level, color=COLOURS[0], linestyle=style, label=rf"(a) $p={p}$")
    axis.plot(samples, alone, color=COLOURS[1], label=r"(b) $G/\varepsilon$ alone")
    axis.plot(samples, capped, color=COLOURS[2], linestyle="--", label="(c) with full rank")
    axis.set_xscale("log")
    axis.set_xlabel("samples $n$")
    axis.set_ylabel(r"bound $\times\,\sqrt{n}$")
    axis.legend(frameon=False)
    return figure


def choice_after_the_fact(
    counts: Values, naive: Values, exact: Values, peeled: Values, delta: float
) -> Plot:
    """Draw how often the chosen class violates its bound, without and with peeling."""
    figure, (axis,) = panels()
    axis.plot(counts, exact, color=COLOURS[1], linewidth=1, label="without peeling, exact")
    axis.plot(counts, naive, "o", color=COLOURS[1], label="without peeling, simulated")
    axis.plot(counts, peeled, "s--", color=COLOURS[0], label="with peeling, simulated")
    axis.axhline(delta, color="black", linestyle=":", label=r"$\delta$")
    axis.set_xscale("log")
    axis.set_xlabel("number of prepared classes")
    axis.set_ylabel("frequency of violation")
    axis.legend(frameon=False)
    return figure


def rounding(
    p: Values, log_term: Values, grid: Values, log_grid: Values, loss: Values, allowed: float
) -> Plot:
    """Draw a contribution with its grid, and what rounding the index up loses."""
    figure, (left, right) = panels(2)
    left.plot(p, log_term, color=COLOURS[0])
    left.plot(grid, log_grid, "o", markersize=3, color=COLOURS[1], label="$P_m$")
    left.set_ylabel("log contribution")
    left.legend(frameon=False)
    right.plot(p, loss, color=COLOURS[0], label="lost")
    right.axhline(allowed, color=COLOURS[1], linestyle="--", label="allowed")
    right.set_ylabel("log factor")
    right.legend(frameon=False)
    for axis in (left, right):
        axis.set_xlabel("$p$")
    return figure


def integrands(u: Values, curves: Mapping[str, Values]) -> Plot:
    """Draw root entropies over u = eps / D, each labelled, on logarithmic axes."""
    figure, (axis,) = panels()
    for (label, curve), colour, style in zip(curves.items(), COLOURS, STYLES, strict=False):
        axis.loglog(u, curve, color=colour, linestyle=style, label=label)
    axis.set_xlabel(r"$u=\varepsilon/D$")
    axis.set_ylabel("root entropy")
    axis.legend(frameon=False)
    return figure


def bound_against_samples(samples: Values, bounds: Mapping[str, Values], loss_range: float) -> Plot:
    """Draw bounds on the gap against n, with the level above which they say nothing."""
    figure, (axis,) = panels()
    for (label, curve), colour, style in zip(bounds.items(), COLOURS, STYLES, strict=False):
        axis.loglog(samples, curve, color=colour, linestyle=style, label=label)
    axis.axhline(loss_range, color="black", linewidth=1)
    axis.axhspan(0.0, loss_range, color=COLOURS[2], alpha=0.1)
    axis.annotate(
        "not vacuous", (np.asarray(samples)[0], loss_range), (4, -12), "data", "offset points"
    )
    axis.set_xlabel("samples $n$")
    axis.set_ylabel("bound on the gap")
    axis.legend(frameon=False)
    return figure


def parts_by_layer(parts: Mapping[str, Sequence[float]], ylabel: str) -> Plot:
    """Draw for each kind of matrix one bar a layer, the kinds side by side."""
    figure, (axis,) = panels()
    width = 0.8 / len(parts)
    for place, ((label, heights), colour) in enumerate(zip(parts.items(), COLOURS, strict=False)):
        layers = np.arange(1, len(heights) + 1)
        axis.bar(
            layers + (place - (len(parts) - 1) / 2) * width,
            heights,
            width,
            color=colour,
            label=label,
        )
    axis.set_xticks(np.arange(1, len(next(iter(parts.values()))) + 1))
    axis.set_xlabel("layer")
    axis.set_ylabel(ylabel)
    axis.legend(frameon=False)
    return figure


def allocation_gain(spread: Values, gains: Mapping[str, Values]) -> Plot:
    """Draw equal over optimal split against the spread of the sensitivities."""
    figure, (axis,) = panels()
    for (label, gain), colour, style in zip(gains.items(), COLOURS, STYLES, strict=False):
        axis.loglog(spread, gain, color=colour, linestyle=style, label=label)
    axis.set_xlabel(r"ratio of successive $\beta_i$")
    axis.set_ylabel("equal split / best split")
    axis.legend(frameon=False)
    return figure
