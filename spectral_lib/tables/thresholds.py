"""From which scale on the chosen index leaves 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from spectral_lib.matrices import Array
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.proxies import log_rank_margin
from spectral_lib.tables.labels import ordered_index
from spectral_lib.transformer import TransformerSpectra

_LN10 = math.log(10)

#: Share of the matrices that have left, at least; "first" is any.
_MILESTONES = {"first": 0.0, "half": 0.5, "all": 1.0}


def leaving_zero(spectra: TransformerSpectra, convention: Convention = PAPER) -> pd.DataFrame:
    r"""Return from which factor on, as it decreases, p* of the matrices leaves 0.

    A matrix leaves p* = 0 where its scale :math:`\gamma \alpha L` falls below the threshold
    :math:`t(W)` of :func:`spectral_lib.proxies.log_rank_margin`. Two kinds of factor are told
    apart: one on every scale, all spectra kept; and one on every weight matrix, which moves the
    scales through the norms and the thresholds too (heads' products by its square). The margin
    increases with either, so that each factor is the only root.

    Returns
    -------
    Index ``kind``, and ``all`` for all matrices together; columns (``"log10 scale factor"`` or
    ``"log10 weight factor"``, ``"first"``, ``"half"`` or ``"all"``): the factor below which the
    first matrix, at least half of them, and all have left. Positive where they have left without a
    factor. Infinite where the scale is 0 (behind a zero matrix); zero matrices are left out, NaN
    where there is no other. The minimum is taken over [0, 2]: on the grid P_m a matrix leaves 0 a
    little further down, when a grid point lies below.

    Source: derived here.
    """
    margins = log_rank_margin(spectra, convention)
    rescaled = _margins_under_rescaling(spectra, convention, margins)
    rows = {}
    for name, kinds in {**{kind.value: (kind,) for kind in Kind}, "all": tuple(Kind)}.items():
        found = {
            milestone: _thresholds(rescaled, kinds, share)
            for milestone, share in _MILESTONES.items()
        }
        rows[name] = {
            (f"log10 {factor} factor", milestone): found[milestone][place] / _LN10
            for place, factor in enumerate(("scale", "weight"))
            for milestone in found
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.columns = ordered_index(frame.columns, ["factor", "matrices"])
    return frame.rename_axis("kind")


def _thresholds(
    rescaled: Callable[[float], dict[Kind, Array]], kinds: tuple[Kind, ...], share: float
) -> tuple[float, float]:
    """Return the natural logs of the factors on the scales and on the weights."""

    def margin(log_factor: float) -> float:
        return _order_statistic(rescaled(log_factor), kinds, share)

    return -margin(0.0), _root(margin)


def _margins_under_rescaling(
    spectra: TransformerSpectra, convention: Convention, margins: dict[Kind, Array]
) -> Callable[[float], dict[Kind, Array]]:
    """Return the margins as a function of the natural log of a factor on every weight.

    A factor c on a matrix divides its threshold by c; the scales need the spectral norms alone.
    """
    tops = replace(
        spectra,
        by_kind={
            kind: replace(s, singular_values=s.singular_values[..., :1])
            for kind, s in spectra.by_kind.items()
        },
    )
    before = propagate(tops, convention)

    def at(log_factor: float) -> dict[Kind, Array]:
        after = propagate(tops.rescaled(math.exp(log_factor)), convention)
        found = {}
        for kind in Kind:
            with np.errstate(invalid="ignore"):
                moved = after.log_scale(kind, 1) - before.log_scale(kind, 1)
            degree = 2 if kind.per_head else 1
            found[kind] = margins[kind] + np.nan_to_num(moved) + degree * log_factor
        return found

    return at


def _order_statistic(margins: dict[Kind, Array], kinds: tuple[Kind, ...], share: float) -> float:
    """Return the margin below 0 once at least this share of the matrices has left; NaN for none."""
    values = np.sort(np.concatenate([margins[kind].ravel() for kind in kinds]))
    values = values[~np.isnan(values)]
    if values.size == 0:
        return math.nan
    return float(values[max(0, math.ceil(share * values.size) - 1)])


def _root(margin: Callable[[float], float]) -> float:
    """Return where an increasing function of slope at least 1 is 0."""
    from scipy.optimize import brentq

    start = margin(0.0)
    if not math.isfinite(start):
        return -start
    inner, outer = 0.0, -math.copysign(0.5, start)
    while margin(outer) * start > 0:
        inner, outer = outer, 2 * outer
    return float(brentq(margin, inner, outer, xtol=1e-12))
