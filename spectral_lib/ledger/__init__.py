"""The ledger: every constant of the proofs, derived by SymPy and compared with ``constants.py``.

:data:`ENTRIES` maps names to entries; ``entry.verify()`` derives one again, :func:`verify_all`
derives them all, :func:`table` lists them. Needs the extra ``ledger``.
"""

from __future__ import annotations

from collections.abc import Callable

from spectral_lib.errors import MissingExtraError

try:
    import sympy as _sympy
except ImportError as error:
    raise MissingExtraError(
        "the ledger derives its entries with SymPy: pip install 'spectral-lib[ledger]'"
    ) from error

from spectral_lib.ledger import (
    activation,
    allocation,
    chaining,
    columns,
    deviation,
    gain,
    gaussian,
    interpolation,
    layers,
    nets,
    peeling,
    root_sum_square,
    rounding,
    softmax,
    sudakov,
)
from spectral_lib.ledger.algebra import DerivationError
from spectral_lib.ledger.entry import CHAPTERS, Entry, Method, Verification

__all__ = [
    "CHAPTERS",
    "ENTRIES",
    "DerivationError",
    "Entry",
    "Method",
    "Verification",
    "table",
    "verify_all",
]

#: Every entry by name, in the order of the proof.
ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for module in (
        softmax,
        activation,
        layers,
        nets,
        sudakov,
        gaussian,
        interpolation,
        gain,
        chaining,
        deviation,
        root_sum_square,
        peeling,
        rounding,
        allocation,
        columns,
    )
    for entry in module.ENTRIES
}


def table() -> list[dict[str, str | float | None]]:
    """Return one row an entry, without deriving anything.

    Keys: ``name``, ``symbol`` and ``expression`` (LaTeX), ``value`` (the number in
    ``constants.py``, or None), ``constant`` (its name there, or None), ``source``, ``method``,
    ``derived_in``, ``depends_on`` (comma-separated), ``statement``.
    """
    return [
        {
            "name": entry.name,
            "symbol": entry.symbol,
            "expression": _sympy.latex(entry.expression),
            "value": entry.value,
            "constant": entry.constant,
            "source": str(entry.source),
            "method": str(entry.method),
            "derived_in": entry.derived_in,
            "depends_on": ", ".join(entry.depends_on),
            "statement": entry.statement,
        }
        for entry in ENTRIES.values()
    ]


def verify_all(progress: Callable[[Verification], None] | None = None) -> list[Verification]:
    """Derive every entry again and return the outcomes in order.

    ``progress``, if given, is called with each outcome as it comes.
    """
    outcomes = []
    for entry in ENTRIES.values():
        outcomes.append(entry.verify())
        if progress is not None:
            progress(outcomes[-1])
    return outcomes
