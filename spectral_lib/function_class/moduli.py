r"""Lipschitz moduli of a head, and the propagation constants of class A, in natural logs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spectral_lib.constants import SCORE_OCCURRENCES
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Array


def _norms(**named: npt.ArrayLike) -> list[Array]:
    arrays = [np.asarray(value, dtype=np.float64) for value in named.values()]
    for name, array in zip(named, arrays, strict=True):
        if not (np.isfinite(array).all() and (array >= 0).all()):
            raise DomainError(f"{name} must hold finite norms >= 0, got {array.tolist()}")
    return arrays


def _positive(**named: float) -> None:
    for name, value in named.items():
        if not (np.isfinite(value) and value > 0):
            raise DomainError(f"{name} must be a finite number > 0, got {value!r}")


def head_modulus(norm_qk: npt.ArrayLike, norm_v: npt.ArrayLike, *, kappa: float) -> Array:
    r"""Return :math:`C_V (1 + 2 \kappa C_{QK})`, a Lipschitz constant of a head in its tokens.

    In the largest row 2-norm, for tokens in the unit ball. With ``KAPPA_EDELMAN`` it is
    :math:`C_V (1 + 4 C_{QK})`, the factor of Edelman et al. (2022) and of the paper.

    Parameters
    ----------
    norm_qk, norm_v
        Spectral norms :math:`C_{QK}` and :math:`C_V`, any broadcastable shapes.
    kappa
        Softmax modulus in the l_inf to l_1 norms.
    """
    qk, v = _norms(norm_qk=norm_qk, norm_v=norm_v)
    _positive(kappa=kappa)
    return np.asarray(v * (1.0 + SCORE_OCCURRENCES * kappa * qk), dtype=np.float64)


def sharp_head_modulus(norm_qk: npt.ArrayLike, norm_v: npt.ArrayLike) -> Array:
    r"""Return :math:`C_V (C_{QK} + \sqrt{1 + C_{QK}^2})`, the best constant of that kind.

    No smaller constant serves all token counts (derived here). The query's motion contributes a
    covariance of two coordinates of the ball, at most :math:`C_{QK}`; the keys' and values' motion
    contributes :math:`E \|v + (s - E s) g\|` with :math:`|s| \le 1`, :math:`\|v\| = 1`,
    :math:`\|g\| \le C_{QK}`, at most :math:`\sqrt{1 + C_{QK}^2}` by Jensen's inequality.

    Parameters
    ----------
    norm_qk, norm_v
        Spectral norms :math:`C_{QK}` and :math:`C_V`, any broadcastable shapes.
    """
    qk, v = _norms(norm_qk=norm_qk, norm_v=norm_v)
    return np.asarray(v * (qk + np.hypot(1.0, qk)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PropagationA:
    """Natural logs of class A's propagation constants; minus infinity where a matrix is zero.

    Attributes
    ----------
    log_lambda
        ``[L]``, Lipschitz constant of each layer in the largest row norm.
    log_alpha
        ``[L]``, product of lambda over the later layers; the last entry is 0.
    log_gamma_qk, log_gamma_v, log_gamma_m
        ``[L]``, sensitivity of the layer's output to each of its matrices.
    """

    log_lambda: Array
    log_alpha: Array
    log_gamma_qk: Array
    log_gamma_v: Array
    log_gamma_m: Array


def propagate_a(
    norm_qk: npt.ArrayLike,
    norm_v: npt.ArrayLike,
    norm_m: npt.ArrayLike,
    *,
    kappa: float,
    l_phi: float,
) -> PropagationA:
    r"""Return lambda, alpha and gamma of every layer of a class A network.

    .. math::
        \lambda_l = L_\varphi C_M C_V (1 + 2 \kappa C_{QK}), \qquad
        \alpha^{(l)} = \prod_{k > l} \lambda_k,

        \gamma_{QK} = \kappa L_\varphi C_V C_M, \qquad \gamma_V = L_\varphi C_M, \qquad
        \gamma_M = L_\varphi .

    :math:`\gamma_M` belongs to a matrix whose inputs are scaled into the unit ball; the factor of
    the activation stands in gamma or in the radius of the inputs, never in both.

    Parameters
    ----------
    norm_qk, norm_v, norm_m
        Spectral norms :math:`C_{QK}, C_V, C_M`, ``[L]`` each.
    kappa
        Softmax modulus.
    l_phi
        Lipschitz constant :math:`L_\varphi` of the activation.
    """
    qk, v, m = _norms(norm_qk=norm_qk, norm_v=norm_v, norm_m=norm_m)
    if not (qk.ndim == 1 and qk.shape == v.shape == m.shape):
        raise DomainError(
            "class A has one norm of each kind a layer: give three vectors of one length, "
            f"got shapes {qk.shape}, {v.shape}, {m.shape}"
        )
    _positive(kappa=kappa, l_phi=l_phi)
    with np.errstate(divide="ignore"):
        log_v, log_m = np.log(v), np.log(m)
    log_lambda = np.log(l_phi) + log_m + log_v + np.log1p(SCORE_OCCURRENCES * kappa * qk)
    later = np.cumsum(log_lambda[::-1])[::-1]
    return PropagationA(
        log_lambda=log_lambda,
        log_alpha=np.append(later[1:], 0.0),
        log_gamma_qk=np.log(kappa * l_phi) + log_v + log_m,
        log_gamma_v=np.log(l_phi) + log_m,
        log_gamma_m=np.full_like(log_m, np.log(l_phi)),
    )
