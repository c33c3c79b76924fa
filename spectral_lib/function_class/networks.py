r"""The layers of the two classes and the networks made of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spectral_lib.errors import DomainError
from spectral_lib.function_class.maps import activate, attention, project_rows
from spectral_lib.matrices import Array
from spectral_lib.notation import LIPSCHITZ


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
