r"""The two function classes of the theory, as running NumPy code.

Class A (three matrices a layer), with rows of :math:`X` in the unit ball:

.. math:: X \mapsto \Pi(\varphi(\Pi(\mathrm{softmax}(X W_{QK} X^T) X W_V)) W_M).

Class B, the BERT-adapted one (2H + 2 matrices a layer), with one softmax head for each h:

.. math:: X \mapsto \Pi(\varphi(\Pi(\Pi(\sum_h A_h(X)) W_{in})) W_{out}).

Both end in the readout :math:`f(X) = \langle w, \text{first row} \rangle`. :math:`\Pi` projects each
row onto the unit ball, softmax acts on rows, :math:`\varphi` on entries. Every function takes inputs
of shape (..., T, N): T tokens as rows, any leading axes are a batch.

Class A is the paper's; class B is the class, stated here, under which the formulas of the paper's
scripts for multi-head models are a theorem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spectral_lib.errors import DomainError
from spectral_lib.notation import LIPSCHITZ

Array = npt.NDArray[np.float64]


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
    return rows * (radius / np.maximum(norms, radius))


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
    return np.asarray(2.0 * np.tanh(distance / 2.0), dtype=np.float64)


def _gelu(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x), dtype=np.float64)


def _gelu_tanh(x: Array) -> Array:
    inner = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    return np.asarray(0.5 * x * (1.0 + np.tanh(inner)), dtype=np.float64)


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


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
            f"unknown activation {activation!r} (known: {', '.join(ACTIVATIONS)}); choose one of these"
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


def _frozen(name: str, value: npt.ArrayLike, ndim: int) -> Array:
    array = np.array(value, dtype=np.float64)
    if array.ndim != ndim or not np.isfinite(array).all():
        raise DomainError(f"{name} must be a finite array of {ndim} axes, got shape {array.shape}")
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class LayerA:
    r"""A layer of class A: :math:`X \mapsto \Pi(\varphi(\Pi(A(X))) W_M)`.

    Parameters
    ----------
    qk, v
        The attention matrices, (N, N).
    m
        The feed-forward matrix, (N, N).
    """

    qk: Array
    v: Array
    m: Array

    def __post_init__(self) -> None:
        for name in ("qk", "v", "m"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name), 2))

    def __call__(self, x: npt.ArrayLike, activation: str) -> Array:
        """Return the next tokens, (..., T, N)."""
        hidden = activate(project_rows(attention(x, self.qk, self.v)), activation)
        return project_rows(hidden @ self.m)


@dataclass(frozen=True, eq=False)
class LayerB:
    r"""A layer of class B: :math:`X \mapsto \Pi(\varphi(\Pi(\Pi(\sum_h A_h(X)) W_{in})) W_{out})`.

    Parameters
    ----------
    qk, vo
        The matrices of the H heads, (H, N, N).
    ff_in, ff_out
        The feed-forward matrices, (N, I) and (I, N).
    """

    qk: Array
    vo: Array
    ff_in: Array
    ff_out: Array

    def __post_init__(self) -> None:
        for name, ndim in (("qk", 3), ("vo", 3), ("ff_in", 2), ("ff_out", 2)):
            object.__setattr__(self, name, _frozen(name, getattr(self, name), ndim))

    def __call__(self, x: npt.ArrayLike, activation: str) -> Array:
        """Return the next tokens, (..., T, N)."""
        heads = sum(attention(x, qk, vo) for qk, vo in zip(self.qk, self.vo, strict=True))
        inner = project_rows(project_rows(np.asarray(heads)) @ self.ff_in)
        return project_rows(activate(inner, activation) @ self.ff_out)


@dataclass(frozen=True, eq=False)
class Network:
    r"""A member of class A or B: layers, then :math:`f(X) = \langle w, \text{first row} \rangle`.

    Parameters
    ----------
    layers
        :class:`LayerA` or :class:`LayerB`, first layer first.
    readout
        :math:`w`, (N,).
    activation
        Name of :math:`\varphi`; its Lipschitz constant is ``lipschitz``.
    """

    layers: tuple[LayerA | LayerB, ...]
    readout: Array
    activation: str = "gelu"

    def __post_init__(self) -> None:
        activate(0.0, self.activation)
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "readout", _frozen("readout", self.readout, 1))

    @property
    def lipschitz(self) -> float:
        r"""Lipschitz constant :math:`L_\varphi` of the activation."""
        return LIPSCHITZ[self.activation]

    def tokens(self, x: npt.ArrayLike) -> Array:
        """Return the rows after the last layer, (..., T, N); inputs are first put in the ball."""
        rows = project_rows(x)
        for layer in self.layers:
            rows = layer(rows, self.activation)
        return rows

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return f(x), shape (...), for inputs (..., T, N)."""
        return np.asarray(self.tokens(x)[..., 0, :] @ self.readout, dtype=np.float64)
