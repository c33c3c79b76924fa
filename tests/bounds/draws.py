"""Random classes over many orders of magnitude."""

import numpy as np

from spectral_lib.bounds import MatrixClasses, OperatorMetric, SampleMetric

FIELDS = ("d", "k", "s", "p", "m", "b", "log_beta")


def draw(rng, size, *, largest=40, beta=(-6.0, 6.0)):
    """Return classes with p at both ends and inside, budgets from loose to tiny."""
    d, k = rng.integers(1, largest, (2, size))
    s = 10 ** rng.uniform(-3, 3, size)
    p = np.where(rng.random(size) < 0.3, rng.choice([0.0, 2.0], size), rng.uniform(0.02, 2, size))
    m = s**p * np.minimum(d, k) * 10 ** rng.uniform(-1.5, 0.3, size)
    m = np.where(p == 0, np.maximum(m, 1.0), m)
    b = 10 ** rng.uniform(-1, 1, size)
    return MatrixClasses.of(d, k, s=s, p=p, m=m, b=b, log_beta=rng.uniform(*beta, size))


def draw_metric(rng):
    """Return one of the two metrics, and the mu by which the slow definitions name it."""
    if rng.random() < 0.5:
        return OperatorMetric(), None
    mu = float(np.round(10 ** rng.uniform(0, 8)))
    return SampleMetric(mu), mu


def arguments(cls):
    """Return d, k, s, p, m, b of one class as Python numbers."""
    return [getattr(cls, name).item() for name in FIELDS[:-1]]
