"""Leading factors of the bounds, without constants and logarithms: proxies, never bounds."""

from spectral_lib.proxies.norm_based import edelman, trauger_tewari
from spectral_lib.proxies.proxy import Proxy
from spectral_lib.proxies.schatten import (
    ContributionCurves,
    SpectralProxy,
    contribution_curves,
    p_grid,
    spectral,
)

__all__ = [
    "ContributionCurves",
    "Proxy",
    "SpectralProxy",
    "contribution_curves",
    "edelman",
    "p_grid",
    "spectral",
    "trauger_tewari",
]
