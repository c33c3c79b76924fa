"""The spectra of a whole Transformer: the one value that everything above takes."""

from __future__ import annotations

import json
import math
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spectral_lib.errors import DomainError, StaleFileError, one_line
from spectral_lib.files import replacing
from spectral_lib.frames import frame_of, place, positions
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import Kind

if TYPE_CHECKING:
    import pandas as pd

#: Raised whenever the arrays or the metadata of a stored file change their meaning.
SCHEMA_VERSION = 1

_ARRAYS = ("singular_values", "norm_21", "norm_11")


@dataclass(frozen=True, eq=False)
class TransformerSpectra:
    """Spectra and mixed norms of every weight matrix of a BERT-like encoder.

    Attributes
    ----------
    model
        Name or path that the weights were loaded from.
    hidden_size, num_heads, num_layers
        N, H, L of the paper.
    activation
        The feed-forward activation by its configuration name (``hidden_act``).
    by_kind
        One batched :class:`~spectral_lib.matrices.Spectrum` a kind: batch ``(L, H)`` for the
        heads' matrices QK and VO, ``(L, 1)`` for FF_IN and FF_OUT. ``spectra[kind]`` is short
        for it.
    source_sha256
        Hash of the weights file, or ``None`` for a live module.
    """

    model: str
    hidden_size: int
    num_heads: int
    activation: str
    by_kind: dict[Kind, Spectrum]
    source_sha256: str | None = None

    def __post_init__(self) -> None:
        if set(self.by_kind) != set(Kind):
            raise DomainError(f"spectra are needed for the kinds {', '.join(Kind)}")
        for name in ("model", "activation"):
            if not isinstance(getattr(self, name), str):
                raise DomainError(f"{name} must be a string, got {getattr(self, name)!r}")
        if not isinstance(self.source_sha256, str | None):
            raise DomainError(f"source_sha256 must be a string or None, got {self.source_sha256!r}")
        for name in ("hidden_size", "num_heads"):
            size = getattr(self, name)
            if type(size) is not int or size < 1:
                raise DomainError(f"{name} must be an integer >= 1, got {size!r}")
        if not all(spectrum.batch_shape for spectrum in self.by_kind.values()) or (
            self.num_layers < 1
        ):
            raise DomainError("spectra must be of at least one layer, as their first batch axis")
        hidden, wide = self.hidden_size, self[Kind.FF_IN].shape[1]
        shapes = {Kind.FF_IN: (hidden, wide), Kind.FF_OUT: (wide, hidden)}
        for kind, spectrum in self.by_kind.items():
            expected = (self.num_layers, self.num_heads if kind.per_head else 1)
            if spectrum.batch_shape != expected:
                raise DomainError(
                    f"{kind} spectra must have batch shape {expected}, got {spectrum.batch_shape}"
                )
            shape = shapes.get(kind, (hidden, hidden))
            if spectrum.shape != shape:
                raise DomainError(f"{kind} matrices must have shape {shape}, got {spectrum.shape}")

    def __getitem__(self, kind: Kind) -> Spectrum:
        return self.by_kind[kind]

    @property
    def num_layers(self) -> int:
        """L, the depth."""
        return self.by_kind[Kind.FF_IN].batch_shape[0]

    @property
    def num_matrices(self) -> int:
        """J = L (2H + 2), the number of weight matrices."""
        return self.num_layers * (2 * self.num_heads + 2)

    def positions(self) -> Iterator[tuple[int, Kind, int]]:
        """Return (layer, kind, head) of every matrix, in the order of all tables."""
        return positions(self.num_layers, self.num_heads)

    def first_layers(self, count: int) -> TransformerSpectra:
        """Return the encoder cut after its first ``count`` layers.

        Raises
        ------
        DomainError
            ``count`` lies outside 1 .. L.
        """
        if not 1 <= count <= self.num_layers:
            raise DomainError(f"count must lie in 1 .. {self.num_layers} layers, got {count}")
        return replace(self, by_kind={kind: s[:count] for kind, s in self.by_kind.items()})

    def rescaled(self, factor: float) -> TransformerSpectra:
        """Return the encoder with every weight matrix multiplied by ``factor`` > 0.

        The heads' products of two weights are multiplied by its square.

        Raises
        ------
        DomainError
            The factor is not a finite number > 0.
        """
        if not 0 < factor < math.inf:
            raise DomainError(f"factor must be a finite number > 0, got {factor}")
        return replace(
            self,
            by_kind={
                kind: spectrum.scaled(factor**2 if kind.per_head else factor)
                for kind, spectrum in self.by_kind.items()
            },
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the spectra as a compressed ``.npz``, whole or not at all.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        meta = {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "hidden_size": self.hidden_size,
            "num_heads": self.num_heads,
            "activation": self.activation,
            "source_sha256": self.source_sha256,
            "kinds": {
                kind: {"shape": spectrum.shape, "rank_rtol": spectrum.rank_rtol}
                for kind, spectrum in self.by_kind.items()
            },
        }
        arrays = {
            f"{kind}.{name}": getattr(spectrum, name)
            for kind, spectrum in self.by_kind.items()
            for name in _ARRAYS
        }
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, meta=np.array(json.dumps(meta)), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TransformerSpectra:
        """Read what :meth:`save` wrote.

        Raises
        ------
        StaleFileError
            The file is missing, damaged, or of another schema version.
        """
        require_regular(path)
        try:
            with open(path, "rb") as stream:
                if not zipfile.is_zipfile(stream):
                    raise DomainError("it is no .npz archive")
                stream.seek(0)
                stored = np.load(stream, allow_pickle=False)
                meta = json.loads(str(stored["meta"]))
                version = meta["schema_version"]
                if type(version) is not int or version != SCHEMA_VERSION:
                    raise StaleFileError(
                        f"{path}: spectra of schema version {one_line(repr(version), 40)}, "
                        f"expected {SCHEMA_VERSION}; compute them again from the checkpoint"
                    )
                by_kind = {
                    kind: Spectrum(
                        singular_values=stored[f"{kind}.singular_values"],
                        shape=tuple(meta["kinds"][kind]["shape"]),
                        norm_21=stored[f"{kind}.norm_21"],
                        norm_11=stored[f"{kind}.norm_11"],
                        rank_rtol=meta["kinds"][kind]["rank_rtol"],
                    )
                    for kind in Kind
                }
            return cls(
                model=meta["model"],
                hidden_size=meta["hidden_size"],
                num_heads=meta["num_heads"],
                activation=meta["activation"],
                by_kind=by_kind,
                source_sha256=meta["source_sha256"],
            )
        except StaleFileError:
            raise
        except Exception as error:  # whatever an archive's bytes can provoke, the file is at fault
            raise StaleFileError(
                f"{path}: not a readable spectra file ({one_line(error, 120)}); "
                "compute the spectra again from the checkpoint"
            ) from error

    def to_frame(self) -> pd.DataFrame:
        """Return one row a matrix: where it stands, its shape, rank and norms."""
        return frame_of(matrix_rows(self))


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raise StaleFileError unless there is a regular file: to open a pipe would wait for ever."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StaleFileError(f"{path}: cannot be read: {reason}") from error
    if not stat.S_ISREG(mode):
        raise StaleFileError(f"{path}: expected a spectra file, this is not a regular file")


def matrix_rows(spectra: TransformerSpectra) -> list[dict[str, Any]]:
    """Return layer, head, kind, shape, rank and norms of every matrix, as plain Python values."""
    columns = {
        kind: {
            "rank": spectrum.rank,
            "spectral_norm": spectrum.spectral_norm,
            "frobenius_norm": spectrum.frobenius_norm,
            "norm_21": spectrum.norm_21,
            "norm_11": spectrum.norm_11,
            "stable_rank": spectrum.stable_rank,
        }
        for kind, spectrum in spectra.by_kind.items()
    }
    return [
        {
            **place(layer, kind, head),
            "shape": spectra[kind].shape,
            **{name: values[layer, head].item() for name, values in columns[kind].items()},
        }
        for layer, kind, head in spectra.positions()
    ]
