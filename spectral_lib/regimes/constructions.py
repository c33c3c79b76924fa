r"""Matrices that attain the classes: spectra and norms are then measured from them.

For every matrix :math:`\|W\|_{2,1} \le \sqrt N \|W\|_F`, with equality for columns of one length,
and :math:`\|W\|_{1,1} \le N \|W\|_F`, with equality for entries of one size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectral_lib.errors import DomainError
from spectral_lib.regimes.symbolic import Regime

FloatArray = NDArray[np.float64]


def hadamard(size: int) -> FloatArray:
    """Return Sylvester's Hadamard matrix: entries 1 and -1, orthogonal rows.

    Raises
    ------
    DomainError
        A size that is not a power of two.
    """
    if size < 1 or size & (size - 1):
        raise DomainError(f"the size must be a power of two, got {size}")
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def rank_attaining(hidden: int, rank: int, norm: float = 1.0) -> FloatArray:
    r"""Return :math:`\frac{s \sqrt r}{N} H_r \otimes 1_{N/r}`: all r singular values equal s.

    Its entries have one size, so it attains :math:`\|W\|_F = s \sqrt r` and with it both mixed
    norms at once. At r = N it attains the spectral class; at r = 1, with s = F, the Frobenius
    class.

    Raises
    ------
    DomainError
        A rank that is not a power of two or does not divide N.
    """
    if rank < 1 or hidden % rank:
        raise DomainError(f"the rank must divide hidden = {hidden}, got {rank}")
    block = np.full((hidden // rank, hidden // rank), norm * np.sqrt(rank) / hidden)
    return np.asarray(np.kron(hadamard(rank), block), dtype=np.float64)


def frobenius_attaining(hidden: int, norm: float = 1.0, rank: int = 1) -> FloatArray:
    r"""Return the same construction with :math:`\|W\|_F = F`, for any power of two as rank."""
    return rank_attaining(hidden, rank, norm / np.sqrt(rank))


def power_law_attaining(hidden: int, decay: float, norm: float = 1.0, seed: int = 0) -> FloatArray:
    r"""Return :math:`\frac1N H_N \Sigma D H_N`: singular values :math:`s j^{-a}`, D random signs.

    Every column has length :math:`\|W\|_F / \sqrt N`, since :math:`H_N / \sqrt N` spreads each
    squared singular value evenly: the (2,1) norm is attained. Entries of one size would make W a
    multiple of a sign matrix, whose singular values are in general no power law, so the (1,1) norm
    :math:`N \|W\|_F` is not attained; by Khintchine's inequality random signs reach on average at
    least :math:`1/\sqrt2` of it, hence the same exponents.

    Raises
    ------
    DomainError
        A size that is not a power of two.
    """
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=hidden)
    weights = norm * np.arange(1.0, hidden + 1.0) ** -decay * signs
    rotation = hadamard(hidden)
    return np.asarray((rotation * weights) @ rotation / hidden, dtype=np.float64)


def attaining(
    regime: Regime,
    *,
    N: int,
    r: int | None = None,
    s: float = 1.0,
    F: float | None = None,
    a: float | None = None,
) -> FloatArray:
    """Return the construction of a regime at the values of the expressions' symbols.

    Raises
    ------
    DomainError
        A parameter that the regime needs and that is missing, or a size as above.
    """
    if regime is Regime.RANK and r is not None:
        return rank_attaining(N, r, s)
    if regime is Regime.FROBENIUS and F is not None:
        return frobenius_attaining(N, F)
    if regime is Regime.SPECTRAL:
        return rank_attaining(N, N, s)
    if regime is Regime.POWER_LAW and a is not None:
        return power_law_attaining(N, a, s)
    needed = {Regime.RANK: "r", Regime.FROBENIUS: "F", Regime.POWER_LAW: "a"}[regime]
    raise DomainError(f"the {regime} regime needs {needed}")
