"""``spectral-lib bound``: the number of Theorem 3.1 for a checkpoint."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from spectral_lib.cli import options

if TYPE_CHECKING:
    from spectral_lib.bounds.result import PosthocBound


class FormName(StrEnum):
    """The forms of the complexity term."""

    SUM = "sum"
    RSS = "rss"
    QUADRATURE = "quadrature"


class MetricName(StrEnum):
    """The metrics of the covers."""

    SAMPLE = "sample"
    OPERATOR = "operator"


def bound(
    model: options.Model,
    samples: Annotated[float, typer.Option(help="Independent training sequences, n.")],
    tokens: Annotated[float, typer.Option(help="Tokens in each sequence, T.")],
    delta: Annotated[float, typer.Option(help="Probability that the bound may fail.")],
    loss_range: Annotated[float, typer.Option(help="The loss takes values in [0, b].")],
    form: Annotated[FormName, typer.Option(help="Form of the complexity term.")] = FormName.SUM,
    metric: Annotated[
        MetricName, typer.Option(help="Covers on the sample, or in operator norm.")
    ] = MetricName.SAMPLE,
    readout_norm: Annotated[float, typer.Option(help="Norm of the readout vector.")] = 1.0,
    loss_lipschitz: Annotated[
        float, typer.Option(help="Lipschitz constant of the loss in the readout.")
    ] = 1.0,
    json_: options.Json = False,
    revision: options.Revision = None,
    rank_rtol: options.RankRtol = None,
) -> None:
    """Evaluate Theorem 3.1, every constant included, for MODEL read as a member of class B."""
    from spectral_lib.bounds import posthoc_bound
    from spectral_lib.loading import load

    with options.layer_progress() as progress:
        spectra = load(model, revision=revision, rank_rtol=rank_rtol, progress=progress)
    found = posthoc_bound(
        spectra,
        samples=samples,
        tokens=tokens,
        delta=delta,
        loss_range=loss_range,
        readout_norm=readout_norm,
        loss_lipschitz=loss_lipschitz,
        form=form.value,
        metric=metric.value,
    )
    if json_:
        print(json.dumps(found.to_dict(), allow_nan=False))
    else:
        _print_summary(found)


def _print_summary(found: PosthocBound) -> None:
    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from spectral_lib.cli.printing import plain_table, show
    from spectral_lib.notation import Kind

    console = Console()
    setting = found.setting
    console.print(Text(f"{found.spectra.model}   {found.classes.size} matrices with the readout"))
    shown = ", ".join(f"{name} {value}" for name, value in vars(setting).items())
    console.print(Text(shown, style="dim"))
    by_kind = plain_table("kind", "matrices", "p", "part", "share")
    kinds = np.array([str(kind) for _, kind, _ in found.spectra.positions()] + ["readout"])
    for kind in (*map(str, Kind), "readout"):
        here = kinds == kind
        log_part = float(np.logaddexp.reduce(found.log_contributions[here]))
        low, high = found.classes.p[here].min(), found.classes.p[here].max()
        by_kind.add_row(
            kind,
            str(here.sum()),
            f"{low:.2g}" if low == high else f"{low:.2g}–{high:.2g}",
            _number(log_part),
            _share(log_part, found.log_complexity),
        )
    show(console, "Complexity term by kind", by_kind)
    parts = plain_table("part", "value")
    parts.add_row("complexity, 2 R_n", _number(found.log_complexity))
    parts.add_row("confidence", f"{found.confidence:.4g}")
    parts.add_row("peeling", f"{found.peeling:.4g}")
    parts.add_row("bound", _number(found.log_value))
    show(console, "The bound on the generalization gap", parts)
    console.print(Text(f"\n{found.reason}"))
    console.print(
        Text(
            "It is about the network of class B with these weights: no biases, no residual "
            "connections, no LayerNorm.",
            style="dim",
        )
    )


def _share(log_part: float, log_whole: float) -> str:
    """Write exp(log_part - log_whole); nothing has no share, even of nothing."""
    return f"{math.exp(log_part - log_whole) if log_part > -math.inf else 0.0:.1%}"


def _number(log: float) -> str:
    """Write exp(log), by its power of ten where float64 has no room for it."""
    if log < 700:
        return f"{math.exp(log):.4g}"
    return f"10^{log / math.log(10):.1f}"
