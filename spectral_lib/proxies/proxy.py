"""The number that a proxy evaluates to, held by its natural log."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spectral_lib.frames import frame_of, place, positions
from spectral_lib.matrices import Array
from spectral_lib.notation import Convention, Kind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Proxy:
    """A proxy's value and the terms it is made of.

    Attributes
    ----------
    log
        Natural log of the proxy; always finite.
    convention
        The choices under which it was evaluated.
    log_contribution
        For each kind ``[L, G]``: natural log of each matrix's term, minus infinity for none.
    """

    log: float
    convention: Convention
    log_contribution: dict[Kind, Array]

    @property
    def value(self) -> float:
        """The proxy itself; infinity where it exceeds the range of float64."""
        try:
            return math.exp(self.log)
        except OverflowError:
            return math.inf

    def to_frame(self) -> pd.DataFrame:
        """Return one row a matrix: where it stands, and the natural log of its term."""
        return frame_of(
            [
                place(layer, kind, head)
                | {
                    name: values[kind][layer, head].item()
                    for name, values in self._columns().items()
                }
                for layer, kind, head in positions(*self.log_contribution[Kind.QK].shape)
            ]
        )

    def _columns(self) -> dict[str, dict[Kind, Array]]:
        return {"log_contribution": self.log_contribution}


def log_total(log_terms: dict[Kind, Array]) -> float:
    """Return the natural log of the sum of all terms."""
    terms = np.concatenate([array.ravel() for array in log_terms.values()])
    return float(np.logaddexp.reduce(terms))
