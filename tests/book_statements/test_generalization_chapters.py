"""Statements of the chapters from the entropy integral to the baselines, where no lemma test is."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize

from spectral_lib import bounds, constants, proxies
from spectral_lib.bounds.baselines import (
    edelman_price,
    log_inverse_square_complexity,
    trauger_tewari_price,
)
from spectral_lib.bounds.dudley import root_sum_square_terms, sum_terms
from spectral_lib.matrices import Spectrum
from spectral_lib.notation import PAPER, Kind
from spectral_lib.propagation import propagate
from spectral_lib.transformer import TransformerSpectra

from ..lemmas.tightness import at_most, perturbed, statement

CHAIN = bounds.Chain(samples=1e4, loss_range=1.0)
METRIC = bounds.SampleMetric(1e6)


def toy(rng, layers=2, size=8, heads=2, norm=1.0):
    """Random spectra and mixed norms with the right inequalities between them."""

    def spectrum(group, d, k, rank):
        w = rng.normal(size=(layers, group, d, rank)) @ rng.normal(size=(layers, group, rank, k))
        w *= norm / np.linalg.norm(w, 2, axis=(-2, -1))[..., None, None]
        values = np.linalg.svd(w, compute_uv=False)
        columns = np.linalg.norm(w, axis=-2).sum(axis=-1)
        return Spectrum(values, (d, k), columns, np.abs(w).sum(axis=(-2, -1)))

    head = size // heads
    return TransformerSpectra(
        "toy",
        size,
        heads,
        "gelu",
        {
            Kind.QK: spectrum(heads, size, size, head),
            Kind.VO: spectrum(heads, size, size, head),
            Kind.FF_IN: spectrum(1, size, 2 * size, size),
            Kind.FF_OUT: spectrum(1, 2 * size, size, size),
        },
    )


# --- From entropy to generalization ---


@statement("lem-hoeffding")
@perturbed(0.99)
def test_hoeffding_is_tight_at_the_origin(scale, holds):
    """A fair sign, c = 2: log cosh(t) against t^2 c^2 / 8; the 8 is 4 BOUNDED_DIFFERENCES."""
    t, c = 0.05, 2.0
    measured = math.log(math.cosh(t))
    assert at_most(measured, scale * t**2 * c**2 / (4 * constants.BOUNDED_DIFFERENCES)) is holds


@statement("lem-hoeffding")
def test_hoeffding_on_skewed_two_point_laws():
    high = np.linspace(0.01, 0.99, 99)[:, None]
    t = np.linspace(-6, 6, 201)
    log_mgf = np.log(high * np.exp(t * (1 - high)) + (1 - high) * np.exp(-t * high))
    assert (log_mgf <= t**2 / 8 + 1e-12).all()


@statement("thm-gap")
def test_gap_theorem_by_simulation(record_property):
    """Independent coins: complexity and gap by simulation; either term alone fails."""
    rng, n, delta, coins, runs = np.random.default_rng(0), 40, 0.1, 300, 2000
    losses = rng.integers(0, 2, (50, n, coins))
    signs = rng.choice([-1.0, 1.0], (50, 20, n))
    complexity = ((signs @ losses).max(axis=2) / n).mean()
    gap = 0.5 - rng.binomial(n, 0.5, (runs, coins)).min(axis=1) / n
    deviation = bounds.deviation(n, 1.0, delta)
    bound = constants.SYMMETRIZATION * complexity + deviation
    record_property("frequency", float((gap > bound).mean()))
    assert (gap > bound).mean() <= delta
    assert gap.mean() <= constants.SYMMETRIZATION * complexity
    assert (gap > deviation).mean() > delta


def threshold_entropy(eps, n):
    """Log covering number of the n + 1 thresholds by intervals of thresholds."""
    reach = 2 * np.floor(n * np.minimum(eps, 1.0) ** 2 + 1e-9) + 1
    return np.log(np.ceil((n + 1) / reach))


@statement("prop-dudley-tree")
@pytest.mark.parametrize("n", [8, 60, 400])
def test_tree_chaining_on_thresholds(n, record_property):
    rng = np.random.default_rng(n)
    walks = rng.choice([-1, 1], (4000, n)).cumsum(axis=1)
    tops = np.maximum(walks.max(axis=1), 0) - walks[:, -1] / 2
    edges = np.sqrt(np.arange(n + 1) / n)
    edges = np.append(edges[edges < 0.25], 0.25)  # D = 1/2: up to D / 2
    integral = np.diff(edges) @ np.sqrt(threshold_entropy(edges[:-1], n))
    tree = constants.DUDLEY / math.sqrt(2) * integral / math.sqrt(n)
    record_property("ratio", tops.mean() / n / tree)
    assert tops.mean() / n <= tree


@statement("prop-dudley-tree")
@perturbed(0.99)
def test_a_tree_link_costs_the_constant(scale, holds):
    """Link 3 eps_j, N_j values, panel eps_j / 2: the factor is 6 sqrt 2, on the line."""
    eps, log_n = 0.125, 4.0
    cost = (eps + eps / constants.CHAINING_RATIO) * math.sqrt(2 * log_n)
    panel = (1 - constants.CHAINING_RATIO) * eps * math.sqrt(log_n)
    assert at_most(cost, scale * 6 * math.sqrt(2) * panel) is holds


@statement("lem-entropies-add")
@perturbed(0.98)
def test_equal_split_of_the_scale(scale, holds):
    """One number each in place of matrices: covers at eps/(J beta_i) multiply, no coarser ones."""
    beta, eps = np.array([3.0, 0.5, 1.0]), 0.3
    radii = eps / (len(beta) * beta)
    # The farthest member of a product of cells from its centre: one radius in each coordinate.
    corners = np.array(list(itertools.product([-1, 1], repeat=3))) * radii
    assert at_most(np.abs(corners @ beta).max(), scale * eps) is holds


@statement("lem-entropies-add")
def test_the_network_entropy_is_the_sum_at_the_shares():
    rng = np.random.default_rng(1)
    classes = bounds.MatrixClasses.of(
        rng.integers(4, 50, 5),
        20,
        s=1.0,
        p=rng.uniform(0, 2, 5),
        m=6.0,
        log_beta=rng.normal(0, 2, 5),
    )
    eps = np.array([0.01, 0.1, 0.5])
    shares = eps[:, None] / (5 * np.exp(classes.log_beta))
    expected = bounds.exact_entropy(classes, shares, METRIC).sum(axis=1)
    assert bounds.network_entropy(classes, eps, METRIC) == pytest.approx(expected, rel=1e-12)


def root_entropy_integral(p, a, radius, power):
    """The integral of lem-root-entropy-integral, with eps = D exp(-x)."""

    def integrand(x):
        return np.log1p(a / radius * np.exp(x)) ** power * np.exp(-2 * x / (p + 2))

    return radius * integrate.quad(integrand, 0, 300, limit=200)[0]


@statement("lem-root-entropy-integral")
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("a", [0.1, 10.0, 1e6])
def test_root_entropy_integral(p, a):
    half, radius, power = (p + 2) / 2, 0.5, 1 / (p + 2)
    bound = radius * half * (math.log1p(a / radius) + half) ** power
    assert at_most(root_entropy_integral(p, a, radius, power), bound)
    assert root_entropy_integral(p, a, radius, 0.0) == pytest.approx(radius * half, rel=1e-8)


@statement("lem-root-entropy-integral")
@perturbed(0.98)
def test_root_entropy_integral_is_tight_for_a_large_logarithm(scale, holds):
    p, a = 1.0, 1e40
    bound = 1.5 * (math.log1p(a) + 1.5) ** (1 / 3)
    assert at_most(root_entropy_integral(p, a, 1.0, 1 / 3), scale * bound) is holds


@statement("prop-log-n")
@pytest.mark.parametrize("n", [1e3, 1e5, 1e9])
def test_where_a_log_n_appears(n):
    g, d, f = 1.5, 0.5, 300.0
    truncated = optimize.minimize_scalar(
        lambda a: 4 * a + 12 * g / math.sqrt(n) * math.log(d / (2 * a)),
        bounds=(1e-9, d / 2),
        method="bounded",
        options={"xatol": 1e-12},
    )
    stated = 12 * g * (1 + math.log(d * math.sqrt(n) / (6 * g)))
    assert math.sqrt(n) * truncated.fun == pytest.approx(stated, rel=1e-6)
    capped = integrate.quad(lambda eps: min(g / eps, f), 0, d, points=[g / f])[0]
    assert capped == pytest.approx(g * (1 + math.log(d * f / g)), rel=1e-8)


# --- Peeling ---


@statement("lem-radius-levels")
def test_radius_levels():
    weights = [Fraction(1, (j + 1) * (j + 2)) for j in range(500)]
    assert sum(weights) == 1 - Fraction(1, 501)
    log_s, log_norm, p = np.linspace(-5, 12, 400), np.zeros(400), np.full(400, 0.7)
    found = bounds.radius_levels(log_s, log_norm, p, m=10)
    assert (found.log_radius >= log_s - 1e-12).all()
    assert (
        found.log_radius <= np.maximum(0, log_s + math.log(constants.RADIUS_RATIO)) + 1e-12
    ).all()
    assert (found.level <= np.maximum(0, 1 + log_s / math.log(2)) + 1e-9).all()
    expected = math.log(21) + np.log((found.level + 1) * (found.level + 2))
    assert found.log_cost == pytest.approx(expected, rel=1e-12)


@statement("thm-peeled-cost")
@perturbed(0.9)
def test_peeling_weights_of_a_product(scale, holds):
    """Over every choice for one matrix the library's weights sum to one, truncation apart."""
    ratio, m, top = bounds.norm_ratio(6), 5, 3000
    logs = np.append(-np.inf, np.arange(-top, top + 1) * math.log(ratio))
    norms = bounds.norm_levels(logs - 1e-9, ratio)
    assert len(set(norms.level[1:])) == 2 * top + 1
    levels = np.arange(top)
    radius = bounds.radius_levels(levels * math.log(2.0) - 1e-9, 0.0, np.full(top, 1.0), m)
    assert (radius.level == levels).all()
    mass = np.exp(-norms.log_cost).sum() * (2 * m + 1) * np.exp(-radius.log_cost).sum()
    assert mass > 0.998
    assert at_most(mass, scale * 1.0) is holds


