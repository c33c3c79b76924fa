r"""Theorem 3.1 for a trained network: the post hoc generalization bound, every constant explicit.

With probability at least :math:`1 - \delta` over n samples, for every network of class B at once,

.. math::
    \text{gap} \le 2 R_n + b \sqrt{\frac{\log(1/\delta) + \sum_i \log(1/w_i)}{2n}} ,

with ``R_n`` one of the three forms over the classes that the network is found in afterwards: norms
and Schatten budgets on their grids, p on P_m, each with its peeling weight ``w_i``.
"""

from __future__ import annotations

import numpy as np

from spectral_lib.bounds.dudley import Chain, Complexity
from spectral_lib.bounds.matrix_class import (
    FloatArray,
    IntArray,
    MatrixClasses,
    Metric,
    OperatorMetric,
    SampleMetric,
    require,
)
from spectral_lib.bounds.observed import Observed, in_order, observe
from spectral_lib.bounds.peeling import radius_levels
from spectral_lib.bounds.result import MetricName, PosthocBound, Setting
from spectral_lib.bounds.rounding import grid_size
from spectral_lib.bounds.selection import CHOICES, Form, pick
from spectral_lib.constants import BOUNDED_DIFFERENCES, SYMMETRIZATION
from spectral_lib.errors import DomainError
from spectral_lib.notation import CONSISTENT, Convention, Kind
from spectral_lib.transformer import TransformerSpectra


def deviation(samples: float, loss_range: float, delta: float, log_cost: float = 0.0) -> float:
    r"""Return :math:`b \sqrt{(\log(1/\delta) + \sum_i \log(1/w_i))/(2n)}` (McDiarmid's inequality).

    Raises
    ------
    DomainError
        delta outside (0, 1), n < 1, b <= 0 or a negative peeling cost.
    """
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    require(np.isfinite(log_cost) and log_cost >= 0, "peeling cost", ">= 0", log_cost)
    Chain(samples, loss_range)  # checks n and b
    log_union = log_cost - float(np.log(delta))
    return float(loss_range * np.sqrt(log_union / BOUNDED_DIFFERENCES / samples))


def metric_named(name: str, samples: float, tokens: float) -> Metric:
    """Return the metric by its name: ``"sample"`` (on the n T token vectors) or ``"operator"``."""
    require(np.isfinite(tokens) and tokens >= 1, "tokens", ">= 1", tokens)
    if name == "sample":
        return SampleMetric(samples * tokens)
    if name == "operator":
        return OperatorMetric()
    raise DomainError(f"metric must be 'sample' or 'operator', got {name!r}")


