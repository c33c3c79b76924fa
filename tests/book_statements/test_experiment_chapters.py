"""Statements of the chapters on the experiments."""

import math

import numpy as np
import pytest
from scipy import stats

from spectral_lib import PAPER, Kind, analyze, proxies
from spectral_lib.constants import L_PHI_SCRIPTS
from spectral_lib.experiments.batches import own_token_entropy, training_batch
from spectral_lib.experiments.recipe import Recipe
from spectral_lib.experiments.vocabulary import MASK, SPECIAL
from spectral_lib.families import Family
from spectral_lib.matrices import (
    Factored,
    Spectrum,
    spectrum_of_dense,
    spectrum_of_factored,
    stack,
)
from spectral_lib.propagation import propagate
from spectral_lib.tables.parts import growth_parts
from spectral_lib.transformer import TransformerSpectra

from ..lemmas.tightness import ROUNDING, at_most, statement


def encoder(rng, layers, hidden, heads, scale=1.0, noise=0.0):
    """Return an encoder with Gaussian weights, and how to perturb every weight a little."""
    size = hidden // heads

    def drawn(*shape):
        w = scale * rng.normal(size=shape)
        return w + noise * np.abs(w).max() * rng.uniform(-1, 1, size=shape)

    by_kind = {}
    for kind in Kind:
        if kind.per_head:
            product = Factored(
                drawn(layers, heads, hidden, size), drawn(layers, heads, size, hidden)
            )
            by_kind[kind] = spectrum_of_factored(product)
        else:
            shape = (hidden, 4 * hidden) if kind is Kind.FF_IN else (4 * hidden, hidden)
            by_kind[kind] = stack(
                [stack([spectrum_of_dense(drawn(*shape))]) for _ in range(layers)]
            )
    return TransformerSpectra(f"L{layers}-N{hidden}", hidden, heads, "gelu", by_kind)


# The family


def stream_of(counts, repeats=1):
    tokens = np.repeat(np.arange(len(counts)) + len(SPECIAL), counts)
    return np.tile(tokens, repeats).astype(np.uint16)


