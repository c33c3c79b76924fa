"""Medians and ranges over the matrices that count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectral_lib.matrices import Array


def median_over(values: Array, counted: NDArray[np.bool_], axis: int) -> Array:
    """Return the median of the counted entries along an axis, NaN where there are none."""
    masked = _masked(values, counted)
    return _filled(np.ma.median(masked, axis=axis))  # type: ignore[no-untyped-call]


def range_over(values: Array, counted: NDArray[np.bool_], axis: int) -> tuple[Array, Array]:
    """Return the smallest and the largest counted entry along an axis, NaN where there are none."""
    masked = _masked(values, counted)
    return _filled(masked.min(axis=axis)), _filled(masked.max(axis=axis))


def _masked(values: Array, counted: NDArray[np.bool_]) -> np.ma.MaskedArray:
    return np.ma.MaskedArray(values, mask=~np.broadcast_to(counted, values.shape))


def _filled(masked: np.ma.MaskedArray) -> Array:
    return np.asarray(np.ma.filled(np.ma.asarray(masked, dtype=np.float64), np.nan))
