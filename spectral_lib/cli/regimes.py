"""``spectral-lib regimes``: every bound in every regime at sizes of one's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from spectral_lib.cli import options

if TYPE_CHECKING:
    from spectral_lib.regimes import Comparison


def regimes(
    hidden: Annotated[int, typer.Option(help="Hidden size N.")],
    depth: Annotated[int, typer.Option(help="Layers L.")],
    heads: Annotated[int, typer.Option(help="Heads H; must divide the hidden size.")] = 1,
    rank: Annotated[
        int | None, typer.Option(help="Largest rank of a matrix.", show_default=False)
    ] = None,
    frobenius: Annotated[
        float | None, typer.Option(help="Largest Frobenius norm.", show_default=False)
    ] = None,
    spectral: Annotated[float, typer.Option(help="Largest spectral norm s.")] = 1.0,
    decay: Annotated[
        float | None,
        typer.Option(help="Decay a: singular values at most s j^-a.", show_default=False),
    ] = None,
    tokens: Annotated[float, typer.Option(help="Tokens in each sequence, T.")] = 512,
    samples: Annotated[float, typer.Option(help="Independent training sequences, n.")] = 1e6,
    lam: Annotated[
        float, typer.Option(help="Growth of the sensitivity from a layer to the one before.")
    ] = 1.0,
    json_: options.Json = False,
) -> None:
    """Compare the bounds for matrices of given rank, Frobenius or spectral norm, or decay."""
    from spectral_lib.regimes import compare_regimes

    found = compare_regimes(
        hidden=hidden,
        depth=depth,
        heads=heads,
        rank=rank,
        frobenius=frobenius,
        spectral=spectral,
        decay=decay,
        tokens=tokens,
        samples=samples,
        lam=lam,
    )
    if json_:
        print(json.dumps(found.to_dict(), allow_nan=False))
    else:
        _print_summary(found)


def _print_summary(found: Comparison) -> None:
    from rich.console import Console
    from rich.text import Text

    from spectral_lib.cli.printing import plain_table
    from spectral_lib.regimes import Bound, Regime

    console = Console()
    used = {name: value for name, value in vars(found.used).items() if value is not None}
    console.print(Text(", ".join(f"{name} {value:g}" for name, value in used.items())))
    for note in found.notes:
        console.print(Text(f"note: {note}"))
    for regime in Regime:
        rows = [row for row in found.rows if row.regime is regime]
        if not rows:
            continue
        table = plain_table(
            f"Regime: {regime.value.replace('_', ' ')}", "bound", "leading", "p", "explicit", "p"
        )
        for row in rows:
            name = row.bound.value.replace("_", " ")
            if row.bound is Bound.MINIMUM and row.binding is not None:
                name = f"min: {row.binding.value.replace('_', ' ')} binds"
            table.add_row(
                name,
                _number(row.log_leading, row.best_leading),
                _index(row.p_leading),
                _number(row.log_explicit, row.best_explicit),
                _index(row.p_explicit if row.log_explicit is not None else None),
            )
        console.print(table)
    console.print(
        Text(
            "\n* smallest of its regime. leading: no constants, logarithms or 1/sqrt(n); explicit: "
            "2 R_n, loss in [0, 1], every constant included; a gap never exceeds 1."
        )
    )


def _index(p: float | None) -> str:
    return "" if p is None else f"{p:.3g}"


def _number(log: float | None, best: bool) -> str:
    import math

    mark = " *" if best else "  "
    if log is None:
        return "diverges" + mark
    return (f"{math.exp(log):.4g}" if log < 700 else f"10^{log / math.log(10):.1f}") + mark