@statement("thm-peeled-cost")
@pytest.mark.parametrize("layers", [1, 6, 24])
def test_budgets_are_at_most_twice_the_observed(layers):
    rng = np.random.default_rng(layers)
    sigma = np.exp(rng.normal(0, 2, (200, 12)))
    p = rng.choice(np.arange(2 * 7 + 1) / 7, 200)
    norm = bounds.norm_levels(np.log(sigma.max(axis=1)), bounds.norm_ratio(layers))
    with np.errstate(divide="ignore"):
        log_s = np.where(p == 0, np.log(12), np.log((sigma ** p[:, None]).sum(axis=1)))
    found = bounds.radius_levels(log_s, norm.log_radius, p, 7)
    assert (found.log_radius <= log_s + math.log(constants.RADIUS_RATIO) + 1e-9).all()


@statement("cor-grid-size")
def test_grid_size_keeps_rounding_bounded():
    growth = 2.5
    worst = 0.0
    for layers, size in itertools.product([1, 2, 6, 24, 200], [8, 128, 1024, 10**6]):
        log_scale = growth * layers + math.log(layers)
        factor = bounds.log_rounding_factor(log_scale, size, bounds.grid_size(layers, size))
        worst = max(worst, float(factor))
    bound = max(growth / 2, 1 / 4) + 1 / (2 * math.e)
    assert 0.8 * bound < worst <= bound
    # A fixed grid would not do.
    assert bounds.log_rounding_factor(growth * 200 + math.log(200), 128, 20) > bound


