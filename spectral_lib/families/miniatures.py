"""The names of the paper's checkpoints: 24 small BERTs (Turc et al., 2019) on a model hub."""

from __future__ import annotations

import re
from typing import NamedTuple

from spectral_lib.errors import DomainError

#: L and N of the paper's checkpoints; a head has 64 columns, so that H = N / 64.
DEPTHS = (2, 4, 6, 8, 10, 12)
WIDTHS = (128, 256, 512, 768)
HEAD_SIZE = 64
#: The hub ids, by L and then N.
MINIATURES = tuple(
    f"google/bert_uncased_L-{depth}_H-{width}_A-{width // HEAD_SIZE}"
    for depth in DEPTHS
    for width in WIDTHS
)

_NAME = re.compile(r".+?_(?P<sizes>L-(?P<L>\d+)_H-(?P<N>\d+)_A-(?P<H>\d+))", re.ASCII)


class Sizes(NamedTuple):
    """What the name of a checkpoint promises: L, N and H."""

    num_layers: int
    hidden_size: int
    num_heads: int


def sizes(model: str) -> Sizes:
    """Return the sizes that a name ending in ``_L-<L>_H-<N>_A-<H>`` promises."""
    match = _match(model)
    return Sizes(int(match["L"]), int(match["N"]), int(match["H"]))


def short_name(model: str) -> str:
    """Return the end of a name, as in ``L-2_H-128_A-2``."""
    return _match(model)["sizes"]


def miniature(name: str) -> str:
    """Return the hub id of one of the 24, given whole or by its short name.

    Raises
    ------
    DomainError
        It is none of them.
    """
    for model in MINIATURES:
        if name in (model, short_name(model)):
            return model
    raise DomainError(
        f"there is no miniature {name!r}, only L-<L>_H-<N>_A-<N/{HEAD_SIZE}> with L in {DEPTHS} "
        f"and N in {WIDTHS}"
    )


def _match(model: str) -> re.Match[str]:
    match = _NAME.fullmatch(model)
    if match is None:
        raise DomainError(f"expected a name that ends in _L-<L>_H-<N>_A-<H>, got {model!r}")
    return match
