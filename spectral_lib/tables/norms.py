"""Tables of norms against the width, and the exponents that they grow with."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from spectral_lib.notation import Kind
from spectral_lib.tables.labels import ordered_index
from spectral_lib.tables.regression import CommonSlopes, common_slopes

#: The norms by the names that tables give them, and the attributes of a spectrum that hold them.
NORMS = {
    "spectral": "spectral_norm",
    "Frobenius": "frobenius_norm",
    "(2,1)": "norm_21",
    "(1,1)": "norm_11",
}


def norm_scaling(family: Family, num_layers: int = 2) -> pd.DataFrame:
    r"""Return norms against N at one depth: means over layers and heads.

    Returns
    -------
    Index ``N``; columns (kind, norm) with the norms spectral, Frobenius, (2,1) (sum over columns
    of their Euclidean norms) and (1,1) (sum of absolute entries).

    Source: the paper's figure of norms against N at L = 2.

    Raises
    ------
    DomainError
        No member has this depth.
    """
    members = [s for s in family.members if s.num_layers == num_layers]
    if not members:
        raise DomainError(
            f"the family {family.name!r} has no model of L {num_layers}, only {family.depths}"
        )
    columns = {
        (kind.value, name): [getattr(spectra[kind], attribute).mean() for spectra in members]
        for kind in Kind
        for name, attribute in NORMS.items()
    }
    frame = pd.DataFrame(columns, index=pd.Index([s.hidden_size for s in members], name="N"))
    frame.columns = ordered_index(columns, ["kind", "norm"])
    return frame


def norm_exponents(family: Family, num_layers: int = 2, level: float = 0.95) -> pd.DataFrame:
    """Return the exponents of N in the norms of :func:`norm_scaling`.

    Least-squares slopes of the log of the mean norm on log N, with the two-sided t-interval at
    ``level``; what the interval means is said at :func:`spectral_lib.tables.growth_exponents`.

    Returns
    -------
    Index (kind, norm); columns ``exponent``, ``low``, ``high``, ``residual sd`` (of the natural
    log) and ``dof``. NaN for a norm that is 0 somewhere.

    Raises
    ------
    DomainError
        Fewer than 3 widths at this depth.
    """
    table = norm_scaling(family, num_layers)
    widths = np.log(table.index.to_numpy(dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = common_slopes(widths, np.zeros(widths.size), np.log(table.to_numpy()))
    return slope_table(fit, level, table.columns)


def slope_table(fit: CommonSlopes, level: float, index: pd.Index) -> pd.DataFrame:
    """Return the slopes of a fit with their intervals, a row for each response."""
    half = fit.half_width(level)
    columns = {
        "exponent": fit.slopes,
        "low": fit.slopes - half,
        "high": fit.slopes + half,
        "residual sd": fit.residual_sd,
        "dof": fit.dof,
    }
    return pd.DataFrame(columns, index=index)
