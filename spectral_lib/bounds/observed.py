r"""A trained network seen as a member of class B: norms on their grid, sensitivities in logs.

Class B (derived here): :math:`X \mapsto \Pi(\phi(\Pi(\Pi(\sum_h A_h(X)) W_{in})) W_{out})`, read
out by :math:`\langle w, \text{first row} \rangle`. Every spectral norm, and that of w, is rounded
up to the grid :math:`\rho^j`, :math:`\rho = 1 + 1/(4L)`, before it enters lambda, alpha or gamma.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spectral_lib.bounds.covering import log_of
from spectral_lib.bounds.matrix_class import FloatArray, IntArray, require
from spectral_lib.bounds.peeling import Levels, norm_levels, norm_ratio
from spectral_lib.constants import KAPPA_SHARP
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import LIPSCHITZ, Convention, Kind
from spectral_lib.propagation import propagate
from spectral_lib.transformer import TransformerSpectra


@dataclass(frozen=True, eq=False)
class Observed:
    """The weight matrices of a network in the order of ``spectra.positions()``, then the readout.

    Attributes
    ----------
    d, k
        ``[J]``, rows and columns; the readout is an N x 1 matrix, the last of the J.
    norms
        ``[J]``, spectral norms rounded up to their grid.
    log_beta
        ``[J]``: log of gamma alpha times the readout's norm and the loss's Lipschitz constant,
        all at the rounded norms; for the readout, of the loss's Lipschitz constant alone.
    """

    d: IntArray
    k: IntArray
    norms: Levels
    log_beta: FloatArray


def in_order(by_kind: dict[Kind, FloatArray]) -> FloatArray:
    """Flatten arrays ``[L, G]`` of the four kinds to the order of ``spectra.positions()``."""
    return np.concatenate([by_kind[kind] for kind in Kind], axis=1).ravel()


def observe(
    spectra: TransformerSpectra,
    convention: Convention,
    *,
    readout_norm: float,
    loss_lipschitz: float,
) -> Observed:
    r"""Round the norms up and return :math:`\beta_i = C_w Lip_{loss} \gamma_i \alpha_i`.

    Raises
    ------
    DomainError
        The convention leaves out a factor that the theorem needs, or a norm is out of range.
    """
    require_theorem(convention, spectra.activation)
    require(np.isfinite(readout_norm) and readout_norm >= 0, "readout norm", ">= 0", readout_norm)
    require(
        np.isfinite(loss_lipschitz) and loss_lipschitz > 0,
        "loss Lipschitz constant",
        "> 0",
        loss_lipschitz,
    )
    ratio = norm_ratio(spectra.num_layers)
    log_norms = in_order({kind: spectra[kind].log_spectral_norm for kind in Kind})
    norms = norm_levels(np.append(log_norms, log_of(readout_norm)), ratio)
    rounded = replace(
        spectra,
        by_kind={
            kind: _with_norm(spectra[kind], norm_levels(spectra[kind].log_spectral_norm, ratio))
            for kind in Kind
        },
    )
    propagation = propagate(rounded, convention)
    # A loss that moves by less than its Lipschitz constant times the readout's change.
    log_loss = float(np.log(loss_lipschitz))
    log_scale = in_order({kind: propagation.log_scale(kind, 1) for kind in Kind})
    log_beta = np.append(log_loss + norms.log_radius[-1] + log_scale, log_loss)
    shapes = [spectra[kind].shape for _, kind, _ in spectra.positions()]
    d, k = np.array([*shapes, (spectra.hidden_size, 1)]).T
    return Observed(d, k, norms, log_beta)


def require_theorem(convention: Convention, activation: str) -> None:
    """Raise :class:`DomainError` unless the proof for class B supports the convention."""
    wanted = {
        "l_phi_in_gamma": True,
        "pi_before_phi": True,
        "dims": "exact",
        "scale_count": "J",
    }
    for name, value in wanted.items():
        if getattr(convention, name) != value:
            raise DomainError(
                f"the post hoc bound is proved for {name} = {value!r}, "
                f"got {getattr(convention, name)!r}; use the consistent convention"
            )
    if convention.kappa < KAPPA_SHARP:
        raise DomainError(f"kappa must be at least {KAPPA_SHARP:g}, got {convention.kappa:g}")
    if convention.lipschitz(activation) < LIPSCHITZ.get(activation, 0.0):
        raise DomainError(
            f"l_phi must be at least {LIPSCHITZ[activation]:.7g} for {activation}, "
            f"got {convention.l_phi}"
        )


def _with_norm(spectrum: Spectrum, levels: Levels) -> Spectrum:
    """Return a spectrum with the rounded norm as its one singular value: all propagation reads."""
    values = np.exp(levels.log_radius)[..., None]
    return replace(spectrum, singular_values=values)
