"""From a checkpoint to the spectra of all its weight matrices."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from threadpoolctl import threadpool_limits

from spectral_lib.checkpoints import Checkpoint, open_checkpoint
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Spectrum, spectrum_of_dense, spectrum_of_factored, stack
from spectral_lib.notation import Kind
from spectral_lib.transformer import TransformerSpectra

#: Called with the number of layers done and the number of layers.
Progress = Callable[[int, int], None]


def spectra_of(
    checkpoint: Checkpoint, *, rank_rtol: float | None = None, progress: Progress | None = None
) -> TransformerSpectra:
    """Compute the spectra of an open checkpoint, reading one layer at a time.

    The four kinds of a layer are worked on side by side, and the file's hash beside them. BLAS
    gets the cores that this leaves: its own threads wait for each other in a busy loop, which on
    a machine with other work is slower than one thread by an order of magnitude.
    """
    found: dict[Kind, list[Spectrum]] = {kind: [] for kind in Kind}
    cores = _cores()
    with (
        threadpool_limits(limits=max(1, cores // len(Kind)), user_api="blas"),
        ThreadPoolExecutor(max_workers=min(cores, len(Kind)) + 1) as pool,
    ):
        sha256 = pool.submit(checkpoint.sha256)
        for done, layer in enumerate(checkpoint.layers(), start=1):
            # The dense matrices first: they take longest.
            tasks = {
                Kind.FF_IN: pool.submit(spectrum_of_dense, layer.ff_in, rank_rtol),
                Kind.FF_OUT: pool.submit(spectrum_of_dense, layer.ff_out, rank_rtol),
                Kind.QK: pool.submit(spectrum_of_factored, layer.qk, rank_rtol),
                Kind.VO: pool.submit(spectrum_of_factored, layer.vo, rank_rtol),
            }
            del layer  # before the next one is read: one layer in memory at a time
            for kind, task in tasks.items():
                spectrum = task.result()
                found[kind].append(spectrum if kind.per_head else spectrum[None])
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


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    DomainError
        A norm out of the range of float64, ``rank_rtol`` out of [0, 1), or an option that a
        spectra file does not have.
    """
    if isinstance(model, str | os.PathLike) and Path(model).suffix == ".npz":
        for name, value in {"revision": revision, "rank_rtol": rank_rtol}.items():
            if value is not None:
                raise DomainError(f"{name} applies to checkpoints, not to a spectra file: {model}")
        return TransformerSpectra.load(model)
    checkpoint = open_checkpoint(model, revision=revision)
    return spectra_of(checkpoint, rank_rtol=rank_rtol, progress=progress)