@statement("prop-fam-baselines")
def test_least_losses_without_context():
    counts = np.array([50, 30, 10, 5, 5])
    recipe = Recipe(2, 16, vocabulary=len(SPECIAL) + counts.size)
    q = counts / counts.sum()
    # Given the true token (rows): the shown one, or the mask in the last column.
    shown = np.hstack([0.1 * np.eye(5) + 0.1 / 5, np.full((5, 1), 0.8)])
    joint = q[:, None] * shown
    posterior = joint / joint.sum(axis=0)
    least = -(joint * np.log(posterior)).sum()
    assert own_token_entropy(stream_of(counts), recipe) == pytest.approx(least, abs=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = posterior * np.exp(rng.normal(0, rng.uniform(0, 1), size=posterior.shape))
        assert at_most(least, -(joint * np.log(other / other.sum(axis=0))).sum())
        blind = other[:, -1] / other[:, -1].sum()
        assert at_most(-(q * np.log(q)).sum(), -(q * np.log(blind)).sum())


@statement("prop-fam-baselines")
def test_batches_have_the_shares_of_the_formula():
    counts = np.array([50, 30, 10, 5, 5])
    stream = np.random.default_rng(0).permutation(stream_of(counts, 200))
    recipe = Recipe(2, 16, vocabulary=len(SPECIAL) + counts.size, batch=64)
    q = counts / counts.sum()
    shown = np.hstack([0.1 * np.eye(5) + 0.1 / 5, np.full((5, 1), 0.8)])
    posterior = (q[:, None] * shown) / (q @ shown)
    losses, pairs = [], np.zeros(shown.shape)
    for step in range(60):
        batch = training_batch(stream, recipe, step)
        seen = batch.tokens[batch.chosen]
        column = np.where(seen == MASK, counts.size, seen - len(SPECIAL))
        row = batch.targets - len(SPECIAL)
        np.add.at(pairs, (row, column), 1)
        losses.append(-np.log(posterior[row, column]))
    expected = pairs.sum(axis=1, keepdims=True) * shown  # of each true token, shown as which
    assert stats.chi2.sf(((pairs - expected) ** 2 / expected).sum(), 5 * 5) > 1e-3
    losses = np.concatenate(losses)
    error = losses.std() / math.sqrt(losses.size)
    assert losses.mean() == pytest.approx(own_token_entropy(stream, recipe), abs=4 * error)


# Spectra


def effective_rank(values):
    share = values[values > 0] / values.sum()
    return math.exp(-(share * np.log(share)).sum())


@statement("prop-spec-ranks")
def test_three_ranks_are_ordered():
    rng = np.random.default_rng(0)
    for _ in range(300):
        rank = int(rng.integers(1, 12))
        values = np.sort(np.exp(rng.normal(0, rng.uniform(0, 4), rank)))[::-1]
        padded = np.append(values, np.zeros(12 - rank))
        found = Spectrum(padded, (12, 12), np.array(1.0), np.array(1.0))
        assert float(found.stable_rank) == pytest.approx((values**2).sum() / values[0] ** 2)
        assert at_most(1.0, float(found.stable_rank))
        assert at_most(float(found.stable_rank), effective_rank(values))
        assert at_most(effective_rank(values), rank)
    flat = Spectrum(np.full(5, 2.0), (8, 5), np.array(1.0), np.array(1.0))
    assert float(flat.stable_rank) == pytest.approx(5) == effective_rank(np.full(5, 2.0))


@statement("prop-spec-slope")
def test_contribution_curves_start_with_half_the_margin():
    rng = np.random.default_rng(0)
    p = np.append(np.linspace(0, 2, 81), 1e-5)
    for scale in (0.02, 0.2, 1.0):
        spectra = encoder(rng, 3, 16, 2, scale)
        curves = proxies.contribution_curves(spectra, PAPER, p=p)
        margins = proxies.log_rank_margin(spectra, PAPER)
        for kind in Kind:
            rise = curves.log_contribution[kind] - curves.log_contribution[kind][..., :1]
            assert rise[..., -1] / 1e-5 == pytest.approx(margins[kind] / 2, rel=1e-3, abs=1e-3)
            assert (rise >= p / (p + 2) * margins[kind][..., None] - ROUNDING).all()
    # A matrix at two scales: the curves differ by p/(p+2) times the log of their ratio.
    twice = proxies.contribution_curves(spectra, PAPER, p=p)
    layers = proxies.contribution_curves(spectra.first_layers(2), PAPER, p=p)
    for kind in Kind:
        gap = twice.log_scale[kind][:2] - layers.log_scale[kind]
        difference = twice.log_contribution[kind][:2] - layers.log_contribution[kind]
        assert difference == pytest.approx(p / (p + 2) * gap[..., None], abs=1e-9)


# Growth


def rank_only(layers, hidden, heads):
    return 2 * layers * hidden * (1 + math.sqrt(heads)) + math.sqrt(layers)


@statement("prop-growth-rank-only")
@pytest.mark.parametrize(("layers", "hidden", "heads"), [(1, 16, 1), (3, 24, 3), (4, 32, 8)])
def test_the_proxy_of_ranks_alone(layers, hidden, heads):
    spectra = encoder(np.random.default_rng(0), layers, hidden, heads)
    assert all((margin >= 0).all() for margin in proxies.log_rank_margin(spectra).values())
    found = analyze(spectra).spectral
    assert found.value == pytest.approx(rank_only(layers, hidden, heads), rel=1e-12)
    assert all((p == 0).all() for p in found.p_star.values())


@statement("prop-growth-rank-only")
def test_local_exponents_of_the_rank_only_proxy():
    size, step = 16, 1e-5
    for layers in (1, 2, 12):
        for heads in (1, 2, 7.5, 100, 1e6):

            def log_at(log_l, log_n):
                hidden = math.exp(log_n)
                return math.log(rank_only(math.exp(log_l), hidden, hidden / size))

            at = math.log(layers), math.log(heads * size)
            in_n = (log_at(at[0], at[1] + step) - log_at(at[0], at[1] - step)) / (2 * step)
            in_l = (log_at(at[0] + step, at[1]) - log_at(at[0] - step, at[1])) / (2 * step)
            width = 2 * heads * size * (1 + math.sqrt(heads))
            share = 1 / (1 + width * math.sqrt(layers))
            rate = 1 + math.sqrt(heads) / (2 * (1 + math.sqrt(heads)))
            assert in_n == pytest.approx(rate * (1 - share), abs=1e-6)
            assert in_l == pytest.approx(1 - share / 2, abs=1e-6)
            assert 1 < rate < 1.5


@statement("lem-growth-average")
def test_a_fitted_slope_is_an_average_of_local_slopes():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = np.sort(rng.normal(size=int(rng.integers(2, 7))))
        coefficients = rng.normal(size=4)
        centred = x - x.mean()
        slope = (centred @ np.polyval(coefficients, x)) / (centred @ centred)
        u = np.linspace(x[0], x[-1], 4001)
        weight = np.array([centred[x > v].sum() for v in u]) / (centred @ centred)
        assert (weight >= -ROUNDING).all()
        assert np.trapezoid(weight, u) == pytest.approx(1, abs=2e-3)
        local = np.polyval(np.polyder(coefficients), u)
        average = np.trapezoid(weight * local, u)
        assert average == pytest.approx(slope, abs=5e-3 * np.abs(local).max())
        assert local.min() - 1e-3 <= slope <= local.max() + 1e-3


@statement("prop-growth-depth")
@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0])
def test_the_norm_based_proxy_layer_by_layer(scale):
    rng = np.random.default_rng(0)
    whole = encoder(rng, 5, 16, 2, scale)
    members = tuple(whole.first_layers(depth) for depth in range(1, 6))
    parts = growth_parts(Family("cut", "one encoder, cut", members))
    terms = ["later layers", "first layer", "accumulation", "one"]
    assert parts[terms].sum(axis=1).to_numpy() == pytest.approx(parts["proxy"], abs=1e-10)
    assert (parts[["accumulation", "one"]] >= 0).all(axis=None)
    log_lambda = propagate(whole, PAPER).log_lambda / math.log(10)
    without_one = parts["proxy"] - parts["one"]
    assert (without_one.diff().iloc[1:].to_numpy() >= log_lambda[1:] - 1e-10).all()


