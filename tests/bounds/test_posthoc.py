"""Theorem 3.1's number for a network: against plain loops, its parts, its limits, its refusals."""

import dataclasses
import json
import math

import numpy as np
import pytest

from spectral_lib.bounds import Chain, OperatorMetric, deviation, posthoc_bound, sum_form
from spectral_lib.constants import L_PHI_GELU
from spectral_lib.errors import DomainError
from spectral_lib.notation import CONSISTENT, PAPER, Kind
from tests.bounds.models import encoder

SETTING = {"samples": 1e4, "tokens": 16, "delta": 0.05, "loss_range": 1.0}
FORMS = ("sum", "rss", "quadrature")


def round_up(norm, ratio):
    """The grid value and the cost of a positive norm, by trial."""
    j = round(math.log(norm) / math.log(ratio))
    j = next(x for x in range(j - 2, j + 3) if ratio**x >= norm * (1 - 1e-14))
    return ratio**j, math.log(2 * (abs(j) + 1) * (abs(j) + 2))


def plain_sum_form(spectra, *, samples, tokens, delta, loss_range, readout_norm, loss_lipschitz):
    """The sum form by loops over layers, heads and p; returns the bound and the chosen p."""
    layers, heads, hidden = spectra.num_layers, spectra.num_heads, spectra.hidden_size
    ratio = 1 + 1 / (4 * layers)
    readout, cost = round_up(readout_norm, ratio)
    values, norms = {}, {}
    for layer, kind, head in spectra.positions():
        values[layer, kind, head] = spectra[kind].singular_values[layer, head]
        norms[layer, kind, head], extra = round_up(values[layer, kind, head][0], ratio)
        cost += extra
    lam = []
    for i in range(layers):
        total = sum(norms[i, Kind.VO, h] * (1 + 4 * norms[i, Kind.QK, h]) for h in range(heads))
        lam.append(L_PHI_GELU * norms[i, Kind.FF_IN, 0] * norms[i, Kind.FF_OUT, 0] * total)
    m = math.ceil(layers + math.log(hidden))
    count = layers * (2 * heads + 2) + 1
    diameter = loss_range / 2
    width = math.sqrt(2 * math.log(samples * tokens))

    def term(d, k, s, p, budget, beta):
        scale = count * beta / diameter
        price = math.log1p(8 * s * scale) + (p + 2) / 2
        x = p / (p + 2)
        c_p = 1.0 if p == 0 else (p / 2) ** -x + (p / 2) ** (1 - x)
        principal = (budget * (d + k) * price) ** (1 / (p + 2))
        tail = (math.sqrt(32 * min(d, k)) * (math.sqrt(k) + width) * scale) ** x
        return (p + 2) / 2 * math.sqrt(c_p) * principal * tail

    total, tails, chosen = term(hidden, 1, readout, 0, 1, loss_lipschitz), 0, []
    for layer, kind, head in spectra.positions():
        out, inner = norms[layer, Kind.FF_OUT, 0], norms[layer, Kind.FF_IN, 0]
        gamma = {
            Kind.QK: 2 * norms[layer, Kind.VO, head] * out * inner,
            Kind.VO: out * inner,
            Kind.FF_IN: out,
            Kind.FF_OUT: 1.0,
        }[kind]
        beta = loss_lipschitz * readout * L_PHI_GELU * gamma * math.prod(lam[layer + 1 :])
        d, k = spectra[kind].shape
        s = norms[layer, kind, head]
        options = []
        for j in range(2 * m + 1):
            p = j / m
            s_p = float((values[layer, kind, head] ** p).sum())
            level = max(0, math.ceil(math.log2(s_p / s**p) - 1e-12))
            budget = s**p * min(2**level, min(d, k))
            options.append((term(d, k, s, p, budget, beta), p, level))
        best = min(options)
        total += best[0]
        tails += best[1] > 0
        chosen.append(best[1])
        cost += math.log((2 * m + 1) * (best[2] + 1) * (best[2] + 2))
    total += math.sqrt(tails * math.log(2))
    complexity = 2 * 12 * diameter / math.sqrt(samples) * total
    rest = loss_range * math.sqrt((math.log(1 / delta) + cost) / (2 * samples))
    return complexity + rest, chosen, cost


