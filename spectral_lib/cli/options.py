"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectral_lib.errors import DomainError

if TYPE_CHECKING:
    from spectral_lib.loading import Progress
    from spectral_lib.notation import Convention


class Preset(StrEnum):
    """The named conventions."""

    PAPER = "paper"
    CONSISTENT = "consistent"


class Dims(StrEnum):
    """What stands for a matrix's dimensions."""

    N = "N"
    EXACT = "exact"


class ScaleCount(StrEnum):
    """What multiplies gamma alpha."""

    L = "L"
    J = "J"


Model = Annotated[
    str,
    typer.Argument(
        help="A checkpoint directory, a packaged name (all-MiniLM-L6-v2, antiberty), a hub id "
        "(owner/name), or a spectra file (.npz).",
        show_default=False,
    ),
]
Revision = Annotated[
    str | None, typer.Option(help="Branch, tag or commit of a hub id.", show_default=False)
]
RankRtol = Annotated[
    float | None,
    typer.Option(
        help="Relative tolerance of the rank; max(shape) * 2^-52 if not given.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
ConventionPreset = Annotated[
    Preset, typer.Option("--convention", help="The preset that the flags below override.")
]
Kappa = Annotated[float | None, typer.Option(help="Softmax modulus.", show_default=False)]
LPhi = Annotated[
    str | None,
    typer.Option(help="Lipschitz constant of the activation: a number, or exact."),
]
LPhiInGamma = Annotated[
    bool | None,
    typer.Option(
        "--l-phi-in-gamma/--no-l-phi-in-gamma", help="Count L_phi in gamma.", show_default=False
    ),
]
PiBeforePhi = Annotated[
    bool | None,
    typer.Option(
        "--pi-before-phi/--no-pi-before-phi",
        help="Normalise between the first feed-forward matrix and the activation.",
        show_default=False,
    ),
]
EdelmanQkFactor = Annotated[
    float | None,
    typer.Option(help="Factor of the QK term in the norm-based proxies.", show_default=False),
]
DimsOption = Annotated[
    Dims | None,
    typer.Option("--dims", help="N everywhere, or each matrix's own.", show_default=False),
]
ScaleCountOption = Annotated[
    ScaleCount | None,
    typer.Option("--scale-count", help="Layers, or matrices J = L (2H + 2).", show_default=False),
]


def convention_from(preset: Preset, **flags: Any) -> Convention:
    """Return the preset with the given flags in place of its fields; ``None`` leaves a field."""
    from dataclasses import replace

    from spectral_lib.notation import CONSISTENT, PAPER

    given = {name: value for name, value in flags.items() if value is not None}
    if isinstance(l_phi := given.get("l_phi"), str) and l_phi != "exact":
        try:
            given["l_phi"] = float(l_phi)
        except ValueError:
            raise DomainError(f"--l-phi must be a number or 'exact', got {l_phi!r}") from None
    given.update({k: v.value for k, v in given.items() if isinstance(v, StrEnum)})
    return replace(PAPER if preset is Preset.PAPER else CONSISTENT, **given)


@contextmanager
def layer_progress() -> Iterator[Progress | None]:
    """Yield a progress callback that draws a bar on stderr, or ``None`` off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("layers", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
