"""From weight matrices to spectra: the factored linear algebra.

A head's matrix is a product of two thin factors and is never formed for its singular values; a
feed-forward matrix goes through the Gram matrix of its short side. Both routes are checked against
dense singular value decompositions in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectral_lib.errors import DomainError

Array = NDArray[np.float64]

#: The Gram route serves while lambda_min > GRAM_FLOOR * lambda_max: squaring the condition number
#: then costs the smallest singular value a relative error of about eps / (2 GRAM_FLOOR) = 1e-11.
GRAM_FLOOR = 1e-5
#: Matrices whose largest entry lies within 2^-LIMIT .. 2^LIMIT need no rescaling against overflow.
EXPONENT_LIMIT = 200
#: Multiplications of one block of a product formed for its entrywise norm: small enough to stay in
#: cache, and for BLAS not to wake its threads, whose hand-shake costs more than the work.
BLOCK_PRODUCTS = 1 << 19


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Singular values and mixed norms of one matrix, or of a batch of equal shape.

    .. math:: S_p(W) = \sum_j \sigma_j^p \quad (0 < p \le 2), \qquad S_0(W) = \mathrm{rank}(W)

    Attributes
    ----------
    singular_values
        ``[..., q]``, descending; values beyond the ``q`` stored ones are exactly zero.
    shape
        ``(d, k)`` of the represented matrix, acting on row vectors as x -> x W.
    norm_21
        ``[...]``, sum over columns of the column's Euclidean norm.
    norm_11
        ``[...]``, sum of the absolute entries.
    rank_rtol
        A singular value counts iff it exceeds ``rank_rtol * sigma_1``; ``None`` stands for
        ``max(shape) * 2**-52``. The rule is the same at every p: round-off values of 1e-16 would
        otherwise add sigma^p to a Schatten quantity at small p and nothing at p = 0.
    """

    singular_values: Array
    shape: tuple[int, int]
    norm_21: Array
    norm_11: Array
    rank_rtol: float | None = None

    def __post_init__(self) -> None:
        values = self.singular_values
        types = {str(array.dtype) for array in self._arrays}
        if types != {"float64"}:
            raise DomainError(f"a spectrum must be held in float64, got {', '.join(sorted(types))}")
        if len(self.shape) != 2 or any(type(size) is not int for size in self.shape):
            raise DomainError(f"a matrix shape must be two integers, got {self.shape}")
        if values.shape[:-1] != self.norm_21.shape or self.norm_21.shape != self.norm_11.shape:
            raise DomainError(
                f"spectrum batch shapes must agree, got singular values {values.shape}, "
                f"norm_21 {self.norm_21.shape}, norm_11 {self.norm_11.shape}"
            )
        if not 1 <= values.shape[-1] <= min(self.shape):
            raise DomainError(
                f"a {self.shape} matrix has 1 to {min(self.shape)} singular values, "
                f"got {values.shape[-1]}"
            )
        if not all(np.isfinite(a).all() and (a >= 0).all() for a in self._arrays):
            raise DomainError("spectrum has entries that are negative or not finite")
        if (np.diff(values, axis=-1) > 0).any():
            raise DomainError("singular values must be in descending order")
        if self.rank_rtol is not None and not 0 <= self.rank_rtol < 1:
            raise DomainError(f"rank_rtol must lie in [0, 1), got {self.rank_rtol}")

    @property
    def _arrays(self) -> tuple[Array, Array, Array]:
        return self.singular_values, self.norm_21, self.norm_11

    def __getitem__(self, index: Any) -> Spectrum:
        """Index the batch axes."""
        values, norm_21, norm_11 = (np.asarray(array[index]) for array in self._arrays)
        return Spectrum(values, self.shape, norm_21, norm_11, self.rank_rtol)

    def scaled(self, factor: float) -> Spectrum:
        """Return the spectrum of ``factor`` times the matrix, for a factor > 0."""
        values, norm_21, norm_11 = (factor * array for array in self._arrays)
        return Spectrum(values, self.shape, norm_21, norm_11, self.rank_rtol)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch axes; ``()`` for one matrix."""
        return self.norm_21.shape

    @cached_property
    def log_values(self) -> Array:
        """Natural logs of the singular values, minus infinity where they do not count."""
        rtol = max(self.shape) * 2.0**-52 if self.rank_rtol is None else self.rank_rtol
        values = self.singular_values
        with np.errstate(divide="ignore"):
            return np.where(values > rtol * values[..., :1], np.log(values), -np.inf)

    @property
    def rank(self) -> NDArray[np.int64]:
        """Number of singular values above the tolerance."""
        return np.asarray(np.count_nonzero(self.log_values > -np.inf, axis=-1))

    def log_schatten(self, p: float) -> Array:
        r"""Return :math:`\log S_p(W)`, minus infinity for a zero matrix.

        Raises
        ------
        DomainError
            ``p`` lies outside [0, 2].
        """
        if not 0 <= p <= 2:
            raise DomainError(f"the Schatten index p must lie in [0, 2], got {p}")
        with np.errstate(divide="ignore"):
            if p == 0:
                return np.asarray(np.log(self.rank.astype(np.float64)))
            top = self.log_values[..., 0]
            shifted = self.log_values - np.where(top > -np.inf, top, 0.0)[..., None]
            return np.asarray(p * top + np.log(np.exp(p * shifted).sum(axis=-1)))

    @property
    def spectral_norm(self) -> Array:
        """Largest singular value."""
        return self.singular_values[..., 0]

    @property
    def log_spectral_norm(self) -> Array:
        """Natural log of the largest singular value."""
        return self.log_values[..., 0]

    @property
    def frobenius_norm(self) -> Array:
        """Root of the sum of the squared singular values."""
        return np.exp(0.5 * self.log_schatten(2.0))

    @property
    def stable_rank(self) -> Array:
        """Squared ratio of Frobenius to spectral norm; 0 for a zero matrix."""
        top = self.log_spectral_norm
        with np.errstate(invalid="ignore"):
            return np.where(top > -np.inf, np.exp(self.log_schatten(2.0) - 2 * top), 0.0)


@dataclass(frozen=True, eq=False)
class Factored:
    """The product ``left @ right`` of a matrix, or of a batch, kept as its two factors.

    Attributes
    ----------
    left
        ``[..., d, r]``.
    right
        ``[..., r, k]``.
    """

    left: Array
    right: Array

    def __post_init__(self) -> None:
        if self.left.shape[-1] != self.right.shape[-2]:
            raise DomainError(
                f"factors must share their inner size, got {self.left.shape} and {self.right.shape}"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """``(d, k)`` of the product."""
        return self.left.shape[-2], self.right.shape[-1]

    def dense(self) -> Array:
        """Form the product."""
        return self.left @ self.right


def spectrum_of_factored(product: Factored, rank_rtol: float | None = None) -> Spectrum:
    r"""Return the spectrum of :math:`W = A B` from the triangular factors of A and of B^T.

    With :math:`A = Q_A R_A` and :math:`B^T = Q_B R_B`, the singular values of W are those of the
    small matrix :math:`R_A R_B^T`, and :math:`\|W_{:,j}\| = \|R_A B_{:,j}\|`. Only the (1,1) norm
    needs the entries of W; they are formed a block of rows at a time.
    """
    (left, left_exponents), (right, right_exponents) = map(_tamed, (product.left, product.right))
    r_left = np.linalg.qr(left, mode="r")
    r_right = np.linalg.qr(np.swapaxes(right, -1, -2), mode="r")
    core = r_left @ np.swapaxes(r_right, -1, -2)
    values = np.linalg.svd(core, compute_uv=False)
    norm_21 = _column_norms(r_left @ right)
    return _scaled(
        Spectrum(values, product.shape, norm_21, _entry_sum(left, right), rank_rtol),
        left_exponents + right_exponents,
    )


def spectrum_of_dense(matrix: Array, rank_rtol: float | None = None) -> Spectrum:
    r"""Return the spectrum of one matrix ``[d, k]``.

    :math:`\sigma_j(W) = \sqrt{\lambda_j(W W^T)}` on the shorter side while the eigenvalues keep
    enough digits (see ``GRAM_FLOOR``), a singular value decomposition otherwise.
    """
    tamed, exponents = _tamed(matrix)
    short = tamed if tamed.shape[0] <= tamed.shape[1] else tamed.T
    squares = np.linalg.eigvalsh(short @ short.T)[::-1]
    if squares[-1] > GRAM_FLOOR * squares[0]:
        values = np.sqrt(squares)
    else:
        values = np.linalg.svd(tamed, compute_uv=False)
    norm_11 = np.asarray(np.abs(tamed).sum())
    found = Spectrum(values, matrix.shape, _column_norms(tamed), norm_11, rank_rtol)
    return _scaled(found, exponents)


def stack(spectra: list[Spectrum]) -> Spectrum:
    """Join spectra of equal shape along a new leading batch axis."""
    first = spectra[0]
    joined = (np.stack(arrays) for arrays in zip(*(s._arrays for s in spectra), strict=True))
    values, norm_21, norm_11 = joined
    return Spectrum(values, first.shape, norm_21, norm_11, first.rank_rtol)


def _column_norms(matrix: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("...ij,...ij->...j", matrix, matrix)).sum(axis=-1))


def _entry_sum(left: Array, right: Array) -> Array:
    rows = max(1, BLOCK_PRODUCTS // (right.shape[-2] * right.shape[-1]))
    total = np.zeros(left.shape[:-2])
    for batch in np.ndindex(left.shape[:-2]):
        for start in range(0, left.shape[-2], rows):
            block = left[batch][start : start + rows] @ right[batch]
            total[batch] += np.abs(block, out=block).sum()
    return total


def _tamed(matrix: Array) -> tuple[Array, NDArray[np.int32]]:
    """Scale each matrix by a power of two, exactly, where squares could leave float64's range."""
    peaks = np.maximum(matrix.max(axis=(-2, -1)), -matrix.min(axis=(-2, -1)))
    exponents = np.frexp(peaks)[1]
    exponents = np.where(np.abs(exponents) > EXPONENT_LIMIT, exponents, 0).astype(np.int32)
    if not exponents.any():
        return matrix, exponents
    return np.ldexp(matrix, -exponents[..., None, None]), exponents


def _scaled(spectrum: Spectrum, exponents: NDArray[np.int32]) -> Spectrum:
    if not exponents.any():
        return spectrum
    with np.errstate(over="ignore"):
        values = np.ldexp(spectrum.singular_values, exponents[..., None])
        norm_21, norm_11 = (np.ldexp(n, exponents) for n in (spectrum.norm_21, spectrum.norm_11))
    if not np.isfinite(norm_11).all():
        raise DomainError("the norms of a matrix exceed the range of float64: rescale the weights")
    top = values[..., 0]
    if ((top < np.finfo(np.float64).tiny) & (spectrum.singular_values[..., 0] > 0)).any():
        raise DomainError(
            "the spectral norm of a nonzero matrix lies below the range of float64: "
            "rescale the weights"
        )
    return Spectrum(values, spectrum.shape, norm_21, norm_11, spectrum.rank_rtol)
