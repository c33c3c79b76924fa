r"""Figures of the chapters on covering numbers, on Theorem 4.1 and on the interpolation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from spectral_lib.plots.figure import COLOURS, STYLES, Plot, panels

Array = NDArray[np.float64]
#: Curves of one panel by the label that they carry.
Curves = Mapping[str, Array]


def _draw(axis: Axes, x: Array, curves: Curves) -> None:
    for number, (label, y) in enumerate(curves.items()):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number % len(STYLES)]
        axis.plot(x, y, color=colour, linestyle=style, label=label)


def packing_and_bounds(eps: Array, found: Array, bounds: Curves, *, log: bool = False) -> Plot:
    r"""Draw the log size of a greedy packing, a lower bound of the entropy, beside other bounds.

    Parameters
    ----------
    eps
        Scales, ``[E]``.
    found
        Log sizes of :math:`2\epsilon`-separated sets, ``[E]``, in nats.
    bounds
        Further bounds on the log covering number, ``[E]`` each, by label.
    log
        Whether the entropies span orders of magnitude.
    """
    figure, (axis,) = panels()
    axis.fill_between(eps, found, color="0.85")
    axis.plot(
        eps, found, color="0.3", marker=".", linewidth=1, label=r"greedy packing at $2\epsilon$"
    )
    _draw(axis, eps, bounds)
    axis.set(xlabel=r"scale $\epsilon$", ylabel="log covering number (nats)", xscale="log")
    if log:
        axis.set_yscale("log")
    axis.legend(frameon=False)
    return figure


def gaussian_norms(
    counts: Array, rows: Array, rows_bound: Array, sides: Array, square: Array, square_bound: Array
) -> Plot:
    r"""Draw the mean largest row of X G against the number of rows, and the mean of G's norm."""
    figure, (left, right) = panels(2)
    for axis, x, measured, bound in (
        (left, counts, rows, rows_bound),
        (right, sides, square, square_bound),
    ):
        axis.plot(x, bound, color=COLOURS[0], label="bound")
        axis.plot(x, measured, "o", color=COLOURS[1], markersize=4, label="measured mean")
        axis.set(xscale="log", ylim=(0, None))
        axis.legend(frameon=False)
    left.set(xlabel=r"rows $\mu$", ylabel=r"$E\,\max_i \|x_i G\|_2$")
    right.set(xlabel="side $d = k$", ylabel=r"$E\,\|G\|_2$")
    return figure


def empirical_errors(draws: Array, errors: Array, bound: Array) -> Plot:
    r"""Draw the errors of empirical averages ``[draws, repeats]`` against the number of draws."""
    figure, (axis,) = panels()
    axis.fill_between(
        draws, errors.min(axis=1), errors.max(axis=1), color=COLOURS[5], alpha=0.3, label="range"
    )
    axis.plot(
        draws, np.sqrt((errors**2).mean(axis=1)), "o-", color=COLOURS[1], label="root mean square"
    )
    axis.plot(draws, bound, "--", color=COLOURS[0], label=r"$R / \sqrt{\nu}$")
    axis.set(xlabel=r"draws $\nu$", ylabel="Frobenius error", xscale="log", yscale="log")
    axis.legend(frameon=False)
    return figure


def optimal_split(
    values: Array, tau: float, levels: Array, principal: Array, tail: Array, exact: float
) -> Plot:
    r"""Draw a spectrum cut at tau, and the two prices whose sum is smallest there.

    Parameters
    ----------
    values
        Singular values, ``[q]``, descending.
    tau
        The balanced split.
    levels
        Candidate splits, ``[E]``.
    principal, tail
        :math:`M (d+k) \Lambda \tau^{-p}` and :math:`q V \tau^2`, ``[E]``, in nats.
    exact
        Exact entropy, a number drawn as a level.
    """
    figure, (left, right) = panels(2, width=8.0)
    j = np.arange(1, len(values) + 1)
    kept = values > tau
    left.fill_between(j, values, where=kept, color=COLOURS[0], alpha=0.3, label="principal part")
    left.fill_between(j, values, where=~kept, color=COLOURS[1], alpha=0.3, label="tail")
    left.plot(j, values, color="0.2")
    left.axhline(tau, color="0.2", linestyle=":", label=r"split $\tau$")
    left.set(xlabel="index $j$", ylabel=r"singular value $\sigma_j$", xscale="log", yscale="log")
    _draw(right, levels, {"principal": principal, "tail": tail, "sum": principal + tail})
    right.axvline(tau, color="0.2", linestyle=":")
    right.axhline(exact, color="0.5", linewidth=1, label="exact entropy")
    right.set(xlabel=r"split $\tau$", ylabel="nats", xscale="log", yscale="log")
    for axis in (left, right):
        axis.legend(frameon=False)
    return figure