@statement("cor-growth-rate")
def test_the_accumulation_is_bounded_where_layers_magnify():
    rng = np.random.default_rng(0)
    ratios = []
    cases = [(8, heads, 1.0) for heads in (1, 2, 4)] + [(2, 2, 3.0)] * 6
    for depth, heads, scale in cases:
        spectra = encoder(rng, depth, 16, heads, scale)
        parts = growth_parts(Family("one", "one", (spectra,)))
        log_lambda = propagate(spectra, PAPER).log_lambda
        u = math.exp(-2 / 3 * log_lambda[1:].min())
        terms = analyze(spectra).edelman.log_contribution
        log_alpha = propagate(spectra, PAPER).log_alpha
        layers = np.logaddexp.reduce(np.hstack(list(terms.values())), axis=1) - 2 / 3 * log_alpha
        spread = math.exp(layers.max() - layers[0])
        bound = 1.5 * spread * u / (1 - u) / math.log(10)
        assert u < 1
        assert 0 <= parts["accumulation"].item() <= bound
        ratios.append(parts["accumulation"].item() / bound)
    assert max(ratios) > 0.99  # the bound is no idle one: layers that magnify much come near it


# Training


def test_untrained_encoders_of_the_papers_widths_have_their_index_at_zero():
    """The small widths of the grid are what makes initial layers shrink; wide ones magnify."""
    rng, scale = np.random.default_rng(0), 0.02
    narrow, wide = encoder(rng, 4, 128, 8, scale), encoder(rng, 4, 512, 8, scale)
    for spectra, share, grows in ((narrow, 0.9, -1), (wide, 0.0, 1)):
        found = analyze(spectra)
        chosen = np.concatenate([p.ravel() for p in found.spectral.p_star.values()])
        assert (chosen > 0).mean() >= share
        assert (grows * found.propagation.log_lambda > 0).all()
        assert grows * (found.edelman.log - found.spectral.log) > 0
    assert not chosen.any()


