"""Entropies and bounds that are theorems, every constant explicit."""

from spectral_lib.bounds.allocation import Allocation, allocate
from spectral_lib.bounds.baselines import (
    BaselineBound,
    baseline_bound,
    edelman_entropy,
    trauger_tewari_entropy,
)
from spectral_lib.bounds.covering import (
    balanced_entropy,
    full_rank_entropy,
    interpolated_entropy,
    leading_entropy,
    log_balance,
    log_interpolated,
    optimal_split,
    profile_entropy,
    pure_rank_entropy,
    volumetric_entropy,
)
from spectral_lib.bounds.dudley import Chain, Complexity, root_sum_square_form, sum_form
from spectral_lib.bounds.exact import exact_entropy, network_entropy
from spectral_lib.bounds.matrix_class import (
    MatrixClasses,
    Metric,
    OperatorMetric,
    SampleMetric,
    ScoreMetric,
)
from spectral_lib.bounds.peeling import Levels, norm_levels, norm_ratio, radius_levels
from spectral_lib.bounds.posthoc import deviation, posthoc_bound
from spectral_lib.bounds.quadrature import Quadrature, quadrature
from spectral_lib.bounds.result import PosthocBound
from spectral_lib.bounds.rounding import grid_size, log_rounding_factor, round_up

__all__ = [
    "Allocation",
    "BaselineBound",
    "Chain",
    "Complexity",
    "Levels",
    "MatrixClasses",
    "Metric",
    "OperatorMetric",
    "PosthocBound",
    "Quadrature",
    "SampleMetric",
    "ScoreMetric",
    "allocate",
    "balanced_entropy",
    "baseline_bound",
    "deviation",
    "edelman_entropy",
    "exact_entropy",
    "full_rank_entropy",
    "grid_size",
    "interpolated_entropy",
    "leading_entropy",
    "log_balance",
    "log_interpolated",
    "log_rounding_factor",
    "network_entropy",
    "norm_levels",
    "norm_ratio",
    "optimal_split",
    "posthoc_bound",
    "profile_entropy",
    "pure_rank_entropy",
    "quadrature",
    "radius_levels",
    "root_sum_square_form",
    "round_up",
    "sum_form",
    "trauger_tewari_entropy",
    "volumetric_entropy",
]
