"""One figure class, one palette: no global style, no pyplot state, nothing drawn twice."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Collection, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.ticker import MaxNLocator

from spectral_lib.files import replacing
from spectral_lib.notation import Kind

#: Colours that stay apart for colour-blind readers (Okabe and Ito), with a line style each so
#: that no figure speaks by colour alone.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P")

KIND_COLOUR = dict(zip(Kind, COLOURS, strict=False))
KIND_STYLE = dict(zip(Kind, STYLES, strict=False))
KIND_MARKER = dict(zip(Kind, "os^v", strict=True))
KIND_LABEL = {
    Kind.QK: "query-key",
    Kind.VO: "value-output",
    Kind.FF_IN: "feed-forward in",
    Kind.FF_OUT: "feed-forward out",
}
#: The proxies by the names that tables give them.
PROXY_LABEL = {
    "spectral": "spectral (this paper)",
    "edelman": "Edelman et al., (2,1) norms",
    "trauger_tewari": "Trauger and Tewari, (1,1) norms",
}

#: First digits of the ticks of a logarithmic axis, from few to many.
_ROUND = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7))
_MOST_TICKS = 7

_DOTS_PER_INCH = 160


class Plot(Figure):
    """A figure that shows itself in a notebook and is saved whole or not at all."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DOTS_PER_INCH)
        return buffer.getvalue()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Save in the format that the suffix names (png, svg or pdf)."""
        # Drawn in memory first: a backend that meets a full disk fails in ways of its own.
        buffer = io.BytesIO()
        self.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=_DOTS_PER_INCH)
        with replacing(path) as temporary:
            temporary.write_bytes(buffer.getvalue())


def drawable(text: str) -> str:
    """Return a text with a question mark for each character that the default font cannot draw."""
    font = get_font(fontManager.findfont(FontProperties()))
    known = font.get_charmap()
    return "".join(c if c.isprintable() and ord(c) in known else "?" for c in text)


def panels(
    columns: int = 1, rows: int = 1, *, width: float = 7.0, height: float = 3.4, **shared: Any
) -> tuple[Plot, list[Axes]]:
    """Return a figure and its axes in reading order; ``height`` is that of one row."""
    figure = Plot(figsize=(width, height * rows), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False, **shared)
    for axis in axes.flat:
        axis.grid(visible=True, alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes.flat)


def legend_above(figure: Plot, axis: Axes, ncols: int = 2, title: str | None = None) -> None:
    """Put the legend of one panel above all panels, where it hides no data."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=ncols,
        title=title,
        frameon=False,
        fontsize=9,
    )


def looks() -> Iterator[dict[str, Any]]:
    """Yield colour, line style and marker of one series after the other, without end."""
    for colour, style, marker in zip(cycle(COLOURS), cycle(STYLES), cycle(MARKERS), strict=False):
        yield {"color": colour, "linestyle": style, "marker": marker, "markersize": 4}


def kind_look(kind: str) -> dict[str, Any]:
    """Return colour, line style, marker and label of one kind of matrix."""
    return {
        "color": KIND_COLOUR[Kind(kind)],
        "linestyle": KIND_STYLE[Kind(kind)],
        "marker": KIND_MARKER[Kind(kind)],
        "markersize": 4,
        "label": KIND_LABEL[Kind(kind)],
    }


def ticks_at(axis: XAxis | YAxis, values: Collection[float]) -> None:
    """Put ticks at the values and nowhere else, as plain numbers."""
    axis.set_ticks(list(values), [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)


def whole_ticks(axis: XAxis | YAxis) -> None:
    """Put ticks at whole numbers, as many as there is room for."""
    axis.set_major_locator(MaxNLocator(integer=True))


def log_y(panel: Axes) -> None:
    """Make the y axis of a panel logarithmic, if anything on it is positive."""
    if any(math.isfinite(p.dataLim.minposy) for p in panel.get_shared_y_axes().get_siblings(panel)):
        panel.set_yscale("log")


def log_y_ticks(panel: Axes) -> None:
    """Make the y axis logarithmic, with a few round numbers as ticks; call it when all is drawn."""
    log_y(panel)
    if panel.get_yscale() == "log":
        low, high = panel.get_ylim()
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digits in _ROUND:
            ticks = [d * 10.0**k for k in decades for d in digits if low <= d * 10.0**k <= high]
            if len(ticks) >= 3:
                break
        else:
            ticks = [t for t in MaxNLocator(4).tick_values(low, high) if low <= t <= high]
        ticks_at(panel.yaxis, ticks[:: math.ceil(len(ticks) / _MOST_TICKS)])


def grid_of(count: int, *, height: float = 2.4, **shared: Any) -> tuple[Plot, list[Axes]]:
    """Return a figure of ``count`` panels in two columns, wide enough to be read on a phone."""
    columns = min(count, 2)
    figure, axes = panels(
        columns,
        rows=math.ceil(count / columns),
        width=(5.0, 6.4)[columns - 1],
        height=height,
        **shared,
    )
    for spare in axes[count:]:
        figure.delaxes(spare)
        axes[count - columns].tick_params(labelbottom=True)  # nothing below shows its ticks
    return figure, axes[:count]


def whiskers(axis: Axes, table: Any, value: str, names: Mapping[Any, str]) -> None:
    """Draw one row a line: an estimate, its interval from ``low`` to ``high``, and its number."""
    for row, (_, entry) in enumerate(table.iterrows()):
        low, high = entry["low"], entry["high"]
        if math.isfinite(low) and math.isfinite(high):
            axis.plot([low, high], [row, row], color=COLOURS[0], linewidth=2)
        axis.plot(entry[value], row, "o", color=COLOURS[0], markersize=5)
        axis.annotate(
            f"{entry[value]:.3g}",
            (entry[value], row),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axis.set_yticks(range(len(table)), [names.get(key, str(key)) for key in table.index])
    axis.set_ylim(len(table) - 0.4, -0.6)


def label(figure: Plot, x: str, y: str) -> None:
    """Name the axes of all panels once."""
    figure.supxlabel(x, fontsize=10)
    figure.supylabel(y, fontsize=10)
