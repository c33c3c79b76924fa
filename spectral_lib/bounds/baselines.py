r"""The bounds of earlier work from one allocation lemma, with the same chain and constants.

Entropies :math:`a_i/\epsilon_i^2`, split at their best, add up to :math:`S^2/\epsilon^2` with
:math:`S = (\sum_i (a_i \beta_i^2)^{1/3})^{3/2}`. Its integral diverges at 0, so the chain stops at
:math:`3S/\sqrt n`: this is where a log n enters, which no p <= 2 of Theorem 3.1 needs:

.. math:: R_n \le \frac{12 S}{\sqrt n} \Big(1 + \log^+ \frac{D \sqrt n}{3 S}\Big)
    + \frac{12 D}{\sqrt n} \sqrt{A},

A being what the entropies add that does not grow as the scale falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from spectral_lib.bounds.allocation import allocate
from spectral_lib.bounds.covering import log_of
from spectral_lib.bounds.dudley import Chain
from spectral_lib.bounds.matrix_class import FloatArray, require
from spectral_lib.bounds.observed import in_order, observe
from spectral_lib.bounds.peeling import norm_levels
from spectral_lib.bounds.posthoc import deviation
from spectral_lib.bounds.result import finite, finite_exp
from spectral_lib.constants import (
    COLUMN_STEPS,
    DUDLEY,
    DUDLEY_REMAINDER,
    MAUREY_ORIGIN,
    MAUREY_SIGNS,
    RADIUS_RATIO,
    SYMMETRIZATION,
)
from spectral_lib.errors import DomainError
from spectral_lib.notation import CONSISTENT, Convention, Kind
from spectral_lib.transformer import TransformerSpectra

Norm = Literal["21", "11"]


def edelman_price(k: ArrayLike, vectors: float) -> FloatArray:
    r"""Return :math:`(\sqrt{\log(k+1)} + 2\sqrt{\log(2\mu+1)})^2`, of the (2,1)-norm ball.

    :math:`\log N(\{\|W\|_{2,1} \le R\}, \epsilon) \le (RB/\epsilon)^2` times this, in the sample
    seminorm on mu vectors. The form is that of Edelman et al. (2022, Lemma 4.6), whose constants
    are not explicit; this proof is derived here. Drop the columns with norm at most theta, which
    moves no ``x W`` by more than ``B sqrt(theta R)``; round the other norms down to multiples
    ``n_j theta``; reach each kept column within ``eps_j``, ``eps_j^2`` proportional to ``n_j``,
    by perceptron steps ``± eps_j x_i / B^2`` on the violated i (after Zhang, 2002): at most
    ``(||w_j|| B / eps_j)^2`` of them. Count the n_j and the steps; then choose theta.
    """
    k = np.asarray(k, dtype=np.float64)
    require(k >= 1, "k", ">= 1", k)
    require(np.isfinite(vectors) and vectors >= 1, "mu", ">= 1", vectors)
    steps = np.sqrt(COLUMN_STEPS * np.log(2.0 * vectors + 1.0))
    return np.asarray(np.square(np.sqrt(np.log(k + 1.0)) + steps), dtype=np.float64)


def edelman_entropy(
    radius: ArrayLike, eps: ArrayLike, *, k: ArrayLike, vectors: float, b: ArrayLike = 1.0
) -> FloatArray:
    r"""Return :math:`(RB/\epsilon)^2 (\sqrt{\log(k+1)} + 2\sqrt{\log(2\mu+1)})^2`, in nats."""
    ratio = _ratio(radius, eps, b)
    return np.asarray(np.square(ratio) * edelman_price(k, vectors), dtype=np.float64)


def trauger_tewari_price(d: ArrayLike, k: ArrayLike) -> FloatArray:
    r"""Return :math:`\log(2dk + 1)`: signed unit matrices and the origin, per Maurey draw."""
    d, k = np.asarray(d, dtype=np.float64), np.asarray(k, dtype=np.float64)
    require(d >= 1, "d", ">= 1", d)
    require(k >= 1, "k", ">= 1", k)
    return np.asarray(np.log(MAUREY_SIGNS * d * k + MAUREY_ORIGIN), dtype=np.float64)


def trauger_tewari_entropy(
    radius: ArrayLike, eps: ArrayLike, *, d: ArrayLike, k: ArrayLike, b: ArrayLike = 1.0
) -> FloatArray:
    r"""Return :math:`\lceil (RB/\epsilon)^2 \rceil \log(2dk+1)`, in nats: free of n and T.

    The ball :math:`\|W\|_{1,1} \le R` is R times the hull of :math:`\pm e_i e_j^T`; a mean of m
    draws is within :math:`R/\sqrt m` in Frobenius norm (Maurey). After Trauger and Tewari (2024).
    """
    draws = np.ceil(np.square(_ratio(radius, eps, b)))
    return np.asarray(draws * trauger_tewari_price(d, k), dtype=np.float64)


def log_inverse_square_complexity(log_s: float, chain: Chain, additive: float = 0.0) -> float:
    r"""Return the log of the module's bound on R_n for the entropy :math:`S^2/\epsilon^2 + A`.

    Parameters
    ----------
    log_s
        log S.
    additive
        A, in nats.
    """
    require(log_s < np.inf, "log S", "a number or -inf", log_s)
    require(np.isfinite(additive) and additive >= 0, "A", "finite and >= 0", additive)
    log_n = float(np.log(chain.samples))
    log_radius = chain.log_front - float(np.log(DUDLEY)) + 0.5 * log_n
    log_stop = float(np.log(DUDLEY / DUDLEY_REMAINDER)) + log_s - 0.5 * log_n
    rest = chain.log_front + 0.5 * float(log_of(additive))
    if log_s == -np.inf:
        return rest
    main = float(np.log(DUDLEY)) + log_s - 0.5 * log_n
    main += float(np.log1p(max(log_radius - log_stop, 0.0)))
    return float(np.logaddexp(main, rest))


@dataclass(frozen=True, eq=False)
class BaselineBound:
    r"""A norm-based bound for one network.

    Attributes
    ----------
    norm
        ``"21"`` (Edelman et al.) or ``"11"`` (Trauger and Tewari).
    log_complexity
        Log of 2 R_n.
    confidence, peeling
        As in :class:`~spectral_lib.bounds.result.PosthocBound`.
    log_contributions
        ``[J]``: logs of the parts :math:`(a_i \beta_i^2)^{1/3}` of the allocation's sum.
    """

    norm: Norm
    log_complexity: float
    confidence: float
    peeling: float
    log_contributions: FloatArray

    @property
    def log_value(self) -> float:
        """Log of the bound on the gap."""
        return float(np.logaddexp(self.log_complexity, np.log(self.confidence + self.peeling)))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object: natural logs, null on overflow."""
        return {
            "norm": self.norm,
            "bound": {"log": finite(self.log_value), "value": finite_exp(self.log_value)},
            "complexity": {
                "log": finite(self.log_complexity),
                "value": finite_exp(self.log_complexity),
            },
            "confidence": self.confidence,
            "peeling": self.peeling,
        }


