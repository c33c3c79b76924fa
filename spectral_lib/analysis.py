"""One model, one convention, every number: what the command line prints and the book shows."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from spectral_lib.files import replacing
from spectral_lib.frames import frame_of
from spectral_lib.notation import PAPER, Convention
from spectral_lib.propagation import Propagation, propagate
from spectral_lib.proxies import Proxy, SpectralProxy, edelman, spectral, trauger_tewari
from spectral_lib.transformer import TransformerSpectra, matrix_rows

if TYPE_CHECKING:
    import pandas as pd

#: Raised whenever a key of the JSON object changes its name or meaning.
JSON_SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False)
class Analysis:
    """The three proxies of a model, and every matrix's part in them.

    Attributes
    ----------
    spectra
        The model.
    convention
        The choices that move the numbers.
    propagation
        lambda, alpha and gamma.
    spectral, edelman, trauger_tewari
        The proxies.
    """

    spectra: TransformerSpectra
    convention: Convention
    propagation: Propagation
    spectral: SpectralProxy
    edelman: Proxy
    trauger_tewari: Proxy

    @property
    def proxies(self) -> dict[str, Proxy]:
        """The proxies by name."""
        return {
            "spectral": self.spectral,
            "edelman": self.edelman,
            "trauger_tewari": self.trauger_tewari,
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a matrix: its norms, its scale, its p* and its contribution.

        Logs are natural; ``None`` stands for the log of zero.
        """
        curves = self.spectral.curves
        sources = {
            "log_gamma": self.propagation.log_gamma,
            "log_scale": curves.log_scale,
            "p_star": curves.p_star,
            "log_contribution": self.spectral.log_contribution,
        }
        rows = matrix_rows(self.spectra)
        for row, (layer, kind, head) in zip(rows, self.spectra.positions(), strict=True):
            for name, by_kind in sources.items():
                row[name] = _finite(by_kind[kind][layer, head].item())
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of ``spectral-lib analyze --json``: no infinities, no NaN."""
        spectra = self.spectra
        return {
            "schema_version": JSON_SCHEMA_VERSION,
            "library_version": version("spectral-lib"),
            "model": spectra.model,
            "source_sha256": spectra.source_sha256,
            "num_layers": spectra.num_layers,
            "hidden_size": spectra.hidden_size,
            "num_heads": spectra.num_heads,
            "convention": asdict(self.convention),
            "p_grid": self.spectral.curves.p.tolist(),
            "proxies": {
                name: {"log": proxy.log, "value": _finite(proxy.value)}
                for name, proxy in self.proxies.items()
            },
            "log_alpha": [_finite(value) for value in self.propagation.log_alpha.tolist()],
            "matrices": self.rows(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        return frame_of(self.rows())

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all; a shape reads ``384x1536``.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        rows = self.rows()
        with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            for row in rows:
                writer.writerow({**row, "shape": "x".join(map(str, row["shape"]))})


def analyze(spectra: TransformerSpectra, convention: Convention = PAPER) -> Analysis:
    """Evaluate every proxy of a model under one convention."""
    return Analysis(
        spectra=spectra,
        convention=convention,
        propagation=propagate(spectra, convention),
        spectral=spectral(spectra, convention),
        edelman=edelman(spectra, convention),
        trauger_tewari=trauger_tewari(spectra, convention),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
