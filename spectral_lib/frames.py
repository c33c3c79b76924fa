"""Rows of plain values as data frames; pandas is optional."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from spectral_lib.errors import MissingExtraError
from spectral_lib.notation import Kind

if TYPE_CHECKING:
    import pandas as pd


def positions(num_layers: int, num_heads: int) -> Iterator[tuple[int, Kind, int]]:
    """Yield (layer, kind, head) of every matrix of an encoder, in the order of all tables."""
    for layer in range(num_layers):
        for kind in Kind:
            for head in range(num_heads if kind.per_head else 1):
                yield layer, kind, head


def place(layer: int, kind: Kind, head: int) -> dict[str, Any]:
    """Return the first cells of a matrix's row; the head is ``None`` for feed-forward matrices."""
    return {"layer": layer, "head": head if kind.per_head else None, "kind": str(kind)}


def frame_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a data frame.

    Raises
    ------
    MissingExtraError
        pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "a data frame needs pandas; install the extra: pip install 'spectral-lib[frames]'"
        ) from error
    return pd.DataFrame(rows)