# --- Theorem 3.1 ---


def explicit_term(p, log_beta, size, budget):
    classes = bounds.MatrixClasses.of(size, size, s=1.0, p=p, m=budget, log_beta=log_beta)
    return float(sum_terms(classes, bounds.OperatorMetric(), replace(CHAIN, count=1)))


@statement("thm-leading-form")
@pytest.mark.parametrize("p", [0.0, 0.4, 1.0, 2.0])
def test_explicit_form_has_the_leading_exponents(p):
    """Log slopes of a term in M, beta and N; what is left over is the slope of the logarithm."""
    big = 1e3  # log beta: the logarithm Lambda is nearly constant there
    base = explicit_term(p, big, 1000, 50.0)
    in_m = (explicit_term(p, big, 1000, 100.0) - base) / math.log(2)
    in_beta = explicit_term(p, big + 1, 1000, 50.0) - base
    in_n = (explicit_term(p, big, 2000, 50.0) - base) / math.log(2)
    assert in_m == pytest.approx(1 / (p + 2), abs=1e-9)
    assert in_beta == pytest.approx(p / (p + 2), abs=1e-3)
    assert in_n == pytest.approx((p + 1) / (p + 2), abs=1e-9)


@statement("prop-rss-against-sum")
@pytest.mark.parametrize("p", [0.0, 0.6, 2.0])
def test_root_sum_square_is_the_norm_of_the_sum_terms(p):
    rng = np.random.default_rng(4)
    classes = bounds.MatrixClasses.of(
        rng.integers(4, 90, 7), 30, s=1.0, p=p, m=2.0, log_beta=rng.normal(0, 3, 7)
    )
    theta = p / (p + 2)
    terms = np.exp(2 * sum_terms(classes, METRIC, CHAIN))
    constant = 7 * (p > 0) * math.log(2) / (1 - theta**2)
    expected = CHAIN.log_front + 0.5 * math.log(terms.sum() + constant)
    found = bounds.root_sum_square_form(classes, METRIC, CHAIN, minimum=False)
    assert found.log == pytest.approx(expected, rel=1e-12)
    plain = bounds.sum_form(classes, METRIC, CHAIN, minimum=False).log
    assert found.log <= plain + 0.5 * math.log(4 / 3)


