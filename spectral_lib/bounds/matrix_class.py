r"""Batches of matrix classes, and the three metrics in which they are covered.

A class is :math:`\{W \in \mathbb{R}^{d \times k} : \|W\|_2 \le s,\ S_p(W) \le M\}`, met by row
vectors ``x`` with :math:`\|x\|_2 \le B`; ``beta`` says how far a change of ``x W`` by one moves
the loss. Everything in :mod:`spectral_lib.bounds` is vectorised over such a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectral_lib.constants import GAUSSIAN_MAXIMUM, P_MAX, SIGNED_SCORES
from spectral_lib.errors import DomainError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def require(condition: ArrayLike, name: str, admissible: str, value: object) -> None:
    """Raise a one-line :class:`DomainError` unless ``condition`` holds everywhere."""
    holds = np.asarray(condition, dtype=bool)
    if holds.all():
        return
    shown = np.asarray(value)
    if shown.shape == holds.shape and shown.ndim:
        shown = shown[~holds].flat[0]
    raise DomainError(f"{name} must be {admissible}, got {shown}")


@dataclass(frozen=True)
class MatrixClasses:
    r"""Classes :math:`\{W : \|W\|_2 \le s, S_p(W) \le M\}` with their places in a network.

    All fields are arrays of one shape; the constructor :meth:`of` checks and broadcasts.

    Parameters
    ----------
    d, k
        Rows and columns of the matrices (the paper's N x N for every matrix).
    s
        Bound on the spectral norm; 0 is the class of the zero matrix.
    p
        Schatten exponent, in [0, 2]; ``S_0`` is the rank (the paper's p).
    m
        Schatten budget: ``S_p(W) = sum_j sigma_j^p <= m``; not a norm: no p-th root is taken.
    b
        Bound on the 2-norm of an input row.
    log_beta
        Natural log of the sensitivity: replacing ``W`` so that every ``x W`` moves by at most
        ``eps_i`` moves the loss by at most ``beta eps_i`` (the paper's gamma alpha, times the
        readout's norm and the loss's Lipschitz constant). ``-inf`` where the loss cannot move.
    """

    d: IntArray
    k: IntArray
    s: FloatArray
    p: FloatArray
    m: FloatArray
    b: FloatArray
    log_beta: FloatArray

    @classmethod
    def of(
        cls,
        d: ArrayLike,
        k: ArrayLike,
        *,
        s: ArrayLike,
        p: ArrayLike,
        m: ArrayLike,
        b: ArrayLike = 1.0,
        log_beta: ArrayLike = 0.0,
    ) -> Self:
        """Check the ranges and broadcast to one shape; raise :class:`DomainError` outside them."""
        sizes = [np.asarray(d), np.asarray(k)]
        for name, size in zip("dk", sizes, strict=True):
            require(size >= 1, name, "an integer >= 1", size)
            require(size == np.floor(size), name, "an integer >= 1", size)
        reals = [np.asarray(x, dtype=np.float64) for x in (s, p, m, b, log_beta)]
        norm, exponent, budget, inputs, sensitivity = reals
        require(np.isfinite(norm) & (norm >= 0), "s", "finite and >= 0", norm)
        require((exponent >= 0) & (exponent <= P_MAX), "p", "in [0, 2]", exponent)
        require(np.isfinite(budget) & (budget >= 0), "M", "finite and >= 0", budget)
        require(np.isfinite(inputs) & (inputs > 0), "B", "finite and > 0", inputs)
        require(sensitivity < np.inf, "log beta", "a number or -inf", sensitivity)
        rows, columns, *rest = np.broadcast_arrays(*sizes, *reals)
        return cls(rows.astype(np.int64), columns.astype(np.int64), *(x.copy() for x in rest))

    def __getitem__(self, index: Any) -> Self:
        """Return the classes at ``index`` of the batch."""
        return type(self)(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch."""
        return self.p.shape

    @property
    def size(self) -> int:
        """Number of classes in the batch (the J of a network)."""
        return self.p.size

    @property
    def q(self) -> IntArray:
        """The smaller dimension ``min(d, k)``, the largest rank."""
        return np.minimum(self.d, self.k)

    @property
    def trivial(self) -> NDArray[np.bool_]:
        """Where a bound of zero leaves the zero matrix alone: one point covers it."""
        return np.asarray((self.s == 0) | (self.m == 0))

    def full_rank(self) -> Self:
        """Return the same classes with the spectral constraint alone: p = 0 and M = min(d, k)."""
        p = np.zeros_like(self.p)
        return type(self)(self.d, self.k, self.s, p, self.q.astype(float), self.b, self.log_beta)


@dataclass(frozen=True)
class SampleMetric:
    r"""The seminorm :math:`\max_{i \le \mu} \|x_i \, dW\|_2` on a fixed set of input vectors.

    Parameters
    ----------
    vectors
        Their number mu: samples times tokens, n T.
    """

    vectors: float

    def __post_init__(self) -> None:
        require(np.isfinite(self.vectors) and self.vectors >= 1, "mu", ">= 1", self.vectors)

    def width_squared(self, classes: MatrixClasses) -> FloatArray:
        r"""Return :math:`K = (\sqrt k + \sqrt{2 \log \mu})^2`, at least the squared Gaussian width.

        :math:`E \max_i \|x_i G\|_2 \le B \sqrt K` for a standard Gaussian G.
        """
        tail = np.sqrt(GAUSSIAN_MAXIMUM * np.log(self.vectors))
        return np.asarray(np.square(np.sqrt(classes.k) + tail), dtype=np.float64)


@dataclass(frozen=True)
class OperatorMetric:
    r"""The norm :math:`B \|dW\|_2`: it bounds every input at once, whatever their number."""

    def width_squared(self, classes: MatrixClasses) -> FloatArray:
        r"""Return :math:`K_{op} = (\sqrt d + \sqrt k)^2 \ge (E \|G\|_2)^2`: no n, no T."""
        return np.asarray(np.square(np.sqrt(classes.d) + np.sqrt(classes.k)), dtype=np.float64)


@dataclass(frozen=True)
class ScoreMetric:
    r"""The seminorm :math:`\max_{t,j} |x_t \, dW \, x_j^\top|` on the token pairs of a sample.

    What a query-key matrix moves are scores. Tokens lie in the unit ball, so B must be 1.

    Parameters
    ----------
    samples, tokens
        n sequences of T tokens: n T^2 pairs.
    """

    samples: float
    tokens: float

    def __post_init__(self) -> None:
        require(np.isfinite(self.samples) and self.samples >= 1, "samples n", ">= 1", self.samples)
        require(np.isfinite(self.tokens) and self.tokens >= 1, "tokens T", ">= 1", self.tokens)

    def width_squared(self, classes: MatrixClasses) -> FloatArray:
        r"""Return :math:`2 \log(2 n T^2)`, at least the squared Gaussian width: no dimension.

        :math:`E \max_{t,j} |x_t G x_j^\top| \le \sqrt{2 \log(2 n T^2)}`.
        """
        require(classes.b == 1, "B", "1 in the score metric", classes.b)
        scores = SIGNED_SCORES * self.samples * self.tokens**2
        return np.full(classes.shape, GAUSSIAN_MAXIMUM * np.log(scores))


Metric = SampleMetric | OperatorMetric | ScoreMetric