def posthoc_bound(
    spectra: TransformerSpectra,
    *,
    samples: float,
    tokens: float,
    delta: float,
    loss_range: float,
    readout_norm: float = 1.0,
    loss_lipschitz: float = 1.0,
    form: Form = "sum",
    convention: Convention = CONSISTENT,
    metric: MetricName = "sample",
) -> PosthocBound:
    r"""Return the explicit bound of Theorem 3.1 for a network, read as a member of class B.

    .. math:: \text{gap} \le 2 R_n
        + b \sqrt{\big(\log(1/\delta) + \textstyle\sum_i \log(1/w_i)\big)/(2n)} .

    It holds for the network of class B with these weights (no biases, no residual connections, no
    LayerNorm, rows projected to the unit ball): for a checkpoint it is the theorem's number, not a
    statement about the checkpoint's own forward pass. J = L(2H+2) + 1 matrices are covered, the
    readout (N x 1, rank 1) among them; B = 1 for all, L_phi being in gamma. All norms, the
    readout's too, are rounded up on their grid before they enter, and paid for.

    Parameters
    ----------
    samples, tokens
        n and T: independent sequences, and tokens in each.
    delta
        Failure probability, in (0, 1).
    loss_range, loss_lipschitz
        The loss takes values in [0, b] and is Lipschitz in the readout.
    readout_norm
        Observed norm of w.
    form
        ``"sum"`` (the paper's, explicit), ``"rss"`` or ``"quadrature"`` (derived here).
    metric
        ``"sample"``, or ``"operator"`` with neither n nor T in the entropy (derived here).

    Raises
    ------
    DomainError
        A value out of its range, or a convention for which the theorem is not proved.
    """
    if form not in CHOICES:
        raise DomainError(f"form must be one of {', '.join(CHOICES)}, got {form!r}")
    confidence = deviation(samples, loss_range, delta)
    seminorm = metric_named(metric, samples, tokens)
    observed = observe(
        spectra, convention, readout_norm=readout_norm, loss_lipschitz=loss_lipschitz
    )
    m = grid_size(spectra.num_layers, spectra.hidden_size)
    log_schatten, candidates, costs = _candidates(spectra, observed, m)
    chain = Chain(samples, loss_range, count=observed.d.size)
    complexity: Complexity
    choice: IntArray
    complexity, choice = CHOICES[form](candidates, seminorm, chain)
    columns = np.arange(choice.size)
    log_cost = float(observed.norms.log_cost.sum() + costs[choice, columns].sum())
    log_norms = in_order({kind: spectra[kind].log_spectral_norm for kind in Kind})
    with np.errstate(divide="ignore"):
        log_readout = np.log(np.float64(readout_norm))
    log_symmetrization = float(np.log(SYMMETRIZATION))
    return PosthocBound(
        setting=Setting(
            samples, tokens, delta, loss_range, readout_norm, loss_lipschitz, form, metric
        ),
        convention=convention,
        spectra=spectra,
        classes=pick(candidates, choice),
        log_norm=np.append(log_norms, log_readout),
        log_schatten=log_schatten[choice, columns],
        log_complexity=log_symmetrization + complexity.log,
        log_contributions=log_symmetrization + complexity.log_parts,
        confidence=confidence,
        peeling=deviation(samples, loss_range, delta, log_cost) - confidence,
        log_cost=log_cost,
        grid=m,
    )


def _candidates(
    spectra: TransformerSpectra, observed: Observed, m: int
) -> tuple[FloatArray, MatrixClasses, FloatArray]:
    """Return log S_p, the classes and the costs of p and budget, each ``[P, J]``."""
    p = np.arange(2 * m + 1)[:, None] / m
    rows = [in_order({kind: spectra[kind].log_schatten(x) for kind in Kind}) for x in p[:, 0]]
    log_norm = observed.norms.log_radius
    log_schatten = np.stack(rows)
    levels = radius_levels(log_schatten, log_norm[:-1], p, m)
    # S_p <= q C^p whatever the budget; written by powers of two, so that S_0 stays an integer.
    norm = np.exp(log_norm)
    q = np.minimum(observed.d, observed.k)[:-1]
    with np.errstate(over="ignore", under="ignore"):
        budget = norm[:-1] ** p * np.minimum(np.exp2(levels.level), q)
    lost = ~np.isfinite(budget) | ((budget == 0) & (norm[:-1] > 0))
    if lost.any():  # a budget rounded to zero would be met by the zero matrix alone
        worst = norm[:-1][lost.any(axis=0)][0]
        raise DomainError(
            f"the square of a spectral norm of {worst:.3g} exceeds the range of float64; "
            "rescale the weights"
        )
    # The readout: rank 1, fixed in advance, nothing chosen.
    readout = np.ones_like(p)
    rank = np.where(norm[-1] > 0, 0.0, -np.inf) * readout
    classes = MatrixClasses.of(
        observed.d,
        observed.k,
        s=norm,
        p=np.hstack([np.broadcast_to(p, levels.level.shape), 0.0 * readout]),
        m=np.hstack([budget, readout]),
        log_beta=observed.log_beta,
    )
    return (
        np.hstack([log_schatten, rank]),
        classes,
        np.hstack([levels.log_cost, 0.0 * readout]),
    )