@statement("prop-rss-against-sum")
def test_with_different_indices_the_sum_form_can_win():
    classes = bounds.MatrixClasses.of(
        40, 40, s=1.0, p=[0.0, 2.0], m=[5.0, 1.0], log_beta=[100.0, -400.0]
    )
    rss = bounds.root_sum_square_form(classes, METRIC, CHAIN, minimum=False).log
    assert rss > bounds.sum_form(classes, METRIC, CHAIN, minimum=False).log + 0.1
    repaired = np.logaddexp.reduce(root_sum_square_terms(classes, METRIC, CHAIN, 0.02))
    repaired = CHAIN.log_front + 0.5 * (repaired - math.log1p(-0.02))
    assert repaired < rss - 0.1


@statement("cor-full-rank")
def test_full_rank_replacement():
    """The larger class has p = 0 and M = q; the library takes the least of all replacements."""
    classes = bounds.MatrixClasses.of(30, 20, s=2.0, p=[1.0, 2.0], m=9.0, log_beta=[300.0, -8.0])
    full = classes.full_rank()
    assert (full.p == 0).all()
    assert (full.m == 20).all()
    for form in (bounds.sum_form, bounds.root_sum_square_form):
        least = form(classes, METRIC, CHAIN).log
        for kept in itertools.product([False, True], repeat=2):
            where = np.array(kept)
            mixed = replace(
                classes, p=np.where(where, classes.p, full.p), m=np.where(where, classes.m, full.m)
            )
            assert least <= form(mixed, METRIC, CHAIN, minimum=False).log + 1e-12
        assert least < form(classes, METRIC, CHAIN, minimum=False).log - 10


# --- Baselines ---


