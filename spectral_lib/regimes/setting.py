"""What a comparison is asked for: ranges checked, redundant constraints tightened, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spectral_lib.errors import DomainError
from spectral_lib.regimes.evaluation import power_sum

#: Matrices that one comparison takes, and |log| of the largest sensitivity.
MOST_MATRICES = 20_000
MOST_LOG_ALPHA = 600.0
#: The largest hidden size.
MOST_HIDDEN = 1_000_000
#: The largest decay: the second singular value is then zero to float64 long since.
MOST_DECAY = 1e6
#: Norms whose squares fit a float.
NORM_RANGE = (1e-100, 1e100)


@dataclass(frozen=True)
class Setting:
    """The sizes and constraints of :func:`~spectral_lib.regimes.comparison.compare_regimes`."""

    hidden: int
    depth: int
    heads: int
    rank: int | None
    frobenius: float | None
    spectral: float
    decay: float | None
    tokens: float
    samples: float
    lam: float

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Count in a layer and largest rank: 2 H head matrices, 2 feed-forward matrices."""
        return ((2 * self.heads, self.hidden // self.heads), (2, self.hidden))


def checked(setting: Setting) -> Setting:
    """Return the setting with plain numbers; :class:`DomainError` states the admissible range."""
    hidden = _whole("hidden", setting.hidden, MOST_HIDDEN)
    heads = _whole("heads", setting.heads, hidden)
    if hidden % heads:
        raise DomainError(f"heads must divide hidden = {hidden}, got {heads}")
    depth = _whole("depth", setting.depth, MOST_MATRICES // (2 * heads + 2))
    rank = None if setting.rank is None else _whole("rank", setting.rank, hidden)
    lam = _positive("lam", setting.lam)
    if depth * abs(math.log(lam)) > MOST_LOG_ALPHA:
        low, high = (math.exp(sign * MOST_LOG_ALPHA / depth) for sign in (-1, 1))
        raise DomainError(
            f"lam must be in [{low:.4g}, {high:.4g}] at depth {depth}, "
            f"so that lam^depth fits a float; got {lam:g}"
        )
    return Setting(
        hidden,
        depth,
        heads,
        rank,
        None if setting.frobenius is None else _norm("frobenius", setting.frobenius),
        _norm("spectral", setting.spectral),
        None if setting.decay is None else _decay(setting.decay),
        _positive("tokens", setting.tokens, least=1.0),
        _positive("samples", setting.samples, least=1.0),
        lam,
    )


def tightened(setting: Setting) -> tuple[Setting, tuple[str, ...]]:
    """Return the setting without redundant constraints, and a sentence on each change."""
    notes = []
    rank = setting.rank if setting.rank is not None else setting.hidden
    spectral, frobenius = setting.spectral, setting.frobenius
    if frobenius is not None:
        largest, reason = spectral * math.sqrt(rank), f"spectral * sqrt({rank})"
        if setting.decay is not None:
            largest = spectral * math.sqrt(float(power_sum(rank, 2.0 * setting.decay)))
            reason = f"what decay {setting.decay:g} allows at rank {rank}"
        if frobenius > largest:
            notes.append(f"frobenius {frobenius:g} tightened to {largest:g}, {reason}")
            frobenius = largest
        if frobenius < spectral:
            notes.append(f"spectral {spectral:g} tightened to {frobenius:g}, the Frobenius norm")
            spectral = frobenius
    share = setting.hidden // setting.heads
    if rank > share:
        notes.append(f"the rank of the {2 * setting.heads} head matrices of a layer is {share}")
        of_heads = spectral * math.sqrt(share)
        if frobenius is not None and frobenius > of_heads:
            notes.append(
                f"frobenius {frobenius:g} of the head matrices tightened to {of_heads:g}, "
                f"spectral * sqrt({share})"
            )
    found = {**vars(setting), "spectral": spectral, "frobenius": frobenius}
    return Setting(**found), tuple(notes)


def _whole(name: str, value: object, most: int) -> int:
    admissible = f"{name} must be an integer from 1 to {most}"
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise DomainError(f"{admissible}, got {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number == int(number) and 1 <= number <= most):
        raise DomainError(f"{admissible}, got {value}")
    return int(number)


def _decay(value: object) -> float:
    return _positive("decay", value, most=MOST_DECAY, words=f"> 0 and <= {MOST_DECAY:g}")


def _norm(name: str, value: object) -> float:
    low, high = NORM_RANGE
    return _positive(name, value, least=low, most=high, words=f"from {low:g} to {high:g}")


def _positive(
    name: str, value: object, least: float = 0.0, most: float = math.inf, words: str = ""
) -> float:
    admissible = f"{name} must be a finite number " + (
        words or (f">= {least:g}" if least else "> 0")
    )
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise DomainError(f"{admissible}, got {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number > 0 and least <= number <= most):
        raise DomainError(f"{admissible}, got {value}")
    return number
