"""The experiments' parts against their limits: the shipped grid, its tables, a large checkpoint.

The whole grid is read (hashes verified) and analysed under both conventions; each table is timed
alone; a random checkpoint of BERT-base's shape goes from file to proxies beside its LAPACK floor,
in a process of its own for the peak memory.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_analysis import bare_model, command_line, read_safetensors, write_bert_base
from harness import paired

import spectral_lib
from spectral_lib import CONSISTENT, PAPER, tables
from spectral_lib.families import Family, load_family

GRID_SECONDS = 2.0
LAPACK_RATIO = 1.5
PEAK_MEGABYTES = 400.0

#: A call of each table function as the book makes it.
TABLES: dict[str, Callable[[Family], object]] = {
    "spectral_decay": lambda f: tables.spectral_decay(f.headline),
    "contribution_curves": lambda f: tables.contribution_curves(f.headline),
    "p_star_histogram": tables.p_star_histogram,
    "norm_scaling": tables.norm_scaling,
    "norm_exponents": tables.norm_exponents,
    "proxy_growth": lambda f: tables.proxy_growth(f, "N"),
    "growth_exponents": lambda f: tables.growth_exponents(f, "L"),
    "growth_ratio": lambda f: tables.growth_ratio(f, "L"),
    "sizes": tables.sizes,
    "heterogeneity": lambda f: tables.heterogeneity(f.headline),
    "convention_effects": lambda f: tables.convention_effects(f.headline),
    "leaving_zero": lambda f: tables.leaving_zero(f.headline),
    "training_effect": tables.training_effect,
    "training_history": lambda f: tables.training_history(f, f.headline.model),
    "loss_curves": tables.loss_curves,
    "card": tables.card,
}


def analysed_grid() -> None:
    """Read the shipped grid and evaluate every proxy of its members, under both conventions."""
    for spectra in load_family("grid").members:
        for convention in (PAPER, CONSISTENT):
            spectral_lib.analyze(spectra, convention)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Measure everything, then fail if a limit was missed."""
    missed = []
    first = seconds(analysed_grid)
    print(f"grid from its files to proxies: {first:.2f} s (limit {GRID_SECONDS:g} s)")
    if first > GRID_SECONDS:
        missed.append("grid")
    family = load_family("grid")
    for name, table in TABLES.items():
        print(f"  {name:22s} {seconds(lambda t=table: t(family)):7.3f} s")
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        write_bert_base(base)
        print(f"L 12, N 768, H 12 against bare LAPACK (limit {LAPACK_RATIO:g})")
        ratio = paired(
            lambda: spectral_lib.analyze(spectral_lib.load(str(base))),
            lambda: bare_model(read_safetensors(base / "model.safetensors", "", 12), 12),
            repeats=3,
        )
        print(f"the same by the command line (limit {PEAK_MEGABYTES:g} MB)")
        peak = command_line("analyze", str(base))
    if ratio > LAPACK_RATIO:
        missed.append("LAPACK ratio")
    if peak > PEAK_MEGABYTES:
        missed.append("peak memory")
    if missed:
        raise SystemExit(f"limits missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
