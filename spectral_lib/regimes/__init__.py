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
from spectral_lib.regimes.evaluation import log_leading, log_of, power_sum
from spectral_lib.regimes.exponents import (
    CASES,
    Case,
    case_form,
    depth_rate,
    exponent,
    exponent_table,
)
from spectral_lib.regimes.symbolic import MEMBERS, Bound, Regime, growth, leading, quantities, table

__all__ = [
    "CASES",
    "MEMBERS",
    "Bound",
    "Case",
    "Comparison",
    "Regime",
    "Row",
    "case_form",
    "compare_regimes",
    "depth_rate",
    "exponent",
    "exponent_table",
    "growth",
    "leading",
    "log_leading",
    "log_of",
    "power_sum",
    "quantities",
    "table",
]
