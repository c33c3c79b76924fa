"""From a checkpoint to the spectra of all its weight matrices."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from spectral_lib.checkpoints import Checkpoint, open_checkpoint
from spectral_lib.matrices import Spectrum, spectrum_of_dense, spectrum_of_factored, stack
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra

#: Called with the number of layers done and the number of layers.
Progress = Callable[[int, int], None]


def spectra_of(
    checkpoint: Checkpoint, *, rank_rtol: float | None = None, progress: Progress | None = None
) -> TransformerSpectra:
    """Compute the spectra of an open checkpoint, reading one layer at a time."""
    found: dict[Kind, list[Spectrum]] = {kind: [] for kind in Kind}
    # The hash reads the file beside the linear algebra: both leave the interpreter free.
    with ThreadPoolExecutor(max_workers=1) as pool:
        sha256 = pool.submit(checkpoint.sha256)
        for done, layer in enumerate(checkpoint.layers(), start=1):
            found[Kind.QK].append(spectrum_of_factored(layer.qk, rank_rtol))
            found[Kind.VO].append(spectrum_of_factored(layer.vo, rank_rtol))
            found[Kind.FF_IN].append(spectrum_of_dense(layer.ff_in, rank_rtol)[None])
            found[Kind.FF_OUT].append(spectrum_of_dense(layer.ff_out, rank_rtol)[None])
            del layer  # before the next one is read: one layer in memory at a time
            if progress is not None:
                progress(done, checkpoint.num_layers)
    return TransformerSpectra(
        model=checkpoint.name,
        hidden_size=checkpoint.hidden_size,
        num_heads=checkpoint.num_heads,
        activation=checkpoint.activation,
        by_kind={kind: stack(spectra) for kind, spectra in found.items()},
        source_sha256=sha256.result(),
    )


def load(
    model: object,
    *,
    revision: str | None = None,
    rank_rtol: float | None = None,
    progress: Progress | None = None,
) -> TransformerSpectra:
    """Load a model's weights and return the spectra of all its weight matrices.

    Parameters
    ----------
    model
        A checkpoint directory, a packaged name (``all-MiniLM-L6-v2``, ``antiberty``), a hub id
        (``owner/name``), a live ``transformers`` module, or an ``.npz`` file that
        :meth:`TransformerSpectra.save` wrote.
    revision
        Branch, tag or commit of a hub id.
    rank_rtol
        Relative tolerance below which a singular value does not count;
        ``None`` for ``max(shape) * 2**-52``.
    progress
        Called after each layer with the number of layers done and in all.

    Raises
    ------
    CheckpointError, HubError, StaleFileError, MissingExtraError
        One line each: the file, the tensor, what was expected, what came, what to do.
    """
    if isinstance(model, str | os.PathLike) and Path(model).suffix == ".npz":
        return TransformerSpectra.load(model)
    checkpoint = open_checkpoint(model, revision=revision)
    return spectra_of(checkpoint, rank_rtol=rank_rtol, progress=progress)
