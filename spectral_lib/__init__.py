"""Spectrum-adaptive generalization bounds for trained Transformers, computed from weights.

>>> import spectral_lib
>>> spectra = spectral_lib.load("all-MiniLM-L6-v2")
>>> spectral_lib.proxies.spectral(spectra).value
20573.02973...

The core reads checkpoints, computes spectra and evaluates proxies; it needs neither torch nor
sympy nor matplotlib.
"""

from importlib.metadata import version

from spectral_lib import proxies
from spectral_lib.analysis import Analysis, analyze
from spectral_lib.families import load_family
from spectral_lib.loading import load
from spectral_lib.matrices import Factored, Spectrum
from spectral_lib.notation import CONSISTENT, PAPER, Convention, Kind
from spectral_lib.propagation import Propagation, propagate
from spectral_lib.proxies import contribution_curves
from spectral_lib.transformer import TransformerSpectra

__version__ = version("spectral-lib")

__all__ = [
    "CONSISTENT",
    "PAPER",
    "Analysis",
    "Convention",
    "Factored",
    "Kind",
    "Propagation",
    "Spectrum",
    "TransformerSpectra",
    "analyze",
    "contribution_curves",
    "load",
    "load_family",
    "propagate",
    "proxies",
]
