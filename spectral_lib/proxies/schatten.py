r"""The paper's proxy: the sum over matrices of the smallest contribution over the grid of p."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spectral_lib.errors import DomainError
from spectral_lib.frames import frame_of, place, positions
from spectral_lib.matrices import Array, Spectrum
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.proxies.proxy import Proxy, log_total
from spectral_lib.transformer import TransformerSpectra

if TYPE_CHECKING:
    import pandas as pd

#: Contributions whose logs differ by less than this are a tie, which goes to the smallest p.
TIE = 1e-12


def p_grid(num_layers: int, hidden_size: int) -> Array:
    r"""Return :math:`P_m = \{0, 1/m, \ldots, 2\}` with :math:`m = \lceil L + \log N \rceil`.

    Source: the paper, post hoc choice of p; the rounding argument is derived in the book.

    Raises
    ------
    DomainError
        A size below 1.
    """
    if num_layers < 1 or hidden_size < 1:
        raise DomainError(f"sizes must be at least 1, got L = {num_layers}, N = {hidden_size}")
    m = math.ceil(num_layers + math.log(hidden_size))
    return np.arange(2 * m + 1) / m


@dataclass(frozen=True, eq=False)
class ContributionCurves:
    """Every matrix's contribution at every p of the grid.

    Attributes
    ----------
    p
        ``[P]``, the grid P_m.
    log_contribution
        For each kind ``[L, G, P]``, natural logs; minus infinity for a zero contribution.
    log_scale
        For each kind ``[L, G]``: natural log of gamma alpha times the count.
    convention
        The choices under which they were evaluated.
    """

    p: Array
    log_contribution: dict[Kind, Array]
    log_scale: dict[Kind, Array]
    convention: Convention

    @cached_property
    def p_star_index(self) -> dict[Kind, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
        """For each kind ``[L, G]``: index of the minimiser on the grid, the smallest p of a tie."""
        return {
            kind: np.argmax(curves <= curves.min(axis=-1, keepdims=True) + TIE, axis=-1)
            for kind, curves in self.log_contribution.items()
        }

    @property
    def p_star(self) -> dict[Kind, Array]:
        """For each kind ``[L, G]``: the minimiser on the grid."""
        return {kind: self.p[index] for kind, index in self.p_star_index.items()}

    def relative_to_rank(self) -> dict[Kind, Array]:
        """For each kind ``[L, G, P]``: contribution over that at p = 0; NaN for zero matrices."""
        with np.errstate(invalid="ignore"):
            return {
                kind: np.exp(curves - curves[..., :1])
                for kind, curves in self.log_contribution.items()
            }

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every matrix and p: the natural log of the contribution."""
        return frame_of(
            [
                place(layer, kind, head) | {"p": p, "log_contribution": value}
                for layer, kind, head in positions(*self.log_scale[Kind.QK].shape)
                for p, value in zip(
                    self.p.tolist(), self.log_contribution[kind][layer, head].tolist(), strict=True
                )
            ]
        )


@dataclass(frozen=True, eq=False)
class SpectralProxy(Proxy):
    """The paper's proxy, with the curves it is the minimum of."""

    curves: ContributionCurves

    @property
    def p_star(self) -> dict[Kind, Array]:
        """For each kind ``[L, G]``: the p at which the matrix's contribution is smallest."""
        return self.curves.p_star

    def _columns(self) -> dict[str, dict[Kind, Array]]:
        return {"p_star": self.p_star, **super()._columns()}


def contribution_curves(
    spectra: TransformerSpectra, convention: Convention = PAPER, *, p: Array | None = None
) -> ContributionCurves:
    r"""Return the contribution of every matrix over a grid of Schatten indices.

    .. math::
        S_p(W)^{1/(p+2)} \, (\gamma \alpha L)^{p/(p+2)} \, N^{(p+1)/(p+2)}

    Under ``dims="exact"`` the power of N, for W in R^{d x k} and q = min(d, k), is replaced by
    :math:`((d + k)/2)^{1/(p+2)} (q k)^{p/(2(p+2))}` (derived here; equal to it when d = k = N).
    At p = 0 the contribution is :math:`\sqrt{\mathrm{rank}(W) N}`, whatever the scale.

    Parameters
    ----------
    spectra
        The model.
    convention
        The choices that move the numbers.
    p
        Schatten indices in [0, 2]; the paper's grid P_m if not given.

    Source: the paper, Theorem 3.1, leading form; evaluated as in the paper's scripts.

    Raises
    ------
    DomainError
        An index outside [0, 2].
    """
    grid = p_grid(spectra.num_layers, spectra.hidden_size) if p is None else np.asarray(p, float)
    propagation = propagate(spectra, convention)
    count = spectra.num_layers if convention.scale_count == "L" else spectra.num_matrices
    log_scale = {kind: propagation.log_scale(kind, count) for kind in Kind}
    return ContributionCurves(
        p=grid,
        log_contribution={
            kind: _log_curves(
                spectra[kind], log_scale[kind], grid, _log_dims(spectra, kind, convention)
            )
            for kind in Kind
        },
        log_scale=log_scale,
        convention=convention,
    )


