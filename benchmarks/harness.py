"""Timing within one process run: the two sides in turn, medians, one ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def paired(ours: Callable[[], object], floor: Callable[[], object], repeats: int = 5) -> float:
    """Print the median seconds of both sides; print and return the median of their ratios."""
    ours(), floor()  # warm the page cache, the allocator and the thread pools
    pairs = [(_seconds(ours), _seconds(floor)) for _ in range(repeats)]
    mine, bare = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"    library {mine:8.3f} s   floor {bare:8.3f} s   ratio {ratio:7.3f}")
    return ratio


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
