"""Tables of one model, by layer and by kind, and of models side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from spectral_lib.analysis import Analysis, analyze
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.proxies import log_rank_margin
from spectral_lib.tables.indices import share_off_zero
from spectral_lib.tables.medians import range_over
from spectral_lib.tables.norms import NORMS
from spectral_lib.transformer import TransformerSpectra

_LN10 = math.log(10)


def proxies(analyses: Iterable[Analysis]) -> pd.DataFrame:
    """Return one row a model: its sizes and log10 of its proxies."""
    rows = [
        {
            "model": found.spectra.model,
            "L": found.spectra.num_layers,
            "N": found.spectra.hidden_size,
            "H": found.spectra.num_heads,
            **{f"log10 {name}": proxy.log / _LN10 for name, proxy in found.proxies.items()},
        }
        for found in analyses
    ]
    return pd.DataFrame(rows).set_index("model")


def growth_in_depth(spectra: TransformerSpectra, convention: Convention = PAPER) -> pd.DataFrame:
    """Return log10 of the proxies of the encoder cut after its first 1, ..., L layers."""
    depths = range(1, spectra.num_layers + 1)
    cut = (analyze(spectra.first_layers(depth), convention) for depth in depths)
    rows = [{name: p.log / _LN10 for name, p in found.proxies.items()} for found in cut]
    return pd.DataFrame(rows, index=pd.Index(depths, name="layers"))


def norms_by_layer(spectra: TransformerSpectra) -> pd.DataFrame:
    """Return spectral, Frobenius, (2,1) and (1,1) norms: the mean over heads, by kind and layer."""
    frames = {
        (kind.value, name): getattr(spectra[kind], attribute).mean(axis=1)
        for kind in Kind
        for name, attribute in NORMS.items()
    }
    return pd.DataFrame(frames, index=pd.RangeIndex(spectra.num_layers, name="layer"))


def kinds(analysis: Analysis) -> pd.DataFrame:
    """Return one row a kind: count, rank, stable rank, p* and share of the spectral proxy."""
    rows = []
    for kind in Kind:
        spectrum, p_star = analysis.spectra[kind], analysis.spectral.p_star[kind]
        log_share = analysis.spectral.log_contribution[kind] - analysis.spectral.log
        rows.append(
            {
                "kind": kind.value,
                "matrices": p_star.size,
                "shape": "x".join(map(str, spectrum.shape)),
                "median rank": np.median(spectrum.rank),
                "median stable rank": np.median(spectrum.stable_rank),
                "smallest p*": p_star.min(),
                "largest p*": p_star.max(),
                "share of the proxy": np.exp(log_share).sum(),
            }
        )
    return pd.DataFrame(rows).set_index("kind")


def rank_margins(spectra: TransformerSpectra, convention: Convention = PAPER) -> pd.DataFrame:
    """Return log10 of scale over threshold, the smallest over heads, by layer and kind.

    Zero matrices are left out; NaN where there is no other.
    """
    margins = log_rank_margin(spectra, convention)
    columns = {}
    for kind in Kind:
        smallest, _ = range_over(margins[kind], ~np.isnan(margins[kind]), axis=1)
        columns[kind.value] = smallest / _LN10
    return pd.DataFrame(columns, index=pd.RangeIndex(spectra.num_layers, name="layer"))


def rescaling(
    spectra: TransformerSpectra, factors: Iterable[float], convention: Convention = PAPER
) -> pd.DataFrame:
    """Return, for every weight times a factor: the proxies (log10) and the share with p* > 0."""
    rows = []
    for factor in factors:
        found = analyze(spectra.rescaled(factor), convention)
        logs = {name: proxy.log / _LN10 for name, proxy in found.proxies.items()}
        rows.append({"factor": factor, **logs, "share of p* > 0": share_off_zero(found)})
    return pd.DataFrame(rows).set_index("factor")
