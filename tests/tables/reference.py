"""Plain-loop routes to what the tables hold."""

import math

from spectral_lib.notation import LIPSCHITZ
from tests import naive

PROXIES = ("spectral", "edelman", "trauger_tewari")


def l_phi(convention):
    return LIPSCHITZ["gelu"] if convention.l_phi == "exact" else convention.l_phi


def analyse(layers, num_heads, convention):
    """Return (rows by (layer, kind, head), alpha, natural logs of the proxies)."""
    rows, alpha, *values = naive.analyse(layers, num_heads, convention, l_phi(convention))
    return rows, alpha, dict(zip(PROXIES, map(math.log, values), strict=True))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
