"""Figures of the chapter on tokens: entropies and covers against the number of token vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from spectral_lib.plots.figure import COLOURS, STYLES, Plot, legend_above, panels

Array = NDArray[np.float64]
#: Curves of one panel by the label that they carry.
Curves = Mapping[str, Array]


def _draw(axis: Axes, x: Array, curves: Curves) -> None:
    for number, (label, y) in enumerate(curves.items()):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
        axis.plot(x, y, color=colour, linestyle=style, label=label)


def prices(tokens: Array, by_argument: Curves) -> Plot:
    r"""Draw the prices of covers against the number of tokens, and their growth since T = 1.

    Parameters
    ----------
    tokens
        Sequence lengths T, ``[E]``, the first of them 1.
    by_argument
        For each argument its price, ``[E]``, in nats per :math:`(FB/\epsilon)^2`.
    """
    figure, (left, right) = panels(2, width=8.0)
    _draw(left, tokens, by_argument)
    _draw(right, tokens, {label: price / price[0] for label, price in by_argument.items()})
    left.set(xscale="log", yscale="log", xlabel="tokens $T$", ylabel=r"price $\pi$ (nats)")
    right.set(xscale="log", xlabel="tokens $T$", ylabel="price, relative to $T = 1$")
    legend_above(figure, left)
    return figure


def constructed_covers(vectors: Array, found: Array, wide: Array, bounds: Curves) -> Plot:
    r"""Draw greedy packings of a small problem among bounds that reach to many inputs.

    Parameters
    ----------
    vectors, found
        Numbers of inputs, ``[G]``, and log sizes of greedy packings on them.
    wide, bounds
        Numbers of inputs, ``[E]``, and bounds on the log covering number, ``[E]`` each.
    """
    figure, (axis,) = panels()
    _draw(axis, wide, bounds)
    axis.plot(
        vectors, found, "o", color="0.2", markersize=5, label=r"greedy packing at $2\epsilon$"
    )
    axis.set(xscale="log", ylim=(0, None), xlabel=r"inputs $\mu$")
    axis.set_ylabel("log covering number (nats)")
    axis.legend(frameon=False)
    return figure


def saturation(tokens: Array, found: Array, everywhere: float, bounds: Curves) -> Plot:
    r"""Draw packings on growing samples under the packing for all inputs, and their bounds.

    Parameters
    ----------
    tokens
        Numbers of inputs, ``[E]``.
    found
        Log sizes of :math:`2\epsilon`-separated sets in the sample seminorms, ``[E]``.
    everywhere
        The same in operator norm.
    bounds
        Upper bounds on the log covering number, ``[E]`` each.
    """
    figure, (left, right) = panels(2, width=8.0)
    left.plot(tokens, found, "o-", color=COLOURS[0], label="sample seminorm")
    left.axhline(everywhere, color=COLOURS[1], linestyle="--", label="operator norm")
    left.set(title=r"greedy packings at $2\epsilon$", ylim=(0, None))
    left.set_ylabel("log size (nats)")
    _draw(right, tokens, bounds)
    right.set(title="upper bounds", yscale="log")
    for axis in (left, right):
        axis.set(xscale="log", xlabel="inputs $\\mu$")
        axis.legend(frameon=False, fontsize=8)
    return figure