@statement("prop-mixed-allocation")
@pytest.mark.parametrize("seed", range(4))
def test_mixed_allocation_is_optimal(seed):
    rng = np.random.default_rng(seed)
    a, beta, theta = (
        np.exp(rng.normal(size=4)),
        np.exp(rng.normal(size=4)),
        rng.uniform(0.1, 1.2, 4),
    )
    found = bounds.allocate(np.log(a), np.log(beta), theta, log_eps=math.log(0.3))

    def cost(log_weights):
        shares = 0.3 * np.exp(log_weights) / np.exp(log_weights).sum() / beta
        return float((a * shares ** (-2 * theta)).sum())

    searched = optimize.minimize(cost, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    assert np.exp(found.log_value) <= searched.fun * (1 + 1e-9)
    assert np.exp(found.log_value) == pytest.approx(searched.fun, rel=1e-3)
    assert (beta * np.exp(found.log_eps)).sum() == pytest.approx(0.3, rel=1e-9)


def perceptron_steps(x, w, eps, b=1.0):
    """Steps of size eps/B^2 on violated inputs until every <x_i, w - w'> is at most eps."""
    approx, steps = np.zeros_like(w), 0
    while np.abs(products := x @ (w - approx)).max() > eps:
        i = int(np.abs(products).argmax())
        approx = approx + np.sign(products[i]) * eps / b**2 * x[i]
        steps += 1
    return steps


@statement("lem-21-ball")
@pytest.mark.parametrize("eps", [0.05, 0.01875, 0.00625])
def test_column_perceptron_reaches_its_scale(eps, record_property):
    """Fewer than (|w| B / eps)^2 steps, for sparse inputs, which make many of them necessary."""
    steps = perceptron_steps(np.eye(64), np.full(64, 1 / 8), eps)
    record_property("ratio", steps * eps**2)
    assert 0 < steps <= eps**-2


@statement("lem-21-ball")
@perturbed(0.99)
def test_column_steps_are_all_needed(scale, holds):
    """A norm just below 2 theta counts as theta, and every coordinate needs a step of its own."""
    eps, count = 0.1, 64
    w = np.full(count, eps * (1 + 1e-6))
    theta = np.linalg.norm(w) / 2 * (1 + 1e-6)
    units = math.floor(np.linalg.norm(w) / theta)
    allowed = constants.COLUMN_STEPS * (units * theta / eps) ** 2
    assert at_most(perceptron_steps(np.eye(count), w, eps), scale * allowed) is holds


@statement("lem-21-ball")
def test_the_price_is_the_best_threshold():
    a, rest = math.log(31), constants.COLUMN_STEPS * math.log(2 * 1e5 + 1)
    best = optimize.minimize_scalar(
        lambda y: a / y + rest / (1 - y), bounds=(1e-3, 1 - 1e-3), method="bounded"
    )
    assert float(edelman_price(30, 1e5)) == pytest.approx(best.fun, rel=1e-6)


@statement("thm-baselines")
@pytest.mark.parametrize("log_s", [-3.0, 0.0, 5.0, 40.0])
@pytest.mark.parametrize("additive", [0.0, 200.0])
def test_baseline_complexity_is_the_truncated_integral(log_s, additive):
    """Against the best cut of the truncated integral of the entropy S^2 / eps^2 + A."""
    n, radius, s = CHAIN.samples, 0.5, math.exp(log_s)

    def truncated(a):
        tail = integrate.quad(
            lambda x: math.sqrt(s**2 + additive * math.exp(2 * x)),
            math.log(a),
            math.log(radius / 2),
        )
        return constants.DUDLEY_REMAINDER * a + constants.DUDLEY / math.sqrt(n) * tail[0]

    cuts = np.geomspace(1e-4, radius / 2, 60)
    best = min(min(truncated(a) for a in cuts), radius)  # no complexity exceeds D
    assert best <= math.exp(log_inverse_square_complexity(log_s, CHAIN, additive)) * (1 + 1e-9)


@statement("def-norm-proxies")
@pytest.mark.parametrize(("name", "norm"), [("edelman", "norm_21"), ("trauger_tewari", "norm_11")])
def test_edelman_proxy_is_the_allocation_sum(name, norm):
    spectra = toy(np.random.default_rng(2))
    c = {kind: spectra[kind].spectral_norm for kind in Kind}
    r = {kind: getattr(spectra[kind], norm) for kind in Kind}
    log_alpha = propagate(spectra, PAPER).log_alpha
    power, total = constants.ALLOCATION_INNER, 1.0
    for layer in range(spectra.num_layers):
        c_in, c_out = c[Kind.FF_IN][layer, 0], c[Kind.FF_OUT][layer, 0]
        xi = (c_out * r[Kind.FF_IN][layer, 0]) ** power + r[Kind.FF_OUT][layer, 0] ** power
        for head in range(spectra.num_heads):
            xi += (c_out * c_in * c[Kind.VO][layer, head] * r[Kind.QK][layer, head]) ** power
            xi += (c_out * c_in * r[Kind.VO][layer, head]) ** power
        total += math.exp(power * log_alpha[layer]) * xi
    found = getattr(proxies, name)(spectra).log
    assert found == pytest.approx(constants.ALLOCATION_OUTER * math.log(total), rel=1e-12)


@statement("prop-missing-factor")
@pytest.mark.parametrize("norm", [0.05, 1.0, 5.0])
def test_the_missing_factor(norm):
    spectra = toy(np.random.default_rng(3), norm=norm)
    plain = proxies.edelman(spectra)
    restored = proxies.edelman(spectra, replace(PAPER, edelman_qk_factor=constants.KAPPA_EDELMAN))
    total = math.exp(plain.log / constants.ALLOCATION_OUTER)
    share = np.exp(plain.log_contribution[Kind.QK]).sum() / total
    factor = (1 + share * (constants.KAPPA_EDELMAN**constants.ALLOCATION_INNER - 1)) ** 1.5
    assert math.exp(restored.log - plain.log) == pytest.approx(factor, rel=1e-9)
    assert 1 <= factor <= constants.KAPPA_EDELMAN


@statement("lem-11-ball")
def test_the_price_of_a_draw_counts_the_vertices():
    """Vertices of the unit (1,1) ball of 2 x 3 matrices, by enumeration, and the origin."""
    units = np.eye(6).reshape(6, 2, 3)
    vertices = {tuple((sign * unit).ravel()) for unit in units for sign in (1, -1)} | {(0.0,) * 6}
    assert float(trauger_tewari_price(2, 3)) == pytest.approx(math.log(len(vertices)))