@statement("prop-train-initial")
@pytest.mark.parametrize(("hidden", "heads", "size"), [(32, 2, 16), (64, 4, 16)])
def test_initial_layers_pass_on_no_more_than_the_bound(hidden, heads, size):
    rng, scale, layers = np.random.default_rng(0), 0.05, 60
    spectra = encoder(rng, layers, hidden, heads, scale)
    wide = scale * (math.sqrt(hidden) + math.sqrt(4 * hidden))
    head = (scale * (math.sqrt(hidden) + math.sqrt(size))) ** 2
    bound = L_PHI_SCRIPTS * wide**2 * heads * head * (1 + 4 * head)
    found = np.exp(propagate(spectra, PAPER).log_lambda)
    assert at_most(found.mean(), bound)
    assert found.mean() > 0.4 * bound


@statement("prop-train-initial")
def test_wide_layers_with_heads_of_size_one_come_near_the_bound():
    """There the norm of a head's product is the product of the norms, each near its bound."""
    rng, hidden, scale = np.random.default_rng(0), 1024, 0.05
    by_kind = {}
    for kind in Kind:
        shape = (hidden, 4 * hidden) if kind is Kind.FF_IN else (4 * hidden, hidden)
        if kind.per_head:
            left, right = scale * rng.normal(size=(2, hidden, hidden))
            values = (np.linalg.norm(left, axis=0) * np.linalg.norm(right, axis=1))[None, :, None]
            shape = (hidden, hidden)
        else:
            drawn = scale * rng.normal(size=(hidden, 4 * hidden))
            values = np.sqrt(np.linalg.eigvalsh(drawn @ drawn.T)[-1:])[None, None]
        by_kind[kind] = Spectrum(values, shape, values[..., 0], values[..., 0])
    spectra = TransformerSpectra("wide", hidden, hidden, "gelu", by_kind)
    wide = scale * (math.sqrt(hidden) + math.sqrt(4 * hidden))
    head = (scale * (math.sqrt(hidden) + 1)) ** 2
    bound = L_PHI_SCRIPTS * wide**2 * hidden * head * (1 + 4 * head)
    found = math.exp(propagate(spectra, PAPER).log_lambda.item())
    assert 0.85 * bound < found < bound


# Reading


@statement("prop-read-constant")
def test_the_proxy_does_not_see_small_changes():
    spectra = encoder(np.random.default_rng(0), 3, 24, 3)
    least = min(margin.min() for margin in proxies.log_rank_margin(spectra).values())
    assert least > 0
    values = []
    for noise in (1e-6, 1e-3, 0.05):
        moved = encoder(np.random.default_rng(0), 3, 24, 3, noise=noise)
        assert moved[Kind.FF_IN].spectral_norm != pytest.approx(
            spectra[Kind.FF_IN].spectral_norm, rel=1e-9
        )
        values.append(analyze(moved).spectral.value)
    assert values == pytest.approx([analyze(spectra).spectral.value] * 3, rel=1e-13)


@statement("prop-read-factor")
def test_margins_fall_between_two_powers_of_a_common_factor():
    rng = np.random.default_rng(0)
    own = {Kind.QK: 6, Kind.VO: 4, Kind.FF_IN: 2, Kind.FF_OUT: 1}
    near = {4: False, 6: False}
    for scale in (0.01, 0.3, 3.0):
        spectra = encoder(rng, 4, 16, 2, scale)
        later = np.arange(3, -1, -1)[:, None]
        for factor in (0.05, 0.5, 0.9):
            before = proxies.log_rank_margin(spectra)
            after = proxies.log_rank_margin(spectra.rescaled(factor))
            for kind in Kind:
                power = (after[kind] - before[kind]) / math.log(factor)
                assert (power >= own[kind] + 4 * later - 1e-9).all()
                assert (power <= own[kind] + 6 * later + 1e-9).all()
                for end in near:
                    near[end] |= bool((abs(power[0] - own[kind] - 3 * end) < 0.3).any())
    assert all(near.values())  # both powers are come near to