def baseline_bound(
    spectra: TransformerSpectra,
    *,
    norm: Norm,
    samples: float,
    tokens: float,
    delta: float,
    loss_range: float,
    readout_norm: float = 1.0,
    loss_lipschitz: float = 1.0,
    convention: Convention = CONSISTENT,
) -> BaselineBound:
    r"""Return the gap bound from (2,1) or (1,1) norms for a network of class B.

    The sensitivities, the rounding of the spectral norms and the confidence term are those of
    :func:`~spectral_lib.bounds.posthoc.posthoc_bound`; the mixed norms are rounded up to powers
    of two and peeled as well, so that the numbers compare. The readout, an N x 1 matrix, has
    (2,1) norm at most C_w and (1,1) norm at most sqrt(N) C_w.

    Raises
    ------
    DomainError
        As :func:`~spectral_lib.bounds.posthoc.posthoc_bound`.
    """
    confidence = deviation(samples, loss_range, delta)
    require(np.isfinite(tokens) and tokens >= 1, "tokens", ">= 1", tokens)
    chain = Chain(samples, loss_range)
    observed = observe(
        spectra, convention, readout_norm=readout_norm, loss_lipschitz=loss_lipschitz
    )
    log_readout = observed.norms.log_radius[-1]
    if norm == "21":
        mixed = {kind: spectra[kind].norm_21 for kind in Kind}
        price = edelman_price(observed.k, samples * tokens)
        additive = 0.0
    elif norm == "11":
        mixed = {kind: spectra[kind].norm_11 for kind in Kind}
        price = trauger_tewari_price(observed.d, observed.k)
        log_readout = log_readout + 0.5 * np.log(spectra.hidden_size)
        # The ceiling adds at most one draw to each matrix.
        additive = float(price.sum())
    else:
        raise DomainError(f"norm must be '21' or '11', got {norm!r}")
    radii = norm_levels(log_of(in_order(mixed)), RADIUS_RATIO)
    log_a = 2.0 * np.append(radii.log_radius, log_readout) + np.log(price)
    log_s = 0.5 * allocate(log_a, observed.log_beta).log_value
    log_cost = float(observed.norms.log_cost.sum() + radii.log_cost.sum())
    return BaselineBound(
        norm=norm,
        log_complexity=float(np.log(SYMMETRIZATION))
        + log_inverse_square_complexity(log_s, chain, additive),
        confidence=confidence,
        peeling=deviation(samples, loss_range, delta, log_cost) - confidence,
        log_contributions=(log_a + 2.0 * observed.log_beta) / 3.0,
    )


def _ratio(radius: ArrayLike, eps: ArrayLike, b: ArrayLike) -> FloatArray:
    radius, eps, b = (np.asarray(x, dtype=np.float64) for x in (radius, eps, b))
    require(np.isfinite(radius) & (radius >= 0), "R", "finite and >= 0", radius)
    require(np.isfinite(eps) & (eps > 0), "eps", "finite and > 0", eps)
    require(np.isfinite(b) & (b > 0), "B", "finite and > 0", b)
    return np.asarray(radius * b / eps, dtype=np.float64)
