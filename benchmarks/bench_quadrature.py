"""Dudley's integral of the exact entropy for a 12-layer, 12-head model, against its floor.

The floor is what any evaluation needs: one logarithm and one exponential for each class at each
scale (its price of a singular value, and its tail), at the same number of scales.
"""

from __future__ import annotations

import time

import numpy as np

from spectral_lib.bounds import Chain, MatrixClasses, SampleMetric, quadrature
from spectral_lib.bounds.quadrature import PANELS

LAYERS, HEADS, HIDDEN, INNER = 12, 12, 768, 3072
LIMIT_SECONDS = 2.0
REPEATS = 5


def model(p: float) -> MatrixClasses:
    """Return J = 312 classes of class B's shapes, all with a tail where p > 0."""
    rng = np.random.default_rng(0)
    heads = [HIDDEN] * (2 * HEADS)
    d = [*heads, HIDDEN, INNER] * LAYERS
    k = [*heads, INNER, HIDDEN] * LAYERS
    size = len(d)
    return MatrixClasses.of(
        d,
        k,
        s=rng.uniform(0.5, 3.0, size),
        p=p,
        m=rng.uniform(10.0, 300.0, size),
        log_beta=rng.uniform(-20.0, 20.0, size),
    )


def best_time(call) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def floor(classes: MatrixClasses) -> None:
    scales = np.linspace(-20.0, 0.0, 2 * PANELS + 2)[:, None]
    log_inv = classes.log_beta - scales
    np.logaddexp(0.0, log_inv)
    np.exp(np.minimum(2.0 * log_inv, 700.0))


def main() -> None:
    metric, chain = SampleMetric(1e7), Chain(1e5, 1.0)
    for p in (0.0, 1.0, 2.0):
        classes = model(p)
        width = quadrature(classes, metric, chain).relative_width
        seconds = best_time(lambda c=classes: quadrature(c, metric, chain))
        lowest = best_time(lambda c=classes: floor(c))
        print(
            f"quadrature, J = {classes.size}, p = {p:g}: {seconds:.3f} s "
            f"({seconds / lowest:.1f} times its floor of {lowest:.4f} s; "
            f"limit {LIMIT_SECONDS:g} s; upper / lower - 1 = {width:.1e})"
        )
        if seconds > LIMIT_SECONDS:
            raise SystemExit(f"quadrature takes {seconds:.2f} s, limit {LIMIT_SECONDS:g} s")


if __name__ == "__main__":
    main()
