"""Tables of models and families, as data frames: what the book prints and what its figures draw."""

from spectral_lib.errors import MissingExtraError

try:
    import pandas as _pandas  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "the tables need pandas; install the extra: pip install 'spectral-lib[frames]'"
    ) from error

from spectral_lib.tables.choices import convention_effects
from spectral_lib.tables.growth import (
    growth_by_group,
    growth_exponents,
    growth_ratio,
    proxy_growth,
    sizes,
)
from spectral_lib.tables.heterogeneity import heterogeneity
from spectral_lib.tables.models import (
    growth_in_depth,
    kinds,
    norms_by_layer,
    proxies,
    rank_margins,
    rescaling,
)
from spectral_lib.tables.norms import norm_exponents, norm_scaling
from spectral_lib.tables.parts import growth_parts
from spectral_lib.tables.spectra import contribution_curves, p_star_histogram, spectral_decay
from spectral_lib.tables.thresholds import leaving_zero
from spectral_lib.tables.training import card, loss_curves, training_effect, training_history

__all__ = [
    "card",
    "contribution_curves",
    "convention_effects",
    "growth_by_group",
    "growth_exponents",
    "growth_in_depth",
    "growth_parts",
    "growth_ratio",
    "heterogeneity",
    "kinds",
    "leaving_zero",
    "loss_curves",
    "norm_exponents",
    "norm_scaling",
    "norms_by_layer",
    "p_star_histogram",
    "proxies",
    "proxy_growth",
    "rank_margins",
    "rescaling",
    "sizes",
    "spectral_decay",
    "training_effect",
    "training_history",
]
