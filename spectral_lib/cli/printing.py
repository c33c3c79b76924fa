"""Plain tables for a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def plain_table(first_column: str, *numbers: str) -> Table:
    """Return an empty table: a left-aligned first column, right-aligned number columns."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(first_column)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def show(console: Console, title: str, table: Table) -> None:
    """Print a table below its title, after a blank line."""
    from rich.text import Text

    console.print(Text(f"\n{title}", style="bold"))
    console.print(table)
