"""The constants of the proofs, as plain numbers.

Every name here has an entry in :mod:`spectral_lib.ledger`, which derives its value; the book and
the tests import the numbers from this module and nowhere else.
"""

from __future__ import annotations

import math

#: Softmax modulus in the l_inf -> l_1 norms, as in Edelman et al. (2022) and the paper.
KAPPA_EDELMAN = 2.0
#: The sharp softmax modulus (derived here): the Jacobian's inf -> 1 norm is at most 1.
KAPPA_SHARP = 1.0

#: Lipschitz constant of the GELU, rounded up, as the paper's scripts use it.
L_PHI_SCRIPTS = 1.13
#: sup |GELU'| = Phi(sqrt 2) + sqrt 2 pdf(sqrt 2), attained at x = sqrt 2.
L_PHI_GELU = 0.5 * (1.0 + math.erf(1.0)) + math.exp(-1.0) / math.sqrt(math.pi)
#: sup of the derivative of the tanh form of the GELU, rounded up in the last digit.
L_PHI_GELU_TANH = 1.1289933

#: log N_1 <= r (d + k) log(1 + LOW_RANK_NET s B / eps): the factor net at scale eps / 2.
LOW_RANK_NET = 8.0
#: log N <= r (d + k) log(1 + PURE_RANK_NET s B / eps): the factor net at the whole of eps.
PURE_RANK_NET = 4.0
#: log N <= d k log(1 + FULL_RANK_NET s B / eps): the volumetric net of an operator-norm ball.
FULL_RANK_NET = 2.0
#: Dual Sudakov: log N(unit Frobenius ball, eps) <= log 2 + DUAL_SUDAKOV E^2 / eps^2.
DUAL_SUDAKOV = 8.0
#: The same at eps / 2, the tail's share of the scale.
DUAL_SUDAKOV_TAIL = 32.0
#: Dudley: R_n <= (DUDLEY / sqrt n) int_0^D sqrt(log N(eps)) d eps.
DUDLEY = 12.0
