r"""All matrices of a comparison: two groups a layer, heads and feed-forward, in their classes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from spectral_lib.bounds import MatrixClasses
from spectral_lib.regimes.evaluation import class_numbers, log_leading
from spectral_lib.regimes.explicit import KEPT, Network
from spectral_lib.regimes.setting import Setting
from spectral_lib.regimes.symbolic import MEMBERS, Bound, Regime, combination


def class_values(regime: Regime, setting: Setting, largest_rank: int, p: float) -> dict[str, float]:
    """Return the numbers that the expressions take for a matrix of a group."""
    values = {"N": setting.hidden, "q": largest_rank, "s": setting.spectral, "p": p}
    if regime is Regime.RANK and setting.rank is not None:
        values["r"] = min(setting.rank, largest_rank)
    if regime is Regime.FROBENIUS and setting.frobenius is not None:
        values["F"] = min(setting.frobenius, setting.spectral * math.sqrt(largest_rank))
    if regime is Regime.POWER_LAW and setting.decay is not None:
        values["a"] = setting.decay
    return values


@lru_cache(maxsize=KEPT)
def network(regime: Regime, setting: Setting, profile: float, p: float) -> Network:
    """Return the matrices of all layers in their classes; ``profile`` is s of the power law."""
    columns: dict[str, list[float]] = {name: [] for name in ("m", "norm_21", "norm_11", "rank")}
    for count, largest_rank in setting.groups:
        values = class_values(regime, setting, largest_rank, p)
        if regime is Regime.POWER_LAW:
            values["s"] = profile
        found = class_numbers(regime, **values)
        p = found["p"]
        for name, value in (("m", found["S"]), ("rank", largest_rank), *found.items()):
            if name in columns:
                columns[name] += [float(value)] * count
    layer = {name: np.array(column) for name, column in columns.items()}
    log_alpha = np.arange(setting.depth)[::-1, None] * math.log(setting.lam)
    classes = MatrixClasses.of(
        setting.hidden,
        setting.hidden,
        s=profile if regime is Regime.POWER_LAW else setting.spectral,
        p=p,
        m=layer["m"],
        log_beta=np.broadcast_to(log_alpha, (setting.depth, layer["m"].size)),
    )
    whole = {name: np.tile(column, setting.depth) for name, column in layer.items()}
    flat = MatrixClasses(*(getattr(classes, x).ravel() for x in MatrixClasses.__dataclass_fields__))
    return Network(flat, whole["rank"], whole["norm_21"], whole["norm_11"])


def leading_log(bound: Bound, regime: Regime, setting: Setting, profile: float, p: float) -> float:
    r"""Return the log of a leading form over both groups: :math:`(\sum_g m_g B_g^c)^{1/c}`."""
    if bound is Bound.MINIMUM:
        return min(leading_log(member, regime, setting, profile, p) for member in MEMBERS)
    power, terms = float(combination(bound)), []
    for count, largest_rank in setting.groups:
        values = class_values(regime, setting, largest_rank, p)
        if regime is Regime.POWER_LAW:
            values["s"] = profile
        one = float(log_leading(bound, regime, lam=setting.lam, L=setting.depth, **values))
        terms.append(math.log(count) + power * one)
    return float(np.logaddexp.reduce(terms)) / power
