r"""Finite samples of matrices: members of the Schatten classes, and greedy packings of them.

Farthest-point traversal orders a sample so that every prefix is at once a packing and a cover:
with insertion radii :math:`r_1 \ge r_2 \ge \dots`, the points with :math:`r_i > \varepsilon` are
pairwise more than :math:`\varepsilon` apart, and every other point is within :math:`\varepsilon` of
one of them. So one pass serves all scales. Points more than :math:`2 \varepsilon` apart need
as many cover elements at scale :math:`\varepsilon`: so a packing tests a covering bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from spectral_lib.errors import DomainError
from spectral_lib.matrices import Array

#: Norm of each matrix of a stack, (m, d, k) -> (m,); the metric is the norm of the difference.
Norm = Callable[[Array], Array]
#: Shapes of a singular-value profile inside the class, see :func:`class_profile`.
Profile = Literal["flat", "spread", "power", "random"]
#: Singular values of the "power" profile decay as j^-DECAY.
DECAY = 1.0


def operator_norm(matrices: Array) -> Array:
    r"""Return :math:`\|W\|_2` of each matrix of a stack (m, d, k)."""
    return np.asarray(np.linalg.svd(matrices, compute_uv=False)[..., 0], dtype=np.float64)


def frobenius_norm(matrices: Array) -> Array:
    r"""Return :math:`\|W\|_F` of each matrix of a stack (m, d, k)."""
    return np.asarray(np.linalg.norm(matrices, axis=(-2, -1)), dtype=np.float64)


def sample_norm(inputs: npt.ArrayLike) -> Norm:
    r"""Return the seminorm :math:`W \mapsto \max_i \|x_i W\|_2` of inputs (mu, d)."""
    x = np.asarray(inputs, dtype=np.float64)
    return lambda w: np.asarray(np.linalg.norm(x @ w, axis=-1).max(axis=-1), dtype=np.float64)


def bilinear_norm(tokens: npt.ArrayLike) -> Norm:
    r"""Return the seminorm :math:`W \mapsto \max_{t,j} |x_t W x_j^T|` of tokens (T, N)."""
    x = np.asarray(tokens, dtype=np.float64)
    return lambda w: np.asarray(np.abs(x @ w @ x.T).max(axis=(-2, -1)), dtype=np.float64)


def insertion_radii(matrices: npt.ArrayLike, norm: Norm) -> Array:
    r"""Return the insertion radii of a farthest-point traversal that starts at the first matrix.

    .. math:: r_1 = \infty, \qquad r_i = \max_W \min_{j < i} \|W - W_{(j)}\|

    Parameters
    ----------
    matrices
        The sample, (m, d, k); the work is m calls of the norm on m matrices.
    norm
        Norm of the metric, for instance :func:`operator_norm`.

    Returns
    -------
    numpy.ndarray
        (m,), descending.
    """
    sample = np.asarray(matrices, dtype=np.float64)
    if sample.ndim != 3 or len(sample) == 0:
        raise DomainError(f"a sample of matrices has shape (m, d, k), m >= 1, got {sample.shape}")
    radii = np.empty(len(sample))
    gaps = np.full(len(sample), np.inf)
    chosen = 0
    for i in range(len(sample)):
        radii[i] = gaps[chosen]
        gaps = np.minimum(gaps, norm(sample - sample[chosen]))
        chosen = int(gaps.argmax())
    return radii


def packing_size(radii: npt.ArrayLike, eps: npt.ArrayLike) -> npt.NDArray[np.int64]:
    r"""Return :math:`\#\{i : r_i > \varepsilon\}`, the points pairwise more than eps apart.

    The same points are an eps-cover of the sample.

    Parameters
    ----------
    radii
        What :func:`insertion_radii` returned.
    eps
        Scales > 0, any shape; the sizes have the same shape.
    """
    scales = np.asarray(eps, dtype=np.float64)
    if not (scales > 0).all():
        raise DomainError(f"a scale must be > 0, got {scales.tolist()}")
    return np.asarray((np.asarray(radii) > scales[..., None]).sum(axis=-1), dtype=np.int64)


def class_profile(
    q: int,
    *,
    s: float,
    budget: float,
    p: float,
    profile: Profile = "flat",
    rng: np.random.Generator | None = None,
) -> Array:
    r"""Return singular values of a member of :math:`\{\|W\|_2 \le s,\; S_p(W) \le M\}`.

    ``flat``: as many values s as the budget M pays for, then the rest in one value: the extreme
    point, both constraints active where q allows. ``spread``: q equal values. ``power``: values
    that decay as 1/j. ``random``: shares of the budget drawn from the uniform law on the simplex.
    At p = 0 the budget pays for the rank.

    Parameters
    ----------
    q
        Number of singular values, min(d, k).
    s, budget, p
        Spectral bound s > 0, Schatten budget :math:`M \ge 0`, exponent in [0, 2].
    profile
        One of the four shapes.
    rng
        Generator, for ``random`` only.

    Returns
    -------
    numpy.ndarray
        (q,), descending.
    """
    if not 0 <= p <= 2:
        raise DomainError(f"the Schatten exponent p must lie in [0, 2], got {p!r}")
    if not (s > 0 and budget >= 0 and q >= 1):
        raise DomainError(f"need q >= 1, s > 0, budget >= 0, got {q!r}, {s!r}, {budget!r}")
    if profile not in get_args(Profile):
        raise DomainError(f"unknown profile {profile!r}; choose one of {get_args(Profile)}")
    if profile == "random" and rng is None:
        raise DomainError("the random profile draws numbers: give rng, a numpy Generator")
    shape = np.ones(q)
    if profile == "power":
        shape = np.arange(1.0, q + 1.0) ** -DECAY
    if p == 0:
        if profile == "random" and rng is not None:
            shape = np.sort(rng.random(q))[::-1]
        return np.asarray(s * shape * (np.arange(q) < np.floor(budget)), dtype=np.float64)
    if profile == "flat":
        left = np.clip(budget - np.arange(q) * s**p, 0.0, s**p)
        return np.asarray(left ** (1.0 / p), dtype=np.float64)
    if profile == "random" and rng is not None:
        shape = np.sort(rng.dirichlet(np.ones(q)))[::-1] ** (1.0 / p)
    values = shape * (budget / (shape**p).sum()) ** (1.0 / p)
    return np.asarray(np.minimum(values, s), dtype=np.float64)


def orthonormal_frames(rng: np.random.Generator, size: int, n: int, q: int) -> Array:
    """Return ``size`` uniformly distributed n x q matrices with orthonormal columns."""
    frames, upper = np.linalg.qr(rng.standard_normal((size, n, q)))
    signs = np.sign(np.diagonal(upper, axis1=-2, axis2=-1))
    return np.asarray(frames * signs[..., None, :], dtype=np.float64)


def random_members(
    rng: np.random.Generator,
    size: int,
    shape: tuple[int, int],
    *,
    s: float,
    budget: float,
    p: float,
    profile: Profile = "flat",
) -> Array:
    r"""Return members :math:`U \mathrm{diag}(\sigma) V^T` of the class, U and V uniform.

    Parameters
    ----------
    rng
        Source of all randomness.
    size, shape
        How many, and (d, k); the result is (size, d, k).
    s, budget, p, profile
        The class and the singular values, see :func:`class_profile`.
    """
    d, k = shape
    q = min(d, k)
    values = np.stack(
        [class_profile(q, s=s, budget=budget, p=p, profile=profile, rng=rng) for _ in range(size)]
    )
    left, right = (orthonormal_frames(rng, size, n, q) for n in (d, k))
    return np.asarray((left * values[:, None, :]) @ right.swapaxes(-1, -2), dtype=np.float64)
