"""The symbols of the ledger, each named once.

They follow the book's notation table; a symbol that is an index, or that lives inside one
derivation, is made there.
"""

from __future__ import annotations

import sympy as sp


def _positive(names: str) -> tuple[sp.Symbol, ...]:
    return tuple(sp.symbols(names, positive=True, seq=True))


#: Hidden size N, depth L, heads H, tokens T, sequences n, token vectors mu = n T.
N, L, H, T, n, mu = _positive("N L H T n mu")
#: Rows and columns of a matrix, q = min(d, k), and a rank.
d, k, q, r = _positive("d k q r")
#: Schatten exponent, budget M on the Schatten quantity S_p, and the truncation level.
p, M, tau = _positive("p M tau")
#: Observed Schatten quantity S_p.
S = sp.Symbol("S", positive=True)
#: A singular value.
sigma = sp.Symbol("sigma", positive=True)
#: Bound s on the spectral norm, bound B on the input's norm, covering scale eps.
s, B, eps = _positive("s B varepsilon")
#: Squared Gaussian mean K per unit of B, and the sensitivity beta of the loss to a matrix.
K, beta = _positive("K beta")
#: Logarithm of the net, Lambda = log(1 + 8 s B / eps), and V = 32 B^2 K / eps^2.
Lam, V = _positive("Lambda V")
#: Softmax modulus and the activation's Lipschitz constant.
kappa, L_phi = _positive("kappa L_phi")
#: Spectral norms of a layer: C_QK, C_V, C_M (class A), C_in, C_out (class B).
C_QK, C_V, C_M, C_in, C_out = _positive("C_QK C_V C_M C_in C_out")
#: Propagation alpha and sensitivity gamma, their product with the count: A = gamma alpha L.
alpha, gamma, A = _positive("alpha gamma A")
#: Frobenius budget F, a mixed norm's budget R, and the number J of covered matrices.
F, R, J = _positive("F R J")
#: Loss range b, confidence delta, half-range D, grid size m.
b, delta, D, m = _positive("b delta D m")
