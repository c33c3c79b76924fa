"""Typed errors, each one line: what was expected, what came, what to do."""

from __future__ import annotations


class SpectralLibError(Exception):
    """Base of every error that the library raises on purpose."""


class DomainError(SpectralLibError, ValueError):
    """A parameter lies outside the range in which a formula holds."""


class CheckpointError(SpectralLibError):
    """A checkpoint cannot be read as the weights that its configuration promises."""


class UnsupportedArchitectureError(CheckpointError):
    """The model is of a family that the library has no layout for."""


class QuantizedWeightsError(CheckpointError):
    """The weights are stored quantised; their spectra would be those of codes, not of weights."""


class HubError(SpectralLibError):
    """A model hub could not deliver what was asked of it."""


class HubUnreachableError(HubError):
    """The hub does not answer, or asks to come back later: whatever else is asked fails too."""


class StaleFileError(SpectralLibError):
    """A stored spectra file is damaged, or of a schema that this version does not read."""


class MissingExtraError(SpectralLibError, ImportError):
    """An optional dependency is needed and not installed."""


class OutputError(SpectralLibError, OSError):
    """A result cannot be written where it was asked for."""


def one_line(text: object, limit: int = 300) -> str:
    """Return ``text`` on one line, cut to ``limit`` characters, for use inside a message."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
