"""How much each choice of the convention moves each number."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from spectral_lib import constants
from spectral_lib.analysis import Analysis, analyze
from spectral_lib.notation import CONSISTENT, PAPER, Convention
from spectral_lib.tables.indices import chosen_indices
from spectral_lib.transformer import TransformerSpectra

_LN10 = math.log(10)

#: Where the proof supports the scripts' choice, the other value that it could have.
_ALTERNATIVES = {"kappa": constants.KAPPA_SHARP, "pi_before_phi": False}


def convention_effects(spectra: TransformerSpectra) -> pd.DataFrame:
    """Return how much each choice of the convention moves each number, one at a time.

    Every field of :class:`~spectral_lib.notation.Convention` is moved from its value in ``PAPER``
    to that in ``CONSISTENT``; the two that agree there are moved to the other value that they can
    have (the sharp kappa, no projection before the activation). The last row moves all fields to
    ``CONSISTENT`` together. ``dims`` covers N for 4N: ``"exact"`` gives each matrix its own sizes.

    Returns
    -------
    Index ``choice``; columns ``from``, ``to``, the change in log10 of each proxy, and the change in
    the number of matrices with p* = 0 (``p* = 0``).

    Raises
    ------
    DomainError
        The Lipschitz constant of the model's activation is not known.
    """
    moved: dict[str, tuple[object, object, Convention]] = {}
    for field in fields(Convention):
        old, new = getattr(PAPER, field.name), getattr(CONSISTENT, field.name)
        change: dict[str, Any] = {field.name: _ALTERNATIVES[field.name] if new == old else new}
        moved[field.name] = (old, change[field.name], replace(PAPER, **change))
    moved["all"] = ("PAPER", "CONSISTENT", CONSISTENT)
    before = analyze(spectra, PAPER)
    rows = []
    for choice, (old, new, convention) in moved.items():
        after = analyze(spectra, convention)
        shift = {
            f"log10 {name}": (after.proxies[name].log - before.proxies[name].log) / _LN10
            for name in before.proxies
        }
        rows.append(
            {
                "choice": choice,
                "from": str(old),
                "to": str(new),
                **shift,
                "p* = 0": _at_zero(after) - _at_zero(before),
            }
        )
    return pd.DataFrame(rows).set_index("choice")


def _at_zero(analysis: Analysis) -> int:
    return int((chosen_indices(analysis) == 0).sum())