def log_rank_margin(
    spectra: TransformerSpectra, convention: Convention = PAPER
) -> dict[Kind, Array]:
    r"""Return how far each matrix's scale lies above the threshold at which p* leaves 0.

    .. math::
        \log(\gamma \alpha L) - \log t(W), \qquad
        t(W) = \frac{\sqrt{r / N}}{(\sigma_1 \cdots \sigma_r)^{1/r}}, \quad r = \mathrm{rank}(W)

    The contribution is quasi-convex in p, so p* = 0 if and only if the margin is at least 0; a
    negative margin moves p* off 0 in the continuum (on the grid, once a grid point lies below).
    Under ``dims="exact"`` the threshold is :math:`\sqrt{r (d + k) / (2 q k)}` over the same mean.

    Returns
    -------
    For each kind ``[L, G]``, natural logs; minus infinity where the scale is zero, NaN for a zero
    matrix.

    Source: derived here.
    """
    log_scale = contribution_curves(spectra, convention, p=np.array([0.0])).log_scale
    margins = {}
    for kind in Kind:
        spectrum, (at_zero, slope) = spectra[kind], _log_dims(spectra, kind, convention)
        counted = spectrum.log_values > -np.inf
        total = np.where(counted, spectrum.log_values, 0.0).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            log_mean = total / spectrum.rank
            threshold = 0.5 * (np.log(spectrum.rank) + at_zero) - slope - log_mean
            margins[kind] = np.where(spectrum.rank > 0, log_scale[kind] - threshold, np.nan)
    return margins


def spectral(spectra: TransformerSpectra, convention: Convention = PAPER) -> SpectralProxy:
    r"""Return the paper's proxy in its sum form.

    .. math::
        \sum_{W} \min_{p \in P_m} S_p(W)^{1/(p+2)} (\gamma \alpha L)^{p/(p+2)} N^{(p+1)/(p+2)}
        + \sqrt{L}

    A zero matrix contributes 0. A matrix whose scale is zero (behind a zero matrix on every path)
    contributes 0 too, at the smallest positive p.

    Source: the paper, Theorem 3.1, leading form; evaluated as in the paper's scripts.
    """
    curves = contribution_curves(spectra, convention)
    smallest = {
        kind: np.take_along_axis(
            curves.log_contribution[kind], curves.p_star_index[kind][..., None], axis=-1
        )[..., 0]
        for kind in Kind
    }
    log = np.logaddexp(log_total(smallest), 0.5 * math.log(spectra.num_layers))
    return SpectralProxy(float(log), convention, smallest, curves)


def _log_dims(
    spectra: TransformerSpectra, kind: Kind, convention: Convention
) -> tuple[float, float]:
    """Return (b, a) such that e^((b + p a)/(p + 2)) is the contribution's dimension factor."""
    if convention.dims == "N":
        return math.log(spectra.hidden_size), math.log(spectra.hidden_size)
    d, k = spectra[kind].shape
    return math.log((d + k) / 2), 0.5 * math.log(min(d, k) * k)


def _log_curves(
    spectrum: Spectrum, log_scale: Array, grid: Array, log_dims: tuple[float, float]
) -> Array:
    at_zero, slope = log_dims
    curves = []
    for p in grid.tolist():
        reach = p * log_scale if p > 0 else 0.0  # 0 * -inf: the rank does not see the scale
        curves.append((spectrum.log_schatten(p) + reach + at_zero + p * slope) / (p + 2))
    return np.stack(curves, axis=-1)
