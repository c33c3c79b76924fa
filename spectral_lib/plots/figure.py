"""One figure class, one palette: no global style, no pyplot state, nothing drawn twice."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager, get_font

from spectral_lib.files import replacing
from spectral_lib.notation import Kind

#: Colours that stay apart for colour-blind readers (Okabe and Ito), with a line style each so
#: that no figure speaks by colour alone.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))

KIND_COLOUR = dict(zip(Kind, COLOURS, strict=False))
KIND_STYLE = dict(zip(Kind, STYLES, strict=False))
KIND_MARKER = dict(zip(Kind, "os^v", strict=True))
KIND_LABEL = {
    Kind.QK: "query-key",
    Kind.VO: "value-output",
    Kind.FF_IN: "feed-forward in",
    Kind.FF_OUT: "feed-forward out",
}

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


def legend_above(figure: Plot, axis: Axes) -> None:
    """Put the legend of one panel above all panels, where it hides no data."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
