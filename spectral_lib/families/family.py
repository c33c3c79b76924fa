"""A family: encoders of one design over depths and widths, as the experiments compare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spectral_lib.errors import DomainError
from spectral_lib.transformer import TransformerSpectra


@dataclass(frozen=True, eq=False)
class LossCurve:
    """How one model learned; losses are means of -log p(true token), in nats.

    Attributes
    ----------
    training
        float64 [steps], the loss of each step's batch.
    held_out_steps, held_out
        int64 [m] and float64 [m]: steps at which held-out text was evaluated, the same windows of
        it each time, and its loss.
    """

    training: np.ndarray
    held_out_steps: np.ndarray
    held_out: np.ndarray


@dataclass(frozen=True, eq=False)
class Family:
    """Encoders over depths L and widths N.

    Attributes
    ----------
    name
        ``"grid"``, ``"miniatures"`` or ``"packaged"``.
    title
        What the models are, in words that a figure can carry.
    members
        The trained encoders, by L and then N. A family may have gaps.
    snapshots
        By model name and training step: spectra during training, the initial ones at step 0.
        Empty for checkpoints that come without their history.
    losses
        By model name; empty where no losses are known.
    manifest
        Provenance: sources, licences, versions, seeds, hashes.
    """

    name: str
    title: str
    members: tuple[TransformerSpectra, ...]
    snapshots: dict[str, dict[int, TransformerSpectra]] = field(default_factory=dict)
    losses: dict[str, LossCurve] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.members:
            raise DomainError(f"the family {self.name!r} has no members")
        sizes = [_size(s) for s in self.members]
        if len(set(sizes)) < len(sizes):
            raise DomainError(f"the family {self.name!r} has two members of one size")
        ordered = sorted(self.members, key=_size)
        object.__setattr__(self, "members", tuple(ordered))
        for model, steps in self.snapshots.items():
            of_member = {_size(s) for s in self.members if s.model == model}
            if len(of_member) != 1 or {_size(s) for s in steps.values()} - of_member:
                raise DomainError(
                    f"the family {self.name!r} has snapshots of {model!r}, which are not of one "
                    "member and its size"
                )

    @property
    def depths(self) -> tuple[int, ...]:
        """The values of L, ascending."""
        return tuple(sorted({s.num_layers for s in self.members}))

    @property
    def widths(self) -> tuple[int, ...]:
        """The values of N, ascending."""
        return tuple(sorted({s.hidden_size for s in self.members}))

    @property
    def headline(self) -> TransformerSpectra:
        """The deepest member, and of these the widest."""
        return self.members[-1]

    @property
    def initial(self) -> tuple[TransformerSpectra, ...]:
        """The members at their initial weights, where they are known, in the members' order."""
        known = (self.snapshots.get(s.model, {}) for s in self.members)
        return tuple(steps[0] for steps in known if 0 in steps)

    def at(self, num_layers: int, hidden_size: int) -> TransformerSpectra:
        """Return the member of one depth and width.

        Raises
        ------
        DomainError
            There is none.
        """
        for spectra in self.members:
            if _size(spectra) == (num_layers, hidden_size):
                return spectra
        raise DomainError(
            f"the family {self.name!r} has no model of L {num_layers}, N {hidden_size}; "
            f"it has L in {self.depths} and N in {self.widths}"
        )


def _size(spectra: TransformerSpectra) -> tuple[int, int]:
    return spectra.num_layers, spectra.hidden_size
