"""Leading factors of the bounds, without constants and logarithms: proxies, never bounds."""

from spectral_lib.proxies.norm_based import edelman, trauger_tewari
from spectral_lib.proxies.proxy import Proxy
from spectral_lib.proxies.schatten import (
    ContributionCurves,
    SpectralProxy,
    contribution_curves,
    log_rank_margin,
    p_grid,
    spectral,
)

__all__ = [
    "ContributionCurves",
    "Proxy",
    "SpectralProxy",
    "contribution_curves",
    "edelman",
    "log_rank_margin",
    "p_grid",
    "spectral",
    "trauger_tewari",
]
