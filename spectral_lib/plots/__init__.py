"""Figures: each function takes data and returns a figure that shows itself in a notebook."""

from spectral_lib.errors import MissingExtraError

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "the plots need matplotlib; install the extra: pip install 'spectral-lib[plots]'"
    ) from error
