"""``spectral-lib ledger``: the constants of the proofs, and their derivation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from spectral_lib.cli.streams import discard

if TYPE_CHECKING:
    from spectral_lib.ledger import Verification


def ledger(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Derive every entry again; exit with 1 if one fails."),
    ] = False,
) -> None:
    """Print every constant of the proofs: its value, source and kind of verification."""
    from rich.console import Console
    from rich.text import Text

    from spectral_lib.cli.printing import plain_table, show
    from spectral_lib.ledger import ENTRIES, verify_all

    console = Console()
    if verify:
        outcomes = verify_all(progress=_report)
        failed = [outcome for outcome in outcomes if not outcome.ok]
        seconds = sum(outcome.seconds for outcome in outcomes)
        print(f"{len(outcomes)} entries derived in {seconds:.1f} s, {len(failed)} failed")
        raise typer.Exit(1 if failed else 0)
    table = plain_table("entry", "value", "source", "verified by")
    for entry in ENTRIES.values():
        value = "" if entry.value is None else f"{entry.value:.6g}"
        table.add_row(Text(entry.name), value, str(entry.source), str(entry.method))
    show(console, "The ledger of constants", table)
    print("\nspectral-lib ledger --verify derives them all again.")


def _report(outcome: Verification) -> None:
    mark = "ok    " if outcome.ok else "FAILED"
    try:
        print(f"{mark} {outcome.name}: {outcome.derived}", flush=True)
    except BrokenPipeError:  # nobody reads on, but the exit code still has to be earned
        discard(sys.stdout)
