"""The allocation lemma against scipy.optimize, and its special cases."""

import numpy as np
import pytest
from scipy.optimize import minimize

from spectral_lib.bounds import allocate
from spectral_lib.constants import ALLOCATION_INNER, ALLOCATION_OUTER


@pytest.mark.parametrize("mixed", [False, True])
def test_minimum_against_a_general_optimiser(mixed):
    """No descent from random starts finds less; the shares use the scale up exactly."""
    rng = np.random.default_rng(60 + mixed)
    for _ in range(25):
        size = rng.integers(1, 7)
        log_a, log_beta = rng.normal(scale=3, size=(2, size))
        q = rng.uniform(0.1, 2, size) if mixed else np.full(size, rng.uniform(0.1, 2))
        log_eps = rng.normal()

        def log_total(z, a=log_a, beta=log_beta, q=q, log_eps=log_eps):
            shares = log_eps + z - np.logaddexp.reduce(z) - beta
            return np.logaddexp.reduce(a - 2 * q * shares)

        found = allocate(log_a, log_beta, q, log_eps=log_eps)
        start = rng.normal(size=size)
        best = minimize(log_total, start, method="BFGS", options={"gtol": 1e-10}).fun
        assert found.log_value == pytest.approx(best, abs=1e-8)
        spent = np.logaddexp.reduce(log_beta + found.log_eps)
        assert spent == pytest.approx(log_eps, abs=1e-10)


def test_common_exponent_in_closed_form():
    """eps^(-2q) (sum (a beta^(2q))^(1/(2q+1)))^(2q+1); q = 1 gives powers 2/3 and 3/2."""
    rng = np.random.default_rng(61)
    radius, beta = rng.uniform(0.1, 3, (2, 5))
    eps = 0.3
    found = allocate(2 * np.log(radius), np.log(beta), log_eps=np.log(eps))
    root = ((radius * beta) ** ALLOCATION_INNER).sum() ** ALLOCATION_OUTER / eps
    assert np.exp(0.5 * found.log_value) == pytest.approx(root, rel=1e-13)
    ratio = found.log_eps - (2 * np.log(radius) - np.log(beta)) / 3
    assert np.ptp(ratio) < 1e-13


def test_matrices_that_cost_nothing():
    """a = 0 gets no share, beta = 0 an infinite one; nothing active costs nothing."""
    found = allocate([0.0, -np.inf, 0.0], [0.0, 0.0, -np.inf], [0.5, 1.0, 1.5])
    assert found.log_eps.tolist() == [0.0, -np.inf, np.inf]
    assert found.log_value == 0.0
    assert allocate([-np.inf], [0.0]).log_value == -np.inf


def test_log_scales_of_1e4():
    for q in (1.0, [0.5, 1.0, 2.0]):
        found = allocate([0.0, 5.0, -5.0], [1e4, -1e4, 0.0], q)
        assert np.isfinite(found.log_value)
        spent = np.logaddexp.reduce(np.array([1e4, -1e4, 0.0]) + found.log_eps)
        assert spent == pytest.approx(0.0, abs=1e-8)
