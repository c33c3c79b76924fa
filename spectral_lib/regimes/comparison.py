r"""Every bound in every regime at the reader's own sizes, leading form beside explicit bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from spectral_lib.bounds import Chain, SampleMetric
from spectral_lib.bounds.result import finite_exp
from spectral_lib.constants import P_MAX, SYMMETRIZATION
from spectral_lib.frames import frame_of
from spectral_lib.regimes.explicit import integrate, log_complexity
from spectral_lib.regimes.networks import leading_log, network
from spectral_lib.regimes.setting import Setting, checked, tightened
from spectral_lib.regimes.symbolic import MEMBERS, SOURCE, Bound, Regime

if TYPE_CHECKING:
    import pandas as pd

#: Raised whenever a key of the JSON object changes its name or meaning.
JSON_SCHEMA_VERSION = 1
#: Schatten indices among which a power law takes its best, one for each bound.
INDICES = np.linspace(0.0, P_MAX, 17)


@dataclass(frozen=True)
class Row:
    r"""One bound in one regime.

    Attributes
    ----------
    regime, bound, source
        Which, and where it comes from.
    p_leading, p_explicit
        Schatten index of the leading form and of the explicit bound; ``None`` for bounds that have
        none.
    log_leading
        Log of the leading form: no constants, no logarithms, no :math:`1/\sqrt n`.
    log_explicit
        Log of the complexity term 2 R_n of the gap, loss in [0, 1], every constant included, on
        n T token vectors; ``None`` where its integral diverges.
    best_leading, best_explicit
        Whether it is the smallest of its regime, the minimum's members counted by themselves.
    binding
        For the minimum: the member that is the smaller in the leading form.
    share_interpolated
        For the minimum: share of the explicit integral where Q_p is below full rank.
    """

    regime: Regime
    bound: Bound
    source: str
    p_leading: float | None
    p_explicit: float | None
    log_leading: float
    log_explicit: float | None
    best_leading: bool = False
    best_explicit: bool = False
    binding: Bound | None = None
    share_interpolated: float | None = None


@dataclass(frozen=True)
class Comparison:
    """The rows, what was asked for, and what was made of it.

    Attributes
    ----------
    asked, used
        The setting as given, and after tightening.
    notes
        One sentence on every constraint that was redundant.
    rows
        Regime by regime in the order of :class:`Regime`, bounds in that of :class:`Bound`.
    """

    asked: Setting
    used: Setting
    notes: tuple[str, ...]
    rows: tuple[Row, ...]

    def row(self, regime: Regime, bound: Bound) -> Row:
        """Return one row."""
        return next(row for row in self.rows if (row.regime, row.bound) == (regime, bound))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object: natural logs, null where there is no number."""
        return {
            "schema_version": JSON_SCHEMA_VERSION,
            "library_version": version("spectral-lib"),
            "asked": asdict(self.asked),
            "used": asdict(self.used),
            "notes": list(self.notes),
            "num_matrices": self.used.depth * sum(count for count, _ in self.used.groups),
            "rows": [_values(row) for row in self.rows],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        return frame_of([_values(row) for row in self.rows])


def compare_regimes(
    hidden: int,
    depth: int,
    heads: int = 1,
    rank: int | None = None,
    frobenius: float | None = None,
    spectral: float = 1.0,
    decay: float | None = None,
    tokens: float = 512,
    samples: float = 1e6,
    lam: float = 1.0,
) -> Comparison:
    r"""Compare all bounds for L layers of 2H + 2 matrices, N x N, that attain their class.

    Parameters
    ----------
    hidden, depth, heads
        N, L and H; a head's matrices have rank at most N/H.
    rank, frobenius, spectral, decay
        r, F, s, and a in :math:`\sigma_j \le s j^{-a}`. A regime appears where its constraint is
        given, the spectral one always; each uses its own constraint and s.
    tokens, samples
        T and n, for the explicit bounds.
    lam
        lambda: :math:`\alpha^{(l)} = \lambda^{L-l}`, with :math:`\gamma = 1`.

    Raises
    ------
    DomainError
        A number outside its range, which the message states.
    """
    asked = checked(
        Setting(hidden, depth, heads, rank, frobenius, spectral, decay, tokens, samples, lam)
    )
    used, notes = tightened(asked)
    present = {
        Regime.RANK: used.rank is not None,
        Regime.FROBENIUS: used.frobenius is not None,
        Regime.SPECTRAL: True,
        Regime.POWER_LAW: used.decay is not None,
    }
    rows = [row for regime in Regime if present[regime] for row in _rows(regime, used, asked)]
    return Comparison(asked, used, notes, tuple(rows))


def _rows(regime: Regime, setting: Setting, asked: Setting) -> Iterator[Row]:
    found = [_row(regime, bound, setting, asked.spectral) for bound in Bound]
    alone = [row for row in found if row.bound is not Bound.MINIMUM]
    leading = min(row.log_leading for row in alone)
    explicit = min(row.log_explicit for row in alone if row.log_explicit is not None)
    for row in found:
        marks = {}
        if row in alone:
            marks["best_leading"] = row.log_leading <= leading
            marks["best_explicit"] = row.log_explicit is not None and row.log_explicit <= explicit
        yield Row(**{**vars(row), **marks})


def _row(regime: Regime, bound: Bound, setting: Setting, profile: float) -> Row:
    vectors = setting.samples * setting.tokens
    metric, chain = SampleMetric(vectors), Chain(setting.samples, 1.0)
    by_index = bound not in (Bound.EDELMAN, Bound.TRAUGER_TEWARI, Bound.FULL_RANK)
    indices = (INDICES if by_index and regime is Regime.POWER_LAW else INDICES[:1]).tolist()
    logs = [leading_log(bound, regime, setting, profile, p) for p in indices]
    networks = [network(regime, setting, profile, p) for p in indices]
    bounds = [
        log_complexity(bound, one, metric=metric, chain=chain, vectors=vectors) for one in networks
    ]
    at_leading = int(np.argmin(logs))
    at_explicit = int(np.argmin([math.inf if x is None else x for x in bounds]))
    explicit = bounds[at_explicit]
    binding = share = None
    if bound is Bound.MINIMUM:
        p = indices[at_leading]
        members = {x: leading_log(x, regime, setting, profile, p) for x in MEMBERS}
        binding = min(members, key=members.__getitem__)
        share = integrate(networks[at_explicit], metric, chain).share_interpolated
    return Row(
        regime=regime,
        bound=bound,
        source=str(SOURCE[bound]),
        p_leading=float(networks[at_leading].classes.p[0]) if by_index else None,
        p_explicit=float(networks[at_explicit].classes.p[0]) if by_index else None,
        log_leading=logs[at_leading],
        log_explicit=None if explicit is None else explicit + math.log(SYMMETRIZATION),
        binding=binding,
        share_interpolated=share,
    )


def _values(row: Row) -> dict[str, Any]:
    values = asdict(row)
    for name in ("regime", "bound", "binding"):
        values[name] = None if values[name] is None else str(values[name])
    logs = {name: values[f"log_{name}"] for name in ("leading", "explicit")}
    return values | {name: None if log is None else finite_exp(log) for name, log in logs.items()}
