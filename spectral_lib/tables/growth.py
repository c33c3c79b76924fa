"""Tables of a family: how the proxies grow with width and depth."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pandas as pd

from spectral_lib.analysis import analyze
from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from spectral_lib.matrices import Array
from spectral_lib.notation import PAPER, Convention
from spectral_lib.tables.indices import share_off_zero
from spectral_lib.tables.labels import ordered_index
from spectral_lib.tables.models import proxies
from spectral_lib.tables.norms import slope_table
from spectral_lib.tables.regression import common_slopes, equal_slopes, group_slopes

Along = Literal["N", "L"]

_LN10 = math.log(10)


def sizes(family: Family, convention: Convention = PAPER) -> pd.DataFrame:
    """Return one row a member: L, N, H, log10 of its proxies, and the share of matrices off p* = 0.

    ``log10 ratio`` is that of the norm-based proxy of Edelman et al. over the spectral one.
    """
    analyses = [analyze(spectra, convention) for spectra in family.members]
    frame = proxies(analyses)
    frame["log10 ratio"] = frame["log10 edelman"] - frame["log10 spectral"]
    frame["share of p* > 0"] = [share_off_zero(found) for found in analyses]
    return frame


def proxy_growth(family: Family, along: Along, convention: Convention = PAPER) -> pd.DataFrame:
    """Return log10 of the proxies against N at fixed L, or against L at fixed N, each from 0.

    Parameters
    ----------
    family
        The models.
    along
        The size that varies, ``"N"`` or ``"L"``.
    convention
        The choices that move the numbers.

    Returns
    -------
    Index: the varying size; columns (proxy, value of the fixed size). Each curve is relative to
    the smallest size that it has; NaN where the family has no model.

    Source: the paper's figures of both proxies against N and against L. It leaves
    ``trauger_tewari`` out.

    Raises
    ------
    DomainError
        ``along`` is neither.
    """
    x, fixed, logs = _by_size(family, along, convention)
    columns = {}
    for name, values in logs.items():
        for value in np.unique(fixed):
            there = np.flatnonzero(fixed == value)  # a family's members are sorted by size
            relative = (values[there] - values[there[0]]) / _LN10
            columns[name, int(value)] = pd.Series(relative, index=x[there])
    other = "L" if along == "N" else "N"
    frame = pd.DataFrame(columns).sort_index().rename_axis(along)
    frame.columns = ordered_index(columns, ["proxy", other])
    return frame


def growth_exponents(
    family: Family, along: Along, convention: Convention = PAPER, level: float = 0.95
) -> pd.DataFrame:
    r"""Return how fast the proxies grow with one size, from all members at once.

    .. math:: \log P_{ij} = a_j + b \log x_i + e_{ij}

    by least squares, with one slope b for all and one intercept a_j for each value of the fixed
    size. Along L the exponential law :math:`\log P = a_j + c L + e` is fitted too. Which of the two
    laws fits better is for :func:`growth_by_group` to say: with one slope for all, the residuals
    are of unequal slopes as much as of the wrong law.

    Parameters
    ----------
    family
        The models.
    along
        The size that varies, ``"N"`` or ``"L"``.
    convention
        The choices that move the numbers.
    level
        Of the two-sided t-intervals.

    Returns
    -------
    Index ``proxy``; columns ``exponent``, ``low``, ``high``, ``residual sd`` (natural log),
    ``dof`` and ``equal slopes``, the p-value of the F-test that the exponent is the same at every
    value of the fixed size (NaN where the sizes are too few to tell); along L also ``rate``
    (natural log per layer), ``rate low``, ``rate high`` and ``rate residual sd``.

    Notes
    -----
    With one training run a size, the residuals hold the runs' chance and the law's lack of fit
    together; the interval takes both for independent normal errors of one variance. It says how
    well one power law describes these models. It is no interval over seeds, and where the residuals
    bend (another law fits better) it is too narrow for the slope at either end. Where ``equal
    slopes`` is small there is no common exponent: the errors of one group are then not
    independent, the interval has no level, and the slope is a mean over the sizes at hand.

    Raises
    ------
    DomainError
        Fewer than 3 sizes along the axis at equal other size, or a level outside (0, 1).
    """
    x, fixed, logs = _by_size(family, along, convention)
    responses = np.stack(list(logs.values()), axis=1)
    power = common_slopes(np.log(x), fixed, responses)
    frame = slope_table(power, level, pd.Index(logs, name="proxy"))
    frame["equal slopes"] = equal_slopes(power, group_slopes(np.log(x), fixed, responses))
    if along == "L":
        exponential = common_slopes(x.astype(np.float64), fixed, responses)
        half = exponential.half_width(level)
        frame["rate"] = exponential.slopes
        frame["rate low"], frame["rate high"] = exponential.slopes - half, exponential.slopes + half
        frame["rate residual sd"] = exponential.residual_sd
    return frame


def growth_by_group(family: Family, along: Along, convention: Convention = PAPER) -> pd.DataFrame:
    r"""Return how fast the proxies grow with one size, at each value of the other by itself.

    .. math:: \log P = a + b \log x + e \qquad \text{and} \qquad \log P = a + c\, x + e

    by least squares, for every proxy and every value of the fixed size.

    Returns
    -------
    Index (proxy, fixed size); columns ``models``, ``exponent`` b, ``residual sd``, ``rate`` c and
    ``rate residual sd`` (natural logs), and ``better law``, the one with the smaller residual
    (``"power"`` or ``"exponential"``; both have two parameters). Two models have slopes and no
    residual, one has neither: NaN, and ``"too few models"``.

    Raises
    ------
    DomainError
        ``along`` is neither ``"N"`` nor ``"L"``.
    """
    x, fixed, logs = _by_size(family, along, convention)
    responses = np.stack(list(logs.values()), axis=1)
    power = group_slopes(np.log(x), fixed, responses)
    exponential = group_slopes(x.astype(np.float64), fixed, responses)
    better = np.where(power.residual_sd <= exponential.residual_sd, "power", "exponential")
    better = np.where(np.isnan(power.residual_sd), "too few models", better)
    other = "L" if along == "N" else "N"
    index = ordered_index(
        [(name, int(value)) for name in logs for value in power.groups], ["proxy", other]
    )
    columns = {
        "models": np.tile(power.count, len(logs)),
        "exponent": power.slopes.T.ravel(),
        "residual sd": power.residual_sd.T.ravel(),
        "rate": exponential.slopes.T.ravel(),
        "rate residual sd": exponential.residual_sd.T.ravel(),
        "better law": better.T.ravel(),
    }
    return pd.DataFrame(columns, index=index)


def growth_ratio(
    family: Family, along: Along, convention: Convention = PAPER, level: float = 0.95
) -> pd.DataFrame:
    r"""Return how many times faster, in exponents, the norm-based proxies grow than the spectral.

    .. math:: \theta = b_{norm} / b_{spectral}

    for the slopes of :func:`growth_exponents`, with the interval of Fieller's theorem: the
    residuals of both regressions come from the same models, and their covariance enters.

    Returns
    -------
    Index ``proxy`` (the numerator); columns ``ratio``, ``low``, ``high``, ``dof``. The interval is
    (-inf, inf) where the spectral exponent does not differ from 0 at this level.

    Notes
    -----
    Exact for independent normal errors, of any covariance between the two proxies; what such errors
    stand for, and when there is no common exponent to take a ratio of, is said at
    :func:`growth_exponents`.

    Source: Fieller (1954).

    Raises
    ------
    DomainError
        As for :func:`growth_exponents`.
    """
    x, fixed, logs = _by_size(family, along, convention)
    names = list(logs)
    fit = common_slopes(np.log(x), fixed, np.stack(list(logs.values()), axis=1))
    bottom = names.index("spectral")
    rows = []
    for top, name in enumerate(names):
        if top != bottom:
            low, high = fit.ratio_interval(top, bottom, level)
            ratio = fit.slopes[top] / fit.slopes[bottom] if fit.slopes[bottom] else math.nan
            rows.append({"proxy": name, "ratio": ratio, "low": low, "high": high, "dof": fit.dof})
    return pd.DataFrame(rows).set_index("proxy")


def _by_size(
    family: Family, along: Along, convention: Convention
) -> tuple[Array, Array, dict[str, Array]]:
    """Return the varying size, the fixed size, and natural logs of the proxies, by member."""
    if along not in ("N", "L"):
        raise DomainError(f"along must be 'N' or 'L', got {along!r}")
    found = [analyze(spectra, convention) for spectra in family.members]
    widths = np.array([spectra.hidden_size for spectra in family.members])
    depths = np.array([spectra.num_layers for spectra in family.members])
    logs = {
        name: np.array([analysis.proxies[name].log for analysis in found])
        for name in found[0].proxies
    }
    return (widths, depths, logs) if along == "N" else (depths, widths, logs)
