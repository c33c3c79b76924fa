r"""The maps that both classes are built of: projection, softmax, activation, one head."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from spectral_lib.constants import SOFTMAX_DIAMETER
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Array


def project_rows(x: npt.ArrayLike, radius: float = 1.0) -> Array:
    r"""Return :math:`\Pi(x)_t = x_t \min(1, \text{radius} / \|x_t\|_2)` for each row.

    The nearest point of a convex set: 1-Lipschitz in the 2-norm of each row.

    Parameters
    ----------
    x
        Rows, shape (..., N).
    radius
        Radius of the ball, > 0.

    Raises
    ------
    DomainError
        If the radius is not positive.
    """
    if not radius > 0:
        raise DomainError(f"the ball's radius must be > 0, got {radius!r}")
    rows = np.asarray(x, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows * (radius / np.maximum(norms, radius)), dtype=np.float64)


def softmax(z: npt.ArrayLike) -> Array:
    r"""Return :math:`e^{z_j} / \sum_i e^{z_i}` along the last axis, without overflow."""
    logits = np.asarray(z, dtype=np.float64)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float64)


def softmax_modulus(t: npt.ArrayLike) -> Array:
    r"""Return :math:`2 \tanh(t / 2)`, the sharp modulus of continuity of the softmax.

    The supremum of :math:`\|\mathrm{softmax}(z) - \mathrm{softmax}(z')\|_1` over
    :math:`\|z - z'\|_\infty = t`, for two or more entries (derived here). It is at most
    ``KAPPA_SHARP * t``, and ``KAPPA_EDELMAN * t`` is the linear bound of Edelman et al. (2022).

    Raises
    ------
    DomainError
        If an entry of ``t``, a distance, is negative.
    """
    distance = np.asarray(t, dtype=np.float64)
    if np.any(distance < 0):
        raise DomainError(f"a distance must be >= 0, got {float(distance.min())!r}")
    return np.asarray(SOFTMAX_DIAMETER * np.tanh(distance / 2.0), dtype=np.float64)


def _gelu(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x), dtype=np.float64)


def _gelu_tanh(x: Array) -> Array:
    inner = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    return np.asarray(0.5 * x * (1.0 + np.tanh(inner)), dtype=np.float64)


def _relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0.0), dtype=np.float64)


def _tanh(x: Array) -> Array:
    return np.asarray(np.tanh(x), dtype=np.float64)


#: The activations by the names that :data:`spectral_lib.notation.LIPSCHITZ` bounds.
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": _relu,
    "tanh": _tanh,
}


def activate(x: npt.ArrayLike, activation: str) -> Array:
    r"""Return :math:`\varphi(x)` entry by entry, with :math:`\varphi(0) = 0`.

    Raises
    ------
    DomainError
        If the activation is not among :data:`ACTIVATIONS`.
    """
    if activation not in ACTIVATIONS:
        raise DomainError(
            f"unknown activation {activation!r}; choose one of {', '.join(ACTIVATIONS)}"
        )
    return ACTIVATIONS[activation](np.asarray(x, dtype=np.float64))


def attention(x: npt.ArrayLike, qk: npt.ArrayLike, v: npt.ArrayLike) -> Array:
    r"""Return one head, :math:`\mathrm{softmax}(X W_{QK} X^T) X W_V`.

    Parameters
    ----------
    x
        Tokens as rows, (..., T, N).
    qk
        :math:`W_{QK}`, (N, N): the product of query and key weights.
    v
        :math:`W_V`, (N, N') (in class B the product of value and output weights).
    """
    tokens = np.asarray(x, dtype=np.float64)
    logits = tokens @ np.asarray(qk) @ np.swapaxes(tokens, -1, -2)
    return np.asarray(softmax(logits) @ (tokens @ np.asarray(v)), dtype=np.float64)
