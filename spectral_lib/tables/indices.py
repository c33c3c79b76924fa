"""The chosen Schatten indices of a whole model, gathered."""

from __future__ import annotations

import math

import numpy as np

from spectral_lib.analysis import Analysis
from spectral_lib.matrices import Array
from spectral_lib.notation import Kind


def chosen_indices(analysis: Analysis) -> Array:
    """Return p* of every matrix that is not zero (a zero matrix contributes nothing at any p)."""
    p_star = analysis.spectral.p_star
    return np.concatenate([p_star[kind][analysis.spectra[kind].rank > 0] for kind in Kind])


def share_off_zero(analysis: Analysis) -> float:
    """Return the share of the nonzero matrices with p* > 0; NaN if every matrix is zero."""
    p_star = chosen_indices(analysis)
    return float((p_star > 0).mean()) if p_star.size else math.nan
