"""Tables of spectra and contribution curves: decay, curves by head, chosen indices."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from spectral_lib import proxies
from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.tables.labels import ordered_index
from spectral_lib.tables.medians import median_over
from spectral_lib.transformer import TransformerSpectra


def spectral_decay(spectra: TransformerSpectra, layers: Iterable[int] = range(4)) -> pd.DataFrame:
    r"""Return the decay of the singular values by kind of matrix and layer.

    .. math:: \mathrm{median}_h \; \sigma_j(W^h) / \sigma_1(W^h)

    Parameters
    ----------
    spectra
        The model.
    layers
        Layers, counted from 0; those beyond the last are left out.

    Returns
    -------
    Index ``j`` = 1, 2, ..., columns (kind, layer). The median is over the heads whose matrix is
    not zero; NaN where there are none, and beyond the rank that the shape allows (N/H for heads).
    Values below the rank tolerance are 0.

    Source: the paper's figure of spectral decay, headline model, layers 0 to 3.

    Raises
    ------
    DomainError
        None of the layers is there, or one is negative.
    """
    wanted = list(layers)
    kept = [layer for layer in wanted if layer < spectra.num_layers]
    if not kept or min(wanted) < 0:
        raise DomainError(f"layers must name some of 0 .. {spectra.num_layers - 1}, got {wanted}")
    columns = {}
    for kind in Kind:
        log_values = spectra[kind].log_values[kept]
        nonzero = log_values[..., :1] > -np.inf
        relative = np.exp(log_values - np.where(nonzero, log_values[..., :1], 0.0))
        for layer, median in zip(kept, median_over(relative, nonzero, axis=1), strict=True):
            columns[kind.value, layer] = pd.Series(median, index=np.arange(1, median.size + 1))
    frame = pd.DataFrame(columns).rename_axis("j")
    frame.columns = ordered_index(columns, ["kind", "layer"])
    return frame


def contribution_curves(
    spectra: TransformerSpectra, convention: Convention = PAPER
) -> pd.DataFrame:
    r"""Return every matrix's contribution against the Schatten index, relative to p = 0.

    .. math:: \log_{10} \big( f_W(p) / f_W(0) \big), \qquad
        f_W(p) = S_p(W)^{1/(p+2)} (\gamma \alpha L)^{p/(p+2)} N^{(p+1)/(p+2)}

    Returns
    -------
    Index ``p``, the grid P_m; columns (kind, layer, head). NaN for a zero matrix.

    Source: the paper's figure of the contribution against p; the formula and its conventions are
    those of :func:`spectral_lib.proxies.contribution_curves`.
    """
    curves = proxies.contribution_curves(spectra, convention)
    with np.errstate(invalid="ignore"):
        relative = {
            kind: (values - values[..., :1]) / math.log(10)
            for kind, values in curves.log_contribution.items()
        }
    columns = {
        (kind.value, layer, head): relative[kind][layer, head]
        for kind in Kind
        for layer, head in np.ndindex(relative[kind].shape[:2])
    }
    frame = pd.DataFrame(columns, index=pd.Index(curves.p, name="p"))
    frame.columns = ordered_index(columns, ["kind", "layer", "head"])
    return frame


def p_star_histogram(
    models: Family | TransformerSpectra | Iterable[TransformerSpectra],
    convention: Convention = PAPER,
) -> pd.DataFrame:
    """Return how many matrices of each kind attain their smallest contribution at each p.

    Returns
    -------
    Index ``p``, every point of the models' grids P_m; one column a kind. Zero matrices contribute
    nothing at any p and are not counted.

    Raises
    ------
    DomainError
        There is no model.
    """
    members = _members(models)
    found = [proxies.contribution_curves(spectra, convention) for spectra in members]
    grid = np.unique(np.concatenate([curves.p for curves in found]))
    counts = {}
    for kind in Kind:
        chosen = [
            curves.p_star[kind][spectra[kind].rank > 0]
            for spectra, curves in zip(members, found, strict=True)
        ]
        index = np.searchsorted(grid, np.concatenate(chosen))
        counts[kind.value] = np.bincount(index, minlength=grid.size)
    return pd.DataFrame(counts, index=pd.Index(grid, name="p")).rename_axis("kind", axis=1)


def _members(
    models: Family | TransformerSpectra | Iterable[TransformerSpectra],
) -> tuple[TransformerSpectra, ...]:
    if isinstance(models, Family):
        return models.members
    members = (models,) if isinstance(models, TransformerSpectra) else tuple(models)
    if not members:
        raise DomainError("a histogram needs at least one model, got none")
    return members
