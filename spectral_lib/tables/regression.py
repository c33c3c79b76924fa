"""Least squares with one slope for several groups or one for each, and the ratio of two slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.errors import DomainError
from spectral_lib.matrices import Array


@dataclass(frozen=True, eq=False)
class CommonSlopes:
    r"""Slopes of K responses on one x, with an intercept for each group.

    .. math:: y_{ik} = a_{g(i) k} + b_k x_i + e_{ik}, \qquad
        \hat b_k = S_{xk} / S_{xx}, \qquad
        \hat\Sigma = \frac{1}{\nu} \sum_i \hat e_i \hat e_i^T, \qquad \nu = n - G - 1

    with sums of squares within groups; the covariance of the estimates is
    :math:`\hat\Sigma / S_{xx}`.

    Attributes
    ----------
    slopes
        ``[K]``.
    residual_covariance
        ``[K, K]``.
    x_squares
        S_xx > 0.
    dof
        nu >= 1.
    """

    slopes: Array
    residual_covariance: Array
    x_squares: float
    dof: int

    @property
    def residual_sd(self) -> Array:
        """``[K]``, residual standard deviations."""
        return np.sqrt(np.diagonal(self.residual_covariance))

    def half_width(self, level: float) -> Array:
        """Return ``[K]``: half the width of the two-sided t-interval about each slope."""
        return self._quantile(level) * self.residual_sd / math.sqrt(self.x_squares)

    def ratio_interval(self, top: int, bottom: int, level: float) -> tuple[float, float]:
        r"""Return Fieller's interval of the ratio of two slopes.

        The set of :math:`\theta` with
        :math:`(\hat b_1 - \theta \hat b_2)^2 \le t^2 (v_{11} - 2 \theta v_{12} + \theta^2 v_{22})`.
        It is bounded if and only if the denominator's slope differs from 0 at the same level;
        otherwise (-inf, inf) is returned, which contains it.
        """
        t = self._quantile(level)
        v = t**2 * self.residual_covariance / self.x_squares
        b_top, b_bottom = self.slopes[top], self.slopes[bottom]
        square = b_bottom**2 - v[bottom, bottom]
        if square <= 0:
            return -math.inf, math.inf
        middle = b_top * b_bottom - v[top, bottom]
        root = math.sqrt(max(0.0, middle**2 - square * (b_top**2 - v[top, top])))
        return float((middle - root) / square), float((middle + root) / square)

    def _quantile(self, level: float) -> float:
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise DomainError(f"the level must lie in (0, 1), got {level}")
        return float(stdtrit(self.dof, 0.5 + level / 2))


def common_slopes(x: Array, groups: NDArray[Any], responses: Array) -> CommonSlopes:
    """Fit one slope a response, with an intercept for each group.

    Parameters
    ----------
    x
        ``[n]``.
    groups
        ``[n]``, equal within a group.
    responses
        ``[n, K]``.

    Raises
    ------
    DomainError
        Fewer than 3 values of x among the groups that have at least 2: a line cannot be judged.
    """
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    useful = size[group] > 1
    x, responses = x[useful], responses[useful]
    if np.unique(x).size < 3:
        raise DomainError(
            "a slope with an interval needs at least 3 sizes, compared at equal other size; "
            f"got {np.unique(x).size}"
        )
    _, group = np.unique(group[useful], return_inverse=True)
    x = x - _group_means(x[:, None], group)[group, 0]
    responses = responses - _group_means(responses, group)[group]
    x_squares = float(x @ x)
    slopes = x @ responses / x_squares
    residuals = responses - x[:, None] * slopes
    dof = x.size - int(group.max()) - 2
    return CommonSlopes(slopes, residuals.T @ residuals / dof, x_squares, dof)


@dataclass(frozen=True, eq=False)
class GroupSlopes:
    """Slopes of K responses on one x, each group fitted by itself.

    Attributes
    ----------
    groups
        ``[G]``, ascending.
    count
        ``[G]``, points in each.
    slopes
        ``[G, K]``; NaN for a group with a single x.
    residual_sd
        ``[G, K]``, with count - 2 degrees of freedom; NaN for a group of fewer than 3 points.
    """

    groups: NDArray[Any]
    count: NDArray[np.intp]
    slopes: Array
    residual_sd: Array


def group_slopes(x: Array, groups: NDArray[Any], responses: Array) -> GroupSlopes:
    """Fit a slope and an intercept in each group; shapes as for :func:`common_slopes`."""
    names, group, count = np.unique(groups, return_inverse=True, return_counts=True)
    x = (x[:, None] - _group_means(x[:, None], group)[group])[:, 0]
    responses = responses - _group_means(responses, group)[group]
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = _group_sums(x[:, None] * responses, group) / _group_sums(x[:, None] ** 2, group)
        squares = _group_sums((responses - x[:, None] * slopes[group]) ** 2, group)
        dof = np.where(count > 2, count - 2.0, np.nan)[:, None]
        return GroupSlopes(names, count, slopes, np.sqrt(squares / dof))


def equal_slopes(common: CommonSlopes, own: GroupSlopes) -> Array:
    r"""Return ``[K]``: the p-value of the F-test that all groups have the same slope.

    .. math:: F = \frac{(R - R_{own}) / (\nu - \nu_{own})}{R_{own} / \nu_{own}}

    with the residual sums of squares of the common slope and of a slope for each group, and their
    degrees of freedom. NaN where there is one group, or no group has more than two points.
    """
    from scipy.special import fdtrc

    counted = own.count > 2
    own_dof = int((own.count[counted] - 2).sum())
    own_squares = ((own.count[counted] - 2.0)[:, None] * own.residual_sd[counted] ** 2).sum(axis=0)
    more = common.dof - own_dof
    if more < 1 or own_dof < 1:
        return np.full(common.slopes.shape, np.nan)
    gained = np.maximum(common.dof * common.residual_sd**2 - own_squares, 0.0) / more
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(fdtrc(more, own_dof, gained / (own_squares / own_dof)))


def _group_means(values: Array, group: NDArray[np.intp]) -> Array:
    return np.asarray(_group_sums(values, group) / np.bincount(group)[:, None])


def _group_sums(values: Array, group: NDArray[np.intp]) -> Array:
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, values)
    return sums
