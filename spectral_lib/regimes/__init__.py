"""Comparison regimes: every bound under what is known of the matrices, in symbols and numbers.

Needs the extra ``ledger``: the expressions are the ledger's.
"""

from __future__ import annotations

from spectral_lib.errors import MissingExtraError

try:
    import sympy as _sympy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "the regimes are derived with SymPy: pip install 'spectral-lib[ledger]'"
    ) from error

from spectral_lib.regimes.comparison import Comparison, Row, compare_regimes
from spectral_lib.regimes.constructions import (
    attaining,
    frobenius_attaining,
    hadamard,
    power_law_attaining,
    rank_attaining,
)
from spectral_lib.regimes.crossovers import (
    SINGLE,
    Crossover,
    WinnerMap,
    crossover,
    crossover_table,
    schatten_crossover,
    winners,
)
from spectral_lib.regimes.evaluation import log_leading, log_of, power_sum
from spectral_lib.regimes.exponents import (
    CASES,
    Case,
    case_form,
    depth_rate,
    exponent,
    exponent_table,
    falling_exponent,
)
from spectral_lib.regimes.fits import (
    Fit,
    attained,
    leading_slope,
    log_log_fit,
    measured_fit,
    measured_log,
)
from spectral_lib.regimes.layers import Decay, fit_decay, layer_coordinates
from spectral_lib.regimes.phase import PhaseDiagram, log_level, p_star, phase_diagram, power_law
from spectral_lib.regimes.slopes import (
    FORMS,
    depth_through_logarithms,
    explicit_exponent,
    explicit_form,
    local_slope,
    log_derivative,
    log_explicit,
    rate_fit,
    slope_at,
)
from spectral_lib.regimes.symbolic import (
    MEMBERS,
    SOURCE,
    Bound,
    Regime,
    a,
    equal_form,
    growth,
    lam,
    leading,
    quantities,
    table,
)

__all__ = [
    "CASES",
    "FORMS",
    "MEMBERS",
    "SINGLE",
    "SOURCE",
    "Bound",
    "Case",
    "Comparison",
    "Crossover",
    "Decay",
    "Fit",
    "PhaseDiagram",
    "Regime",
    "Row",
    "WinnerMap",
    "a",
    "attained",
    "attaining",
    "case_form",
    "compare_regimes",
    "crossover",
    "crossover_table",
    "depth_rate",
    "depth_through_logarithms",
    "equal_form",
    "explicit_exponent",
    "explicit_form",
    "exponent",
    "exponent_table",
    "falling_exponent",
    "fit_decay",
    "frobenius_attaining",
    "growth",
    "hadamard",
    "lam",
    "layer_coordinates",
    "leading",
    "leading_slope",
    "local_slope",
    "log_derivative",
    "log_explicit",
    "log_leading",
    "log_level",
    "log_log_fit",
    "log_of",
    "measured_fit",
    "measured_log",
    "p_star",
    "phase_diagram",
    "power_law",
    "power_law_attaining",
    "power_sum",
    "quantities",
    "rank_attaining",
    "rate_fit",
    "schatten_crossover",
    "slope_at",
    "table",
    "winners",
]
