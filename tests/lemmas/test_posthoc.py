"""Theorem 3.1 assembled: the classes a network is found in, and the bound against real networks."""

import numpy as np
import pytest

from spectral_lib.bounds.posthoc import deviation, posthoc_bound
from spectral_lib.constants import NORM_GRID_INFLATION, RADIUS_RATIO
from spectral_lib.function_class import LayerB, Network, project_rows
from spectral_lib.notation import CONSISTENT, Kind
from spectral_lib.packing import random_members
from spectral_lib.propagation import propagate

from .networks import spectra_of
from .tightness import at_most, statement

SIZE, WIDTH, HEADS, TOKENS = 3, 4, 2, 3
FORMS = ["sum", "rss", "quadrature"]
ASKED = {"tokens": TOKENS, "delta": 0.1, "loss_range": 1.0, "loss_lipschitz": 0.5}


def random_network(rng, depth=1, norm=1.0):
    """A class B network; all matrices have the given spectral norm."""

    def draw(count, d, k):
        return random_members(rng, count, (d, k), s=norm, budget=2 * norm, p=1.0)

    layers = tuple(
        LayerB(
            draw(HEADS, SIZE, SIZE), draw(HEADS, SIZE, SIZE),
            draw(1, SIZE, WIDTH)[0], draw(1, WIDTH, SIZE)[0],
        )
        for _ in range(depth)
    )  # fmt: skip
    readout = project_rows(rng.standard_normal(SIZE) * 10)
    return Network(layers, readout)


@statement("thm-posthoc")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("norm", [0.05, 1.0, 4.0])
def test_the_network_lies_in_the_class_it_is_found_in(form, norm):
    network = random_network(np.random.default_rng(3), depth=2, norm=norm)
    spectra = spectra_of(network)
    found = posthoc_bound(spectra, samples=1e4, form=form, **ASKED)
    log_m = np.log(found.classes.m)
    assert (found.log_norm <= np.log(found.classes.s) + 1e-12).all()
    assert (found.log_schatten <= log_m + 1e-12).all()
    # A budget starts at C^p, C the norm rounded up: at most that, or twice the observed.
    start = found.classes.p * np.log(found.classes.s)
    assert (log_m <= np.maximum(start, found.log_schatten + np.log(RADIUS_RATIO)) + 1e-9).all()

    true = propagate(spectra, CONSISTENT)
    kinds = {kind: true.log_scale(kind, 1) for kind in Kind}
    log_scales = np.concatenate([kinds[kind] for kind in Kind], axis=1).ravel()
    excess = found.classes.log_beta[:-1] - log_scales - np.log(ASKED["loss_lipschitz"])
    assert (excess >= -1e-12).all()
    assert (excess <= np.log(NORM_GRID_INFLATION) + np.log1p(1 / 8) + 1e-12).all()  # with C_w's


@statement("thm-posthoc")
@pytest.mark.parametrize("form", FORMS)
def test_the_parts_make_the_bound(form):
    network = random_network(np.random.default_rng(4))
    found = posthoc_bound(spectra_of(network), samples=1e4, form=form, **ASKED)
    complexity = np.exp(found.log_complexity)
    assert np.exp(found.log_contributions).sum() == pytest.approx(complexity, rel=1e-9)
    whole = deviation(1e4, 1.0, ASKED["delta"], found.log_cost)
    assert np.exp(found.log_value) == pytest.approx(complexity + whole, rel=1e-12)
    assert len(found.classes.p) == 2 * HEADS + 2 + 1


@statement("thm-posthoc")
def test_the_complexity_of_the_class_is_below_its_bound(record_property):
    """R_n from below: the best of many members for each draw of signs, its readout optimal."""
    rng, n = np.random.default_rng(5), 64
    members = [random_network(rng) for _ in range(150)]
    x = project_rows(rng.standard_normal((n, TOKENS, SIZE)) * 3)
    rows = np.stack([member.tokens(x)[:, 0] for member in members])
    signs = rng.choice([-1.0, 1.0], (200, n))
    sums = np.linalg.norm(np.einsum("sn,mni->smi", signs, rows), axis=-1).max(axis=1)
    # The loss (1 - y f)/2 halves the complexity; 2 R_n is what the theorem bounds.
    measured = 2 * ASKED["loss_lipschitz"] * sums.mean() / n
    # All members have the first one's spectra: its class is theirs.
    spectra = spectra_of(members[0])
    smallest = min(
        posthoc_bound(spectra, samples=n, form=form, metric=metric, **ASKED).log_complexity
        for form in FORMS
        for metric in ("sample", "operator")
    )
    record_property("ratio", measured / np.exp(smallest))
    assert at_most(measured, np.exp(smallest))


@statement("thm-posthoc")
def test_post_hoc_gaps_stay_below_their_bounds(record_property):
    """For each sample the network with the worst gap, and its own bound: violations <= delta."""
    rng, n, runs = np.random.default_rng(6), 25, 60
    members = [random_network(rng, norm=norm) for norm in (0.3, 1.0, 3.0) for _ in range(30)]
    logs = [posthoc_bound(spectra_of(m), samples=n, form="rss", **ASKED).log_value for m in members]
    population = project_rows(rng.standard_normal((3000, TOKENS, SIZE)) * 3)
    labels = rng.choice([-1.0, 1.0], 3000)
    losses = np.stack([(1 - labels * member(population)) / 2 for member in members])
    assert losses.min() >= 0
    assert losses.max() <= ASKED["loss_range"]
    worst = []
    for _ in range(runs):
        sample = rng.integers(0, 3000, n)
        gaps = losses.mean(axis=1) - losses[:, sample].mean(axis=1)
        worst.append((gaps / np.exp(logs)).max())
    record_property("ratio", max(worst))
    assert np.mean(np.array(worst) > 1) <= ASKED["delta"]
    assert max(worst) > 0


@statement("thm-posthoc")
def test_the_operator_metric_sees_neither_samples_nor_tokens():
    """K_op is free of n and T: quadrupling n halves the complexity exactly."""
    spectra = spectra_of(random_network(np.random.default_rng(7)))
    asked = ASKED | {"form": "rss", "metric": "operator"}
    first, more, longer = (
        posthoc_bound(spectra, samples=n, **(asked | {"tokens": t})).log_complexity
        for n, t in ((1e4, 3), (4e4, 3), (1e4, 3000))
    )
    assert first - more == pytest.approx(np.log(2), rel=1e-12)
    assert first == longer
