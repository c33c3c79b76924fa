"""The constants of the proofs, as plain numbers.

Every name here has an entry in :mod:`spectral_lib.ledger`, which derives its value; the book and
the tests import the numbers from this module and nowhere else.
"""

from __future__ import annotations

import math

# --- Softmax and attention ---

#: Softmax modulus in the l_inf -> l_1 norms, as in Edelman et al. (2022) and the paper.
KAPPA_EDELMAN = 2.0
#: The sharp softmax modulus (derived here): the Jacobian's inf -> 1 norm is at most 1.
KAPPA_SHARP = 1.0
#: ||softmax(z) - softmax(z')||_1 <= SOFTMAX_DIAMETER tanh(||z - z'||_inf / 2), attained.
SOFTMAX_DIAMETER = 2.0
#: How often the input enters a score x W x^T: a head is C_V (1 + 2 kappa C_QK)-Lipschitz.
SCORE_OCCURRENCES = 2.0

# --- Activation ---

#: Lipschitz constant of the GELU, rounded up, as the paper's scripts use it.
L_PHI_SCRIPTS = 1.13
#: sup |GELU'| = Phi(sqrt 2) + sqrt 2 pdf(sqrt 2), attained at x = sqrt 2.
L_PHI_GELU = 0.5 * (1.0 + math.erf(1.0)) + math.exp(-1.0) / math.sqrt(math.pi)
#: sup of the derivative of the tanh form of the GELU: the enclosure's upper end, rounded up.
L_PHI_GELU_TANH = 1.128993068658772

# --- Nets ---

#: log N <= d k log(1 + FULL_RANK_NET s B / eps): the volumetric net of an operator-norm ball.
FULL_RANK_NET = 2.0
#: log N <= r (d + k) log(1 + PURE_RANK_NET s B / eps): the factor net at the whole of eps.
PURE_RANK_NET = 4.0
#: The share of eps that the tail gets; the principal part gets the rest.
TAIL_SHARE = 0.5
#: log N_1 <= r (d + k) log(1 + LOW_RANK_NET s B / eps): the factor net at scale eps / 2.
LOW_RANK_NET = 8.0

# --- Dual Sudakov and Gaussian maxima ---

#: Gaussian mass that Markov's inequality leaves in the ball: fixes the scale of the shift.
MARKOV_LEVEL = 0.5
#: The additive term of dual Sudakov, -log MARKOV_LEVEL = log 2.
DUAL_SUDAKOV_OFFSET = math.log(2.0)
#: Dual Sudakov: log N(unit Frobenius ball, eps) <= log 2 + DUAL_SUDAKOV E^2 / eps^2.
DUAL_SUDAKOV = 8.0
#: The same with the median of the Gaussian norm in place of its mean.
DUAL_SUDAKOV_MEDIAN = 2.0
#: Dual Sudakov at eps / 2, the tail's share of the scale.
DUAL_SUDAKOV_TAIL = 32.0
#: E max of mu centred variables, sub-Gaussian with variance 1, <= sqrt(GAUSSIAN_MAXIMUM log mu).
GAUSSIAN_MAXIMUM = 2.0
#: max |x_t G x_j^T| runs over SIGNED_SCORES n T^2 Gaussians: each score with both signs.
SIGNED_SCORES = 2.0

# --- Interpolation ---

#: The largest Schatten exponent p of the interpolation.
P_MAX = 2.0
#: c_p = exp(h(p/(p+2))) at p = 0.
C_P_AT_ZERO = 1.0
#: c_p = exp(h(p/(p+2))) at p = P_MAX.
C_P_AT_TWO = 2.0

# --- From entropy to generalization ---

#: The ratio of successive scales in the chaining that gives DUDLEY.
CHAINING_RATIO = 0.5
#: Dudley: R_n <= (DUDLEY / sqrt n) int_0^D sqrt(log N(eps)) d eps.
DUDLEY = 12.0
#: Chaining stopped at scale a leaves at most DUDLEY_REMAINDER a: for entropies as 1/eps^2.
DUDLEY_REMAINDER = 4.0
#: The same step at its best ratio sqrt 2 - 1: 6 + 4 sqrt 2.
DUDLEY_BEST_RATIO = 6.0 + 4.0 * math.sqrt(2.0)
#: Dudley for covers inside the class, chained along a tree: 4 sqrt 2, with D / 2 as upper limit.
DUDLEY_TREE = 4.0 * math.sqrt(2.0)
#: D = CENTERED_RANGE b: a loss in [0, b], centred at b / 2.
CENTERED_RANGE = 0.5
#: E sup (E f - E_n f) <= SYMMETRIZATION R_n.
SYMMETRIZATION = 2.0
#: Confidence term b sqrt(log(1/delta) / (BOUNDED_DIFFERENCES n)), from McDiarmid's inequality.
BOUNDED_DIFFERENCES = 2.0
#: Direct certificate: gap <= CERTIFICATE_SLACK eps + deviation over a fixed finite set.
CERTIFICATE_SLACK = 2.0

# --- Peeling and post hoc choice ---

#: Budgets on the Schatten quantity grow as M_0 RADIUS_RATIO^k: M <= max(M_0, twice the observed).
RADIUS_RATIO = 2.0
#: Sum over k >= 0 of 1/((k+1)(k+2)): the weights of the radii need no normalisation.
RADIUS_LEVEL_MASS = 1.0
#: Sum over k in Z of 1/((|k|+1)(|k|+2)): the weights of the norms are divided by it.
NORM_LEVEL_MASS = 1.5
#: The zero matrix as one more level among the norms: completes NORM_LEVEL_MASS to 2.
ZERO_LEVEL_MASS = 0.5
#: Norms that multiply in a layer of class A: C_M, C_V, C_QK; their grid's ratio is 1 + 1/(3L).
NORMS_PER_LAYER_A = 3.0
#: Norms that multiply in a layer of class B: out, in, V, QK; their grid's ratio is 1 + 1/(4L).
NORMS_PER_LAYER_B = 4.0
#: The most that gamma alpha grows on those grids: sup over L of (1 + 1/(3L))^(3L) = e.
NORM_GRID_INFLATION = math.e
#: Rounding p up to the grid {0, 1/m, ..., 2} costs at most
#: max(1, s gamma alpha L)^(ROUNDING_SCALE_EXPONENT / m) N^(ROUNDING_SIZE_EXPONENT / m).
ROUNDING_SCALE_EXPONENT = 0.5
#: The exponent of N in the same factor.
ROUNDING_SIZE_EXPONENT = 0.25

# --- Allocation and Maurey ---

#: Entropies (R/eps)^2 add, at the best split of eps, as (sum (R beta)^(2/3))^(3/2) / eps: inner.
ALLOCATION_INNER = 2.0 / 3.0
#: The outer power of the same sum.
ALLOCATION_OUTER = 1.5
#: (2,1)-norm ball: log N <= (R B / eps)^2 (sqrt(log(k+1)) + sqrt(COLUMN_STEPS log(2 mu + 1)))^2,
#: the 4 being sup over n >= 1 of (n+1)^2 / n^2: column norms are rounded down to a grid.
COLUMN_STEPS = 4.0
#: Vertices of the (1,1)-norm ball per matrix entry: +e_i e_j^T and -e_i e_j^T.
MAUREY_SIGNS = 2.0
#: The origin, counted as one more vertex: log N <= ceil((R B / eps)^2) log(2 d k + 1).
MAUREY_ORIGIN = 1.0
