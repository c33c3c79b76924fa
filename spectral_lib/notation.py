"""The words and the choices of the project: matrix kinds, provenance, conventions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from spectral_lib import constants
from spectral_lib.errors import DomainError


class Kind(StrEnum):
    """The four kinds of weight matrix of a BERT layer, as maps x -> x W of row vectors."""

    QK = "QK"  #: W_Q^h (W_K^h)^T of one head, N x N, rank at most N/H
    VO = "VO"  #: W_V^h W_O^h of one head, N x N, rank at most N/H
    FF_IN = "FF_IN"  #: first feed-forward matrix, N x I
    FF_OUT = "FF_OUT"  #: second feed-forward matrix, I x N

    @property
    def per_head(self) -> bool:
        """Whether a layer has one such matrix for each head."""
        return self in (Kind.QK, Kind.VO)


class Provenance(StrEnum):
    """Where a statement comes from."""

    PAPER = "paper"  #: stated in the paper
    SCRIPTS = "scripts"  #: what the paper's released scripts evaluate
    EARLIER = "earlier work"  #: known before the paper, cited
    DERIVED = "derived here"  #: proved in this project, not in the paper


#: sup |phi'| of the activations met in BERT configurations, by their `hidden_act` name.
LIPSCHITZ = {
    "gelu": constants.L_PHI_GELU,
    "gelu_new": constants.L_PHI_GELU_TANH,
    "gelu_pytorch_tanh": constants.L_PHI_GELU_TANH,
    "relu": 1.0,
    "tanh": 1.0,
}


@dataclass(frozen=True)
class Convention:
    r"""Every choice that moves a number, named.

    Parameters
    ----------
    kappa
        Softmax modulus: :math:`\|softmax(z) - softmax(z')\|_1 \le \kappa \|z - z'\|_\infty`.
    l_phi
        Lipschitz constant of the activation, or ``"exact"`` for that of the model's activation.
    l_phi_in_gamma
        Whether ``l_phi`` enters the sensitivities gamma (it always enters lambda).
    pi_before_phi
        Whether rows are projected to the unit ball between the first feed-forward matrix and the
        activation; without it gamma of the second matrix carries the norm of the first.
    edelman_qk_factor
        Factor of the QK term in the (2,1)- and (1,1)-norm proxies.
    dims
        ``"N"``: the hidden size stands for every dimension; ``"exact"``: each matrix's own.
    scale_count
        Count that multiplies gamma alpha: ``"L"`` layers, or ``"J"`` = L (2H + 2) matrices.
    """

    kappa: float = constants.KAPPA_EDELMAN
    l_phi: float | Literal["exact"] = constants.L_PHI_SCRIPTS
    l_phi_in_gamma: bool = False
    pi_before_phi: bool = True
    edelman_qk_factor: float = 1.0
    dims: Literal["N", "exact"] = "N"
    scale_count: Literal["L", "J"] = "L"

    def __post_init__(self) -> None:
        positive = {"kappa": self.kappa, "edelman_qk_factor": self.edelman_qk_factor}
        if self.l_phi != "exact":
            positive["l_phi"] = self.l_phi
        for name, value in positive.items():
            if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
                raise DomainError(f"convention {name} must be a finite number > 0, got {value!r}")
        if self.dims not in ("N", "exact"):
            raise DomainError(f"convention dims must be 'N' or 'exact', got {self.dims!r}")
        if self.scale_count not in ("L", "J"):
            raise DomainError(
                f"convention scale_count must be 'L' or 'J', got {self.scale_count!r}"
            )

    def lipschitz(self, activation: str) -> float:
        """Return the Lipschitz constant of the activation under this convention."""
        if self.l_phi != "exact":
            return self.l_phi
        if activation not in LIPSCHITZ:
            raise DomainError(
                f"no exact Lipschitz constant for activation {activation!r} "
                f"(known: {', '.join(LIPSCHITZ)}); give l_phi as a number"
            )
        return LIPSCHITZ[activation]


#: What the paper's released scripts evaluate.
PAPER = Convention()
#: What the proof for the BERT-adapted class supports, with nothing rounded or left out.
CONSISTENT = Convention(
    kappa=constants.KAPPA_EDELMAN,
    l_phi="exact",
    l_phi_in_gamma=True,
    pi_before_phi=True,
    edelman_qk_factor=2.0,
    dims="exact",
    scale_count="J",
)
