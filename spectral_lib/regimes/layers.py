r"""Real matrices on the phase diagram: a decay exponent fitted to each, and its own boundaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectral_lib.constants import P_MAX
from spectral_lib.errors import DomainError
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.proxies import contribution_curves
from spectral_lib.regimes.phase import log_level, p_star
from spectral_lib.transformer import TransformerSpectra

FloatArray = NDArray[np.float64]

#: Share of the rank over which a decay exponent is fitted by default, from the top.
WINDOW = (0.02, 0.5)


@dataclass(frozen=True)
class Decay:
    """A power law fitted to a spectrum by least squares of log sigma on log j.

    Attributes
    ----------
    exponent, log_norm
        a and log s.
    first, last
        The window of ranks j, both ends in it.
    deviation
        Largest absolute residual of log sigma in the window.
    """

    exponent: float
    log_norm: float
    first: int
    last: int
    deviation: float


def fit_decay(log_values: ArrayLike, window: tuple[float, float] = WINDOW) -> Decay:
    """Fit a decay exponent over a window, given as shares of the rank.

    Raises
    ------
    DomainError
        A window that is not 0 <= low < high <= 1, or that holds fewer than three values.
    """
    logs = np.asarray(log_values, dtype=float)
    logs = logs[np.isfinite(logs)]
    low, high = window
    if not 0 <= low < high <= 1:
        raise DomainError(f"the window must satisfy 0 <= low < high <= 1, got {window}")
    first, last = max(1, round(low * logs.size)), round(high * logs.size)
    if last - first < 2:
        raise DomainError(
            f"the window must hold at least 3 singular values, got {last - first + 1}"
        )
    x, y = np.log(np.arange(first, last + 1)), logs[first - 1 : last]
    slope, intercept = np.polyfit(x, y, 1)
    residual = float(np.abs(y - slope * x - intercept).max())
    return Decay(-float(slope), float(intercept), first, last, residual)


def layer_coordinates(
    spectra: TransformerSpectra,
    convention: Convention = PAPER,
    window: tuple[float, float] = WINDOW,
) -> list[dict[str, Any]]:
    r"""Return every matrix's place in the diagram, from its own spectrum.

    Keys: ``layer``, ``kind``, ``head``, ``rank``, ``decay``, ``log_norm``, ``deviation`` (the
    fit), ``first``, ``last`` (its window), ``log_scale`` of :math:`\gamma\alpha L`,
    ``log_coordinate`` = log_scale + log_norm (the abscissa of the diagram), ``log_upper`` and
    ``log_lower`` (exact boundaries of this spectrum, for ``log_scale``), ``p_star``. Zero matrices
    have no place and are left out.
    """
    size = spectra.hidden_size
    scales = contribution_curves(spectra, convention, p=np.array([0.0])).log_scale
    found = {kind: _places(spectra[kind].log_values, size, scales[kind]) for kind in Kind}
    rows = []
    for layer, kind, head in spectra.positions():
        logs = spectra[kind].log_values[layer, head]
        if not np.isfinite(logs).any():
            continue
        decay = fit_decay(logs, window)
        scale = float(scales[kind][layer, head])
        upper, lower, index = (float(x[layer, head]) for x in found[kind])
        rows.append(
            {
                "layer": layer,
                "kind": Kind(kind),
                "head": head if kind.per_head else None,
                "rank": int(np.isfinite(logs).sum()),
                "decay": decay.exponent,
                "log_norm": decay.log_norm,
                "deviation": decay.deviation,
                "first": decay.first,
                "last": decay.last,
                "log_scale": scale,
                "log_coordinate": scale + decay.log_norm,
                "log_upper": upper,
                "log_lower": lower,
                "p_star": index,
            }
        )
    return rows


def _places(
    log_values: FloatArray, hidden: int, log_scale: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both boundaries and p* of a batch; a flat spectrum stands in for a zero matrix."""
    zero = ~np.isfinite(log_values).any(axis=-1, keepdims=True)
    logs = np.where(zero, 0.0, log_values)
    ends = (log_level(logs, hidden, np.full(logs.shape[:-1], p)) for p in (0.0, P_MAX))
    upper, lower = ends
    return upper, lower, p_star(logs, hidden, log_scale)
