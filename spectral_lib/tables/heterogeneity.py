"""How unlike the kinds of matrix are: ranks, effective ranks and decay, by kind and layer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spectral_lib.matrices import Array, Spectrum
from spectral_lib.notation import Kind
from spectral_lib.tables.labels import ordered_index
from spectral_lib.tables.medians import median_over, range_over
from spectral_lib.transformer import TransformerSpectra

#: Share of the rank at which the window of the decay fit begins and ends.
WINDOW = (0.10, 0.75)


def heterogeneity(spectra: TransformerSpectra) -> pd.DataFrame:
    r"""Return rank, stable rank, effective rank and decay exponent by kind and layer.

    .. math::
        \frac{\|W\|_F^2}{\|W\|^2}, \qquad
        \exp\Big(-\sum_j \pi_j \log \pi_j\Big), \quad \pi_j = \frac{\sigma_j}{\sum_i \sigma_i},
        \qquad \log \sigma_j \approx c - a \log j

    The decay exponent a is the least-squares slope over the window
    :math:`\lceil 0.10\, r \rceil \le j \le \lfloor 0.75\, r \rfloor` (and j >= 1) of a matrix of
    rank r: the first values stand apart from the bulk, and the last ones fall to zero by whatever
    law the bulk follows, as those of a random matrix do.

    Returns
    -------
    Index (kind, layer). ``rank bound`` is the number of singular values that the shape allows:
    N/H for heads, N for feed-forward matrices. All else are medians over the heads whose matrix is
    not zero; ``stable rank``, ``effective rank`` and ``decay exponent`` come with ``min`` and
    ``max`` over these heads. ``R^2`` is that of the fit and ``standard error`` that of its slope
    under independent errors, which neighbours in a sorted sequence do not have: a measure of the
    curve's bending, no confidence. NaN where every matrix is zero, and the fit's columns where a
    window holds fewer than 3 values.

    Source: the stable rank is standard; effective rank of Roy and Vetterli (2007).
    """
    rows: dict[tuple[str, int], dict[str, float]] = {}
    for kind in Kind:
        columns = _columns(spectra[kind])
        for layer in range(spectra.num_layers):
            rows[kind.value, layer] = {name: values[layer] for name, values in columns.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = ordered_index(rows, ["kind", "layer"])
    return frame


def effective_rank(spectrum: Spectrum) -> Array:
    r"""Return :math:`\exp(H(\pi))`, :math:`\pi_j = \sigma_j / \sum_i \sigma_i`; 0 for zero.

    Source: Roy and Vetterli (2007), with natural logs.
    """
    total = spectrum.log_schatten(1.0)[..., None]
    log_share = spectrum.log_values - np.where(total > -np.inf, total, 0.0)
    share = np.exp(log_share)
    entropy = -np.where(share > 0, share * np.where(share > 0, log_share, 0.0), 0.0).sum(axis=-1)
    return np.where(spectrum.rank > 0, np.exp(entropy), 0.0)


def decay_fit(spectrum: Spectrum) -> dict[str, Array]:
    """Return the fit of sigma_j = c j^(-a) over the window, an array ``[...]`` for each quantity.

    NaN where the window holds fewer than 3 values. The names are the columns of
    :func:`heterogeneity`.
    """
    rank = spectrum.rank
    start = np.maximum(1, np.ceil(WINDOW[0] * rank)).astype(np.int64)
    end = np.floor(WINDOW[1] * rank).astype(np.int64)
    j = np.arange(1, spectrum.singular_values.shape[-1] + 1)
    inside = (j >= start[..., None]) & (j <= end[..., None])
    count = inside.sum(axis=-1)
    fitted = count >= 3
    x = _centred(np.broadcast_to(np.log(j), inside.shape), inside)
    y = _centred(np.where(inside, spectrum.log_values, 0.0), inside)
    with np.errstate(divide="ignore", invalid="ignore"):
        x_squares = (x**2).sum(axis=-1)
        slope = (x * y).sum(axis=-1) / x_squares
        residual = ((y - slope[..., None] * x) ** 2).sum(axis=-1)
        found = {
            "decay exponent": -slope,
            "window start": start.astype(np.float64),
            "window end": end.astype(np.float64),
            "R^2": 1 - residual / (y**2).sum(axis=-1),
            "standard error": np.sqrt(residual / (count - 2) / x_squares),
        }
    return {name: np.where(fitted, values, np.nan) for name, values in found.items()}


def _columns(spectrum: Spectrum) -> dict[str, Array]:
    nonzero = spectrum.rank > 0
    columns = {
        "rank": median_over(spectrum.rank.astype(np.float64), nonzero, axis=1),
        "rank bound": np.full(spectrum.batch_shape[0], spectrum.singular_values.shape[-1]),
    }
    fit = decay_fit(spectrum)
    ranged = {
        "stable rank": spectrum.stable_rank,
        "effective rank": effective_rank(spectrum),
        "decay exponent": fit.pop("decay exponent"),
    }
    for name, values in ranged.items():
        counted = nonzero & np.isfinite(values)
        columns[name] = median_over(values, counted, axis=1)
        columns[f"{name} min"], columns[f"{name} max"] = range_over(values, counted, axis=1)
    for name, values in fit.items():
        columns[name] = median_over(values, np.isfinite(values), axis=1)
    return columns


def _centred(values: Array, inside: np.ndarray) -> Array:
    count = np.maximum(inside.sum(axis=-1, keepdims=True), 1)
    mean = np.where(inside, values, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(inside, values - mean, 0.0)
