"""The result of :func:`spectral_lib.bounds.posthoc.posthoc_bound`: parts, words, JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from spectral_lib.bounds.matrix_class import FloatArray, MatrixClasses
from spectral_lib.bounds.selection import Form
from spectral_lib.frames import place
from spectral_lib.notation import Convention
from spectral_lib.transformer import TransformerSpectra

MetricName = Literal["sample", "operator"]

#: Raised whenever a key of the JSON object changes its name or meaning.
JSON_SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False)
class Setting:
    """What the bound is asked for; see :func:`posthoc_bound`."""

    samples: float
    tokens: float
    delta: float
    loss_range: float
    readout_norm: float
    loss_lipschitz: float
    form: Form
    metric: MetricName


@dataclass(frozen=True, eq=False)
class PosthocBound:
    """The number of Theorem 3.1 for one network, with its parts.

    Attributes
    ----------
    setting, convention
        What was asked for.
    spectra
        The network.
    classes
        ``[J]``: the class that each matrix was found in, in the order of ``spectra.positions()``;
        the readout is the last.
    log_norm, log_schatten
        ``[J]``: observed log of the spectral norm and of S_p at the chosen p.
    log_complexity
        Log of the complexity term, 2 R_n.
    log_contributions
        ``[J]``: logs of each matrix's part; the parts sum to the complexity term.
    confidence, peeling
        b sqrt(log(1/delta)/(2n)), and what the union over all choices adds to it.
    log_cost
        Sum of log(1/w_i): norms, p and budgets of all matrices, and the readout's norm.
    grid
        m of the grid P_m.
    """

    setting: Setting
    convention: Convention
    spectra: TransformerSpectra
    classes: MatrixClasses
    log_norm: FloatArray
    log_schatten: FloatArray
    log_complexity: float
    log_contributions: FloatArray
    confidence: float
    peeling: float
    log_cost: float
    grid: int

    @property
    def log_value(self) -> float:
        """Log of the bound on the gap."""
        return float(np.logaddexp(self.log_complexity, np.log(self.confidence + self.peeling)))

    @property
    def vacuous(self) -> bool:
        """Whether the bound is not below the loss range, which no gap exceeds anyway."""
        return bool(self.log_value >= np.log(self.setting.loss_range))

    @property
    def log_samples_needed(self) -> float:
        """Log of the n at which the same network's bound would equal the loss range.

        Every term falls as 1/sqrt n; in the sample metric K grows with log n, so there it is a
        little too small.
        """
        setting = self.setting
        ratio = self.log_value - float(np.log(setting.loss_range))
        return float(np.log(setting.samples)) + 2.0 * ratio

    @property
    def reason(self) -> str:
        """Why the bound is vacuous, or by what it is not, in one sentence."""
        b, n = self.setting.loss_range, self.setting.samples
        if not self.vacuous:
            return (
                f"The gap is at most {_shown(self.log_value)}, below the loss range {b:g}: "
                f"{_shown(self.log_value - np.log(b))} of it."
            )
        statistical = self.confidence + self.peeling
        terms = f"the complexity term {_shown(self.log_complexity)}"
        if self.log_complexity < np.log(b):
            terms += f" and the confidence and peeling terms {statistical:.3g} together reach"
        else:
            terms += f" of {self.classes.size} matrices alone reaches"
        return (
            f"Vacuous: {terms} the loss range {b:g}, which no gap exceeds anyway; at n = {n:g} "
            f"samples the bound would need about {_shown(self.log_samples_needed)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object: natural logs, no NaN, no infinities, null for log 0."""
        rows = [
            place(layer, kind, head) | self._row(i)
            for i, (layer, kind, head) in enumerate(self.spectra.positions())
        ]
        return {
            "schema_version": JSON_SCHEMA_VERSION,
            "library_version": version("spectral-lib"),
            "model": self.spectra.model,
            "source_sha256": self.spectra.source_sha256,
            **asdict(self.setting),
            "convention": asdict(self.convention),
            "num_matrices": self.classes.size,
            "grid": self.grid,
            "bound": {"log": finite(self.log_value), "value": finite_exp(self.log_value)},
            "complexity": {
                "log": finite(self.log_complexity),
                "value": finite_exp(self.log_complexity),
            },
            "confidence": self.confidence,
            "peeling": self.peeling,
            "peeling_log_cost": self.log_cost,
            "vacuous": self.vacuous,
            "reason": self.reason,
            "log_samples_needed": finite(self.log_samples_needed),
            "matrices": rows,
            "readout": self._row(-1),
        }

    def _row(self, i: int) -> dict[str, Any]:
        cls = self.classes[i]
        logs = {
            "log_norm": self.log_norm[i],
            "log_norm_peeled": np.log(cls.s) if cls.s > 0 else -np.inf,
            "log_schatten": self.log_schatten[i],
            "log_schatten_peeled": np.log(cls.m) if cls.m > 0 else -np.inf,
            "log_beta": cls.log_beta,
            "log_contribution": self.log_contributions[i],
        }
        shape = [int(cls.d), int(cls.k)]
        return {"shape": shape, "p": float(cls.p)} | {k: finite(v) for k, v in logs.items()}


def finite(value: float) -> float | None:
    """Return the value, or ``None`` where JSON has no number for it."""
    return float(value) if np.isfinite(value) else None


def finite_exp(log: float) -> float | None:
    """Return ``exp(log)``, or ``None`` on overflow."""
    with np.errstate(over="ignore"):
        return finite(np.exp(np.float64(log)))


def _shown(log: float) -> str:
    """Write exp(log) with three digits, beyond the range of float64 too."""
    if not np.isfinite(log):
        return "0" if log < 0 else "infinity"
    exponent = np.floor(log / np.log(10.0))
    if -4 <= exponent < 5:
        return f"{np.exp(log):.3g}"
    return f"{10 ** (log / np.log(10.0) - exponent):.2f}e{exponent:+.0f}"
