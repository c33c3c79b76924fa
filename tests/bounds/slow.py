"""The definitions once more, as plain loops over Python floats: nothing shared with the library."""

import math
from itertools import pairwise

import numpy as np
from scipy.integrate import quad


def gaussian_width_squared(d, k, mu):
    """K for mu input vectors, K_op for mu = None."""
    if mu is None:
        return (math.sqrt(d) + math.sqrt(k)) ** 2
    return (math.sqrt(k) + math.sqrt(2 * math.log(mu))) ** 2


def prices(d, k, s, b, eps, mu):
    lam = math.log1p(8 * s * b / eps)
    return lam, 32 * b**2 * gaussian_width_squared(d, k, mu) / eps**2


def tail(r, q, s, p, m):
    tau = min(s, (m / (r + 1)) ** (1 / p))
    return min(m * tau ** (2 - p), (q - r) * tau**2)


def exact(d, k, s, p, m, b, eps, mu):
    q = min(d, k)
    lam, v = prices(d, k, s, b, eps, mu)
    if p == 0:
        return min(math.floor(m), q) * (d + k) * lam
    members = [q * (d + k) * lam]
    for r in range(q):
        members.append(r * (d + k) * lam + math.log(2) + v * tail(r, q, s, p, m))
    return min(members)


def balanced(d, k, s, p, m, b, eps, mu):
    """The minimum over tau, on a fine grid of tau, of principal part plus tail."""
    q = min(d, k)
    lam, v = prices(d, k, s, b, eps, mu)
    if p == 0:
        return m * (d + k) * lam
    taus = s * np.geomspace(1e-8, 1e8, 400_001)
    return math.log(2) + float(np.min(m * (d + k) * lam * taus**-p + v * q * taus**2))


def integral(matrices, diameter, mu):
    """int_0^D sqrt(sum_i H_i(eps / (J beta_i))) d eps; matrices are dicts with a beta."""

    def integrand(log_eps):
        eps = math.exp(log_eps)
        total = 0.0
        for row in matrices:
            scale = eps / (len(matrices) * row["beta"])
            total += exact(row["d"], row["k"], row["s"], row["p"], row["m"], row["b"], scale, mu)
        return math.sqrt(total) * eps

    # In log eps the endpoint singularity is an exponential; kinks need many subdivisions.
    edges = math.log(diameter) - np.array([45, 30, 20, 15, 10, 7, 5, 4, 3, 2, 1.5, 1, 0.5, 0])
    pieces = [
        quad(integrand, low, high, limit=200, epsabs=0, epsrel=1e-8)[0]
        for low, high in pairwise(edges)
    ]
    return sum(pieces)