@pytest.mark.parametrize("scale", [1e-3, 0.05, 1.0, 20.0])
def test_sum_form_against_plain_loops(scale):
    """Norm grid, lambda, gamma, budgets, p*, terms, confidence: all once more, as loops."""
    for seed in range(3):
        spectra = encoder(seed, layers=1 + seed, scale=scale)
        setting = SETTING | {"readout_norm": 0.7, "loss_lipschitz": 2.0}
        expected, chosen, cost = plain_sum_form(spectra, **setting)
        found = posthoc_bound(spectra, **setting)
        assert math.exp(found.log_value) == pytest.approx(expected, rel=1e-11)
        assert found.classes.p[:-1].tolist() == pytest.approx(chosen)
        assert found.log_cost == pytest.approx(cost, rel=1e-12)


def test_exponents_leave_zero_at_small_scales():
    """p* = 0 at large scales; at tiny norms p* > 0 for all whose gamma alpha holds such norms."""
    large = posthoc_bound(encoder(scale=20.0, layers=3), **SETTING).classes.p
    small = posthoc_bound(encoder(scale=1e-3, layers=3), **SETTING).classes.p
    assert (large == 0).all()
    # The last W_out and the readout have no later norm in their sensitivity.
    assert (small[:-2] > 0).all()


@pytest.mark.parametrize("scale", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("metric", ["sample", "operator"])
def test_order_of_the_forms(scale, metric):
    """The quadrature is at most either closed form; every form's parts add up."""
    spectra = encoder(scale=scale, layers=2)
    found = {f: posthoc_bound(spectra, **SETTING, form=f, metric=metric) for f in FORMS}
    complexity = {form: bound.log_complexity for form, bound in found.items()}
    assert complexity["quadrature"] <= min(complexity["sum"], complexity["rss"])
    for bound in found.values():
        parts = np.logaddexp.reduce(bound.log_contributions)
        assert parts == pytest.approx(bound.log_complexity, abs=1e-10)
        total = math.exp(bound.log_complexity) + bound.confidence + bound.peeling
        assert math.exp(bound.log_value) == pytest.approx(total, rel=1e-12)
        assert bound.confidence == deviation(1e4, 1.0, 0.05)


def test_chosen_p_is_the_best_for_the_sum():
    """No single matrix can move to another p of the grid and lower the sum of terms."""
    spectra = encoder(scale=0.05)
    found = posthoc_bound(spectra, **SETTING, metric="operator")
    chain = Chain(SETTING["samples"], 1.0, count=found.classes.size)
    base = sum_form(found.classes, OperatorMetric(), chain).log
    assert base + math.log(2) == pytest.approx(found.log_complexity, rel=1e-12)
    full = sum_form(found.classes.full_rank(), OperatorMetric(), chain).log
    assert base < full


def test_observed_norms_are_rounded_up_before_they_enter():
    """The classes hold the network: s >= ||W||, M >= S_p(W), at most e and 2 away."""
    spectra = encoder(scale=0.3, layers=4)
    found = posthoc_bound(spectra, **SETTING)
    assert (np.log(found.classes.s) >= found.log_norm - 1e-12).all()
    assert (np.log(found.classes.s) <= found.log_norm + math.log(17 / 16) + 1e-12).all()
    assert (np.log(found.classes.m) >= found.log_schatten - 1e-12).all()
    assert (np.log(found.classes.m) <= found.log_schatten + math.log(2) + 2 / 16).all()


def test_samples_needed_bring_the_bound_to_the_loss_range():
    """In the operator metric every term is 1/sqrt n: at that n the gap equals b."""
    spectra = encoder(scale=0.5)
    setting = SETTING | {"loss_range": 2.0}
    found = posthoc_bound(spectra, **setting, metric="operator", form="rss")
    assert found.vacuous
    assert found.reason.startswith("Vacuous: ")
    assert "which no gap exceeds anyway" in found.reason
    needed = math.exp(found.log_samples_needed)
    again = posthoc_bound(spectra, **(setting | {"samples": needed}), metric="operator", form="rss")
    assert again.log_value == pytest.approx(math.log(2.0), abs=1e-9)
    more = posthoc_bound(
        spectra, **(setting | {"samples": 2 * needed}), metric="operator", form="rss"
    )
    assert not more.vacuous
    assert more.reason.startswith("The gap is at most 1.41, below the loss range 2")


def test_confidence_alone_can_make_it_vacuous():
    """With one sample the deviation exceeds b, and the reason names both kinds of terms."""
    spectra = encoder(scale=1e-6, layers=1)
    tiny = posthoc_bound(
        spectra, samples=3, tokens=1, delta=0.5, loss_range=1.0, readout_norm=1e-9,
        loss_lipschitz=1e-9,
    )  # fmt: skip
    assert tiny.vacuous
    assert "together reach" in tiny.reason or "alone reaches" in tiny.reason


@pytest.mark.parametrize("form", FORMS)
def test_zero_matrices_cut_paths(form):
    """A zero W_out of layer 0: nothing before it, nor beside it, adds to the complexity."""
    found = posthoc_bound(encoder(zero=(Kind.FF_OUT,), layers=2), **SETTING, form=form)
    first = [i for i, (layer, _, _) in enumerate(found.spectra.positions()) if layer == 0]
    assert (found.log_contributions[first] == -np.inf).all()
    assert np.isfinite(found.log_value)
    row = found.to_dict()["matrices"][first[-1]]
    assert row["log_norm"] is None
    assert row["log_contribution"] is None


@pytest.mark.parametrize("form", FORMS)
def test_json_has_no_infinity_at_any_depth(form):
    """150 layers of large norms: finite logs, null for what overflows, valid JSON."""
    spectra = encoder(layers=150, heads=1, hidden=2, inner=2, scale=1e3)
    found = posthoc_bound(spectra, **SETTING, form=form)
    assert found.classes.log_beta.max() > 1500
    text = json.dumps(found.to_dict(), allow_nan=False)
    parsed = json.loads(text)
    assert parsed["bound"]["log"] == found.log_value
    assert parsed["vacuous"] is True
    assert len(parsed["matrices"]) == 600
    assert list(parsed["matrices"][0])[:3] == ["layer", "head", "kind"]


def test_a_readout_of_zero_leaves_the_deviation():
    found = posthoc_bound(encoder(), **SETTING, readout_norm=0.0)
    # The readout's own class is {0}, and nothing before it can move the loss.
    assert found.log_complexity == -np.inf
    assert math.exp(found.log_value) == pytest.approx(found.confidence + found.peeling)
    assert found.to_dict()["complexity"] == {"log": None, "value": 0.0}


def test_monotone_in_what_it_should_be():
    """More samples, larger delta: lower. Larger readout, more tokens, larger kappa: higher."""
    spectra = encoder(scale=0.05)
    base = posthoc_bound(spectra, **SETTING).log_value
    assert posthoc_bound(spectra, **(SETTING | {"samples": 2e4})).log_value < base
    assert posthoc_bound(spectra, **(SETTING | {"delta": 0.2})).log_value < base
    assert posthoc_bound(spectra, **(SETTING | {"tokens": 1e6})).log_value > base
    assert posthoc_bound(spectra, **SETTING, readout_norm=5.0).log_value > base
    sharp = dataclasses.replace(CONSISTENT, kappa=1.0)
    assert posthoc_bound(spectra, **SETTING, convention=sharp).log_value < base
    few, many = (
        posthoc_bound(spectra, **(SETTING | {"tokens": t}), metric="operator").log_value
        for t in (1, 1e9)
    )
    assert few == many


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 0}, "samples n must be >= 1"),
        ({"tokens": 0}, "tokens must be"),
        ({"tokens": math.nan}, "tokens must be"),
        ({"delta": 0}, r"delta must be in \(0, 1\)"),
        ({"delta": 1}, r"delta must be in \(0, 1\)"),
        ({"loss_range": 0}, "loss range must be"),
        ({"readout_norm": -1}, "readout norm must be"),
        ({"loss_lipschitz": 0}, "loss Lipschitz constant must be"),
        ({"form": "product"}, "form must be one of sum, rss, quadrature"),
        ({"metric": "l2"}, "metric must be 'sample' or 'operator'"),
        ({"convention": PAPER}, "proved for l_phi_in_gamma = True"),
        ({"convention": dataclasses.replace(CONSISTENT, kappa=0.5)}, "kappa must be at least 1"),
        ({"convention": dataclasses.replace(CONSISTENT, l_phi=1.0)}, "l_phi must be at least"),
        ({"convention": dataclasses.replace(CONSISTENT, scale_count="L")}, "scale_count = 'J'"),
        ({"convention": dataclasses.replace(CONSISTENT, dims="N")}, "dims = 'exact'"),
        ({"convention": dataclasses.replace(CONSISTENT, pi_before_phi=False)}, "pi_before_phi"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(DomainError, match=message) as caught:
        posthoc_bound(encoder(), **(SETTING | change))
    assert "\n" not in str(caught.value)