def balance(p: Array, constant: Array, shares: Curves) -> Plot:
    r"""Draw :math:`c_p` and the shares of the principal part and of the tail against p."""
    figure, (left, right) = panels(2)
    left.plot(p, constant, color=COLOURS[0])
    left.set(xlabel="$p$", ylabel="$c_p$")
    _draw(right, p, shares)
    right.set(xlabel="$p$", ylabel="share of the entropy", ylim=(0, 1.02))
    right.legend(frameon=False)
    return figure


def entropies(
    eps: Array, by_panel: Mapping[str, Curves], *, relative: bool = False, columns: int = 2
) -> Plot:
    r"""Draw entropies against the scale, a panel for each matrix or exponent.

    Parameters
    ----------
    eps
        Scales relative to the spectral norm, ``[E]``.
    by_panel
        For each panel's title its curves, ``[E]`` each, in nats.
    relative
        Whether the entropies are ratios to the full-rank entropy.
    columns
        Panels in a row.
    """
    rows = -(-len(by_panel) // columns)
    figure, axes = panels(columns, rows, width=8.0, height=3.0, sharey=relative)
    for axis, (title, curves) in zip(axes, by_panel.items(), strict=False):
        _draw(axis, eps, curves)
        axis.set(title=title, xscale="log", yscale="log", xlabel=r"$\epsilon / s$")
    for axis in axes[::columns]:
        axis.set_ylabel("ratio to full rank" if relative else "entropy (nats)")
    axes[0].legend(frameon=False, fontsize=8)
    for axis in axes[len(by_panel) :]:
        axis.set_visible(False)
    return figure


def entropy_integrals(x: Array, by_exponent: Mapping[str, Curves]) -> Plot:
    r"""Draw integrals of square roots of entropies against the upper limit, a panel an exponent.

    Parameters
    ----------
    x
        Upper limit in units of the scale where Q_p meets the full-rank entropy, ``[E]``.
    by_exponent
        For each panel's title its integrals, ``[E]`` each, in the same units.
    """
    figure, axes = panels(len(by_exponent), width=8.0, sharey=True)
    for axis, (title, curves) in zip(axes, by_exponent.items(), strict=True):
        _draw(axis, x, curves)
        axis.set(title=title, xscale="log", yscale="log", xlabel=r"$D / \epsilon_0$")
    axes[0].set_ylabel(r"integral, in units of $\epsilon_0 \sqrt{full\ rank}$")
    axes[-1].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def exponents(p: Array, values: Array, tau: Mapping[str, Array]) -> Plot:
    r"""Draw :math:`Q_p / ((d+k) \Lambda) = \sum_j (\sigma_j / \tau)^p` against p, a curve a split.

    Parameters
    ----------
    p
        Exponents, ``[E]``.
    values
        Singular values, ``[q]``.
    tau
        For each label the split as a 0-dimensional array.
    """
    figure, (axis,) = panels()
    curves = {label: np.power.outer(values / level, p).sum(axis=0) for label, level in tau.items()}
    _draw(axis, p, curves)
    for number, y in enumerate(curves.values()):
        best = int(y.argmin())
        axis.plot(p[best], y[best], "o", color=COLOURS[number % len(COLOURS)])
    axis.set(xlabel="$p$", ylabel=r"$Q_p\, /\, (d+k)\Lambda$", yscale="log")
    axis.legend(frameon=False)
    return figure
