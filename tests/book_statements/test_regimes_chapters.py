"""Statements of the chapters on the regimes and on where each bound wins."""

import itertools
import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib import regimes
from spectral_lib.constants import CENTERED_RANGE, LOW_RANK_NET
from spectral_lib.ledger.symbols import F, L, N, S, alpha, p, q, r, s
from spectral_lib.matrices import spectrum_of_dense
from spectral_lib.packing import random_members
from spectral_lib.regimes import Bound, Regime

from ..lemmas.tightness import at_most, perturbed, statement

SINGLE = [bound for bound in Bound if bound is not Bound.MINIMUM]
GRID = {
    "L": np.array([1, 2, 6, 12, 48, 1000])[:, None, None],
    "N": np.array([2, 64, 768, 10_000])[None, :, None],
}
reproducible = settings(derandomize=True, max_examples=60, deadline=None)


def close_forms(found, typed):
    return sp.simplify(sp.powdenest(found / typed, force=True)) == 1


@statement("prop-reg-mean")
def test_the_root_form_is_a_geometric_mean():
    rng = np.random.default_rng(0)
    forms = {b: regimes.equal_form(b)[0].subs(q, N) for b in SINGLE}
    numbers = {
        b: sp.lambdify([L, N, S, alpha, p], sp.log(forms[b])) for b in (*regimes.FORMS, *SINGLE[4:])
    }
    for _ in range(200):
        index = rng.uniform(0, 2)
        at = (*np.exp(rng.uniform(0, 6, 2)), *np.exp(rng.uniform(-6, 6, 2)), index)
        root, total, full, direct = (
            float(numbers[b](*at))
            for b in (Bound.ROOT_SUM_SQUARE, Bound.SUM, Bound.FULL_RANK, Bound.INTERPOLATED)
        )
        mean = 2 / (index + 2) * direct + index / (index + 2) * full
        assert root == pytest.approx(mean, abs=1e-9)
        assert min(full, direct) - 1e-9 <= root <= max(full, direct) + 1e-9
        assert total == pytest.approx(root + 0.5 * math.log(at[0]), abs=1e-9)


@statement("prop-reg-attain")
@pytest.mark.parametrize(("size", "rank"), [(8, 1), (8, 8), (24, 8), (64, 16)])
def test_one_matrix_attains_the_class_and_its_norms(size, rank):
    norm = 1.7
    w = regimes.rank_attaining(size, rank, norm)
    found = spectrum_of_dense(w)
    values = np.linalg.svd(w, compute_uv=False)
    assert values[:rank] == pytest.approx(norm)
    assert values[rank:] == pytest.approx(0, abs=1e-12)
    assert np.abs(w) == pytest.approx(norm * math.sqrt(rank) / size)
    assert float(found.frobenius_norm) == pytest.approx(norm * math.sqrt(rank))
    assert float(found.norm_21) == pytest.approx(norm * math.sqrt(rank * size))
    assert float(found.norm_11) == pytest.approx(norm * size * math.sqrt(rank))
    for index in (0.0, 0.5, 2.0):
        assert math.exp(float(found.log_schatten(index))) == pytest.approx(rank * norm**index)


@statement("prop-reg-attain")
@reproducible
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 4, 8]))
def test_no_member_exceeds_the_class_values(seed, rank):
    rng = np.random.default_rng(seed)
    best = spectrum_of_dense(regimes.rank_attaining(8, rank, 1.3))
    (w,) = random_members(rng, 1, (8, 8), s=1.3, budget=rank, p=0.0, profile="random")
    got = spectrum_of_dense(w)
    for name in ("norm_21", "norm_11", "frobenius_norm", "spectral_norm"):
        assert at_most(float(getattr(got, name)), float(getattr(best, name)))
    for index in (0.0, 0.7, 2.0):
        assert at_most(float(got.log_schatten(index)), float(best.log_schatten(index)) + 1e-12)


@statement("prop-reg-attain")
@pytest.mark.parametrize("decay", [0.1, 0.5, 1.0, 3.0])
def test_power_laws_nearly_attain_their_norms(decay):
    size = 64
    shares = []
    for seed in range(20):
        got = spectrum_of_dense(regimes.power_law_attaining(size, decay, 1.3, seed))
        assert got.singular_values == pytest.approx(1.3 * np.arange(1.0, size + 1) ** -decay)
        frobenius = float(got.frobenius_norm)
        assert float(got.norm_21) == pytest.approx(math.sqrt(size) * frobenius)
        shares.append(float(got.norm_11) / (size * frobenius))
    assert max(shares) <= 1 + 1e-12
    assert max(shares) >= 1 / math.sqrt(3)
    # The proof's step: E w^4 <= 3 (E w^2)^2 for random signs, near equality for many equal terms.
    c = np.full(400, 1 / 20)
    fourth = 3 * (c**2).sum() ** 2 - 2 * (c**4).sum()
    assert 0.99 < fourth / (3 * (c**2).sum() ** 2) <= 1


TABLE = {
    Bound.SUM: (L * sp.sqrt(r * N), sp.sqrt(F * L**3) * N ** sp.Rational(3, 4), L * N),
    Bound.ROOT_SUM_SQUARE: (
        sp.sqrt(L * r * N),
        L * sp.sqrt(F) * N ** sp.Rational(3, 4),
        sp.sqrt(L) * N,
    ),
    Bound.EDELMAN: (s * sp.sqrt(L**3 * r * N), F * sp.sqrt(L**3 * N), s * N * sp.sqrt(L**3)),
    Bound.TRAUGER_TEWARI: (
        s * N * sp.sqrt(L**3 * r),
        F * N * sp.sqrt(L**3),
        s * sp.sqrt(L**3 * N**3),
    ),
    Bound.FULL_RANK: (sp.sqrt(L) * N,) * 3,
    Bound.INTERPOLATED: (sp.sqrt(L * r * N), F * sp.sqrt(L**3 * N), sp.sqrt(L) * N),
}
REGIMES = (Regime.RANK, Regime.FROBENIUS, Regime.SPECTRAL)


@statement("prop-reg-table")
@pytest.mark.parametrize("bound", SINGLE)
def test_the_table_by_hand_is_sympys(bound):
    for regime, typed in zip(REGIMES, TABLE[bound], strict=True):
        found = regimes.leading(bound, regime)
        assert close_forms(found, typed)
        for symbol in found.free_symbols:
            assert not close_forms(found * symbol ** sp.Rational(1, 10), typed)


@statement("prop-reg-table")
def test_the_orders_within_the_table():
    def logs(regime, **at):
        return {b: regimes.log_leading(b, regime, **GRID, **at) for b in SINGLE}

    close = {"rtol": 0, "atol": 1e-9}
    half_log_n = 0.5 * np.log(GRID["N"])
    for regime, at in (
        (Regime.RANK, {"r": np.array([1.0, 2.0]), "s": 0.3}),
        (Regime.FROBENIUS, {"F": np.geomspace(1e-3, 1e3, 13)}),
        (Regime.SPECTRAL, {"s": np.array([0.01, 1.0, 5.0])}),
    ):
        found = logs(regime, **at)
        gap = found[Bound.TRAUGER_TEWARI] - found[Bound.EDELMAN]
        assert np.allclose(gap, np.broadcast_to(half_log_n, gap.shape), **close)
        assert (found[Bound.ROOT_SUM_SQUARE] <= found[Bound.SUM] + 1e-12).all()
    rank = logs(Regime.RANK, r=np.array([1.0, 2.0]), s=0.3)
    assert np.allclose(rank[Bound.INTERPOLATED], rank[Bound.ROOT_SUM_SQUARE], **close)
    assert (rank[Bound.INTERPOLATED] <= rank[Bound.FULL_RANK] + 1e-12).all()
    norms = np.geomspace(1e-3, 1e3, 25) * 1.0001
    frobenius = logs(Regime.FROBENIUS, F=norms)
    assert np.allclose(frobenius[Bound.INTERPOLATED], frobenius[Bound.EDELMAN], **close)
    shape = frobenius[Bound.SUM].shape
    small = np.broadcast_to(norms < np.sqrt(GRID["N"]), shape)
    assert ((frobenius[Bound.SUM] > frobenius[Bound.EDELMAN]) == small).all()
    smaller = np.broadcast_to(norms < np.sqrt(GRID["N"]) / GRID["L"], shape)
    assert ((frobenius[Bound.ROOT_SUM_SQUARE] > frobenius[Bound.EDELMAN]) == smaller).all()
    spectral = logs(Regime.SPECTRAL, s=2.0)
    for bound in (Bound.ROOT_SUM_SQUARE, Bound.INTERPOLATED):
        assert np.allclose(spectral[bound], spectral[Bound.FULL_RANK], **close)


@statement("prop-reg-power")
@perturbed(1.1)
def test_power_law_exponents(scale, holds):
    """Slopes of numeric forms at very large N, at and around p = 1/a."""
    width = np.array([1e30, 1e32])
    exact = True
    for decay, index in itertools.product((0.2, 0.45, 0.8, 1.0, 2.0), (0.1, 0.4, 0.9, 1.3, 2.0)):
        if abs(decay * index - 1) < 0.05:
            continue
        at = {"L": 3, "s": 1.0, "a": decay, "p": index}
        logs = regimes.log_leading(Bound.SUM, Regime.POWER_LAW, N=width, **at)
        stated = (index + 1 + max(0, 1 - decay * index)) / (index + 2)
        exact &= bool(abs(np.diff(logs)[0] / math.log(100) - scale * stated) < 0.02)
    assert exact is holds
    if holds:
        indices = np.linspace(0.01, 2, 400)
        for decay in (0.2, 0.5, 0.8, 2.0):
            exponent = (indices + 1 + np.maximum(0, 1 - decay * indices)) / (indices + 2)
            best = min(1 / decay, 2)
            assert indices[exponent.argmin()] == pytest.approx(best, abs=0.01)
            least = (decay + 1) / (2 * decay + 1) if decay >= 0.5 else 1 - decay / 2
            assert exponent.min() == pytest.approx(least, abs=1e-3)


@statement("prop-reg-slopes")
@perturbed(1.1)
def test_the_excess_of_the_local_slope(scale, holds):
    factor, step = LOW_RANK_NET / CENTERED_RANGE, 0.01
    matches = True
    for bound, limit in ((Bound.SUM, 1.0), (Bound.ROOT_SUM_SQUARE, 0.5)):
        for depth in (200, 1000, 5000):
            slope = regimes.local_slope(
                bound, Regime.RANK, "L", step=step, L=depth, N=32, r=4, s=1.0
            )
            big = factor * depth
            excess = 0.5 * big / (1 + big) / (1 + math.log1p(big))
            assert 0 < excess < 1 / (2 * (1 + math.log1p(big)))
            matches &= abs(slope - limit - scale * excess) < 1e-4
    assert matches is holds


@statement("prop-reg-depth")
def test_two_readings_of_the_gain():
    depth, norm = np.geomspace(1, 1000, 20), 0.7
    at = {"L": depth, "N": 512.0, "r": 16.0, "s": norm}
    form = {b: regimes.log_leading(b, Regime.RANK, **at) for b in SINGLE}
    against = form[Bound.EDELMAN] - form[Bound.SUM]
    assert against == pytest.approx(np.log(norm * np.sqrt(depth)))
    itself = form[Bound.ROOT_SUM_SQUARE]
    assert itself == pytest.approx(0.5 * np.log(depth * 16 * 512))
    assert form[Bound.EDELMAN] - itself == pytest.approx(np.log(norm * depth))


@statement("prop-reg-binding")
def test_which_member_binds():
    norms = np.geomspace(1e-4, 1e3, 40) * 1.0001
    full, direct = (
        regimes.log_leading(b, Regime.FROBENIUS, F=norms, **GRID) for b in regimes.MEMBERS
    )
    assert ((direct < full) == (norms * GRID["L"] < np.sqrt(GRID["N"]))).all()
    ranks = np.array([1.0, 2.0])
    full, direct = (
        regimes.log_leading(b, Regime.RANK, r=ranks, s=1.0, **GRID) for b in regimes.MEMBERS
    )
    assert (direct <= full + 1e-12).all()
    # With constants: never at F = 2, on a part of the scales at F = 0.02.
    for norm, share in ((2.0, 0.0), (0.02, 0.6)):
        got = regimes.compare_regimes(64, 2, frobenius=norm)
        found = got.row(Regime.FROBENIUS, Bound.MINIMUM).share_interpolated
        assert found == pytest.approx(share, abs=0.05)


@statement("prop-reg-lambda")
def test_rates_and_exponents_with_amplification():
    powers = {
        Bound.SUM: (0.5, 1.0, 1.5),
        Bound.ROOT_SUM_SQUARE: (0.5, 2.0, 1.0),
        Bound.EDELMAN: (1.0, 2 / 3, 1.5),
        Bound.TRAUGER_TEWARI: (1.0, 2 / 3, 1.5),
        Bound.FULL_RANK: (0.0, 2.0, 0.5),
        Bound.INTERPOLATED: (1.0, 2.0, 1.5),
    }
    at = {"N": 100.0, "F": 0.5}
    for bound, (x, c, exponent) in powers.items():
        for value, depth in itertools.product((0.5, 1.0, 2.0), (1, 2, 7)):
            flat = float(regimes.log_leading(bound, Regime.FROBENIUS, L=depth, **at))
            found = float(regimes.log_leading(bound, Regime.FROBENIUS, L=depth, lam=value, **at))
            mean = np.mean(value ** (np.arange(depth) * x * c))
            assert found - flat == pytest.approx(math.log(mean) / c, abs=1e-9)
        deep = np.array([1e4, 2e4])
        up = regimes.log_leading(bound, Regime.FROBENIUS, L=deep, lam=1.5, **at)
        assert np.diff(up)[0] / 1e4 == pytest.approx(x * math.log(1.5), abs=1e-3)
        assert float(regimes.depth_rate(bound, regimes.CASES[1]).subs(regimes.lam, 1.5)) == (
            pytest.approx(x * math.log(1.5))
        )
        down = regimes.log_leading(bound, Regime.FROBENIUS, L=deep, lam=0.5, **at)
        stated = exponent - 1 / c if x > 0 else exponent
        assert np.diff(down)[0] / math.log(2) == pytest.approx(stated, abs=1e-6)


@statement("prop-reg-lambda")
@perturbed(0.93)
def test_logarithms_of_amplification(scale, holds):
    depth, matches = 20_000, True
    for value in (1.2, 3.0):
        for bound, factor, power in (
            (Bound.SUM, 2 / 3 * math.sqrt(math.log(value)), 1.5),
            (Bound.ROOT_SUM_SQUARE, math.sqrt(math.log(value) / 2), 1.0),
        ):
            log = regimes.log_explicit(bound, Regime.RANK, lam=value, L=depth, N=8, r=2, s=1.0)
            unit = math.log(12 * CENTERED_RANGE * math.sqrt(2 * 16))
            found = math.exp(log - unit - power * math.log(depth))
            assert found >= factor
            matches &= found <= 1.05 * scale * factor
    assert matches is holds


CROSSOVERS = [
    (Regime.RANK, Bound.SUM, Bound.EDELMAN, s, 1 / sp.sqrt(L), "above"),
    (Regime.RANK, Bound.ROOT_SUM_SQUARE, Bound.EDELMAN, s, 1 / L, "above"),
    (Regime.RANK, Bound.SUM, Bound.FULL_RANK, r, N / L, "below"),
    (Regime.RANK, Bound.EDELMAN, Bound.FULL_RANK, s, sp.sqrt(N / r) / L, "below"),
    (Regime.FROBENIUS, Bound.SUM, Bound.EDELMAN, F, sp.sqrt(N), "above"),
    (Regime.FROBENIUS, Bound.SUM, Bound.FULL_RANK, F, sp.sqrt(N) / L**2, "below"),
    (Regime.FROBENIUS, Bound.ROOT_SUM_SQUARE, Bound.EDELMAN, F, sp.sqrt(N) / L, "above"),
    (Regime.FROBENIUS, Bound.ROOT_SUM_SQUARE, Bound.FULL_RANK, F, sp.sqrt(N) / L, "below"),
    (Regime.FROBENIUS, Bound.TRAUGER_TEWARI, Bound.FULL_RANK, F, 1 / L, "below"),
    (Regime.SPECTRAL, Bound.ROOT_SUM_SQUARE, Bound.EDELMAN, s, 1 / L, "above"),
]


@statement("prop-cross-table")
@pytest.mark.parametrize(("regime", "first", "second", "unknown", "value", "side"), CROSSOVERS)
def test_crossovers_by_hand_are_sympys(regime, first, second, unknown, value, side):
    found = regimes.crossover(first, second, regime, unknown)
    assert close_forms(found.value, value)
    assert found.first_wins == side
    for depth, size, rank in itertools.product((1.0, 7.0, 96.0), (16.0, 768.0), (1.0, 6.0)):
        at = {"L": depth, "N": size, "r": rank, "s": 0.6, "F": 0.8}
        middle = float(value.subs({L: depth, N: size, r: rank}))
        for factor in (1e-3, 0.5, 0.99, 1.01, 2.0, 1e3):
            here = {**at, unknown.name: middle * factor}
            logs = [float(regimes.log_leading(b, regime, **here)) for b in (first, second)]
            assert (logs[0] < logs[1]) is ((factor < 1) is (side == "below"))


@statement("prop-reg-table")
def test_a_small_norm_beats_the_count_of_parameters():
    """In the spectral class the form of Edelman et al. is the smallest below s = 1/L."""
    norms = np.geomspace(1e-4, 10, 40) * 1.0001
    logs = {b: regimes.log_leading(b, Regime.SPECTRAL, s=norms, **GRID) for b in SINGLE}
    small = np.broadcast_to(norms < 1 / GRID["L"], logs[Bound.EDELMAN].shape)
    for bound in (Bound.ROOT_SUM_SQUARE, Bound.FULL_RANK, Bound.INTERPOLATED):
        assert ((logs[Bound.EDELMAN] < logs[bound]) == small).all()


@statement("prop-cross-table")
def test_the_smallest_form():
    depth = np.array([1.5, 2, 12, 300])[:, None, None]
    size = np.array([32.0, 768, 10_000])[None, :, None]
    norms = np.geomspace(1e-4, 1e4, 41) * 1.0001

    def smallest(regime, **at):
        logs = {b: regimes.log_leading(b, regime, L=depth, N=size, **at) for b in SINGLE}
        return logs, np.min(list(logs.values()), axis=0)

    logs, least = smallest(Regime.RANK, r=16.0, s=norms)
    own = np.broadcast_to(norms >= 1 / depth, least.shape)
    assert ((logs[Bound.ROOT_SUM_SQUARE] <= least + 1e-9) == own).all()
    assert ((logs[Bound.EDELMAN] <= least + 1e-9) == ~own).all()
    assert (logs[Bound.SUM] > least + 1e-9).all()
    logs, least = smallest(Regime.FROBENIUS, F=norms)
    full = np.broadcast_to(norms >= np.sqrt(size) / depth, least.shape)
    assert ((logs[Bound.FULL_RANK] <= least + 1e-9) == full).all()
    for bound in (Bound.EDELMAN, Bound.INTERPOLATED):
        assert ((logs[bound] <= least + 1e-9) == ~full).all()
    assert (logs[Bound.ROOT_SUM_SQUARE] > least + 1e-9).all()
    assert (logs[Bound.SUM] > least + 1e-9).all()
    meeting = {"L": 9.0, "N": 768.0, "F": math.sqrt(768) / 9}
    three = (Bound.ROOT_SUM_SQUARE, Bound.EDELMAN, Bound.FULL_RANK)
    values = [float(regimes.log_leading(b, Regime.FROBENIUS, **meeting)) for b in three]
    assert values == pytest.approx([values[0]] * 3)


@statement("prop-phase-levels")
@reproducible
@given(st.integers(0, 2**32 - 1))
def test_level_lines_are_where_p_is_the_minimiser(seed):
    """The minimum over a fine grid of p lies where the level lines say."""
    rng = np.random.default_rng(seed)
    logs = np.sort(rng.normal(0, rng.uniform(0.2, 2), rng.integers(2, 12)))[::-1]
    size, grid = 16, np.linspace(0, 2, 801)
    level = regimes.log_level(np.broadcast_to(logs, (801, logs.size)), size, grid)
    assert (np.diff(level) < 0).all()
    total = np.logaddexp.reduce(grid[:, None] * logs, axis=1)
    for log_t in np.r_[level[[0, -1]] + [[-1e-3], [1e-3]], rng.normal(0, 3, (4, 2))].ravel():
        contribution = (total + grid * log_t + (grid + 1) * math.log(size)) / (grid + 2)
        best = grid[contribution.argmin()]
        below = grid[level <= log_t]
        stated = below[0] if below.size else 2.0
        assert abs(best - stated) <= 2 / 800 + 1e-12
        assert float(regimes.p_star(logs, size, log_t)) == pytest.approx(stated, abs=2 / 800 + 1e-9)
    flat = regimes.log_level(np.full((5, 4), 0.3), size, np.linspace(0, 2, 5))
    assert flat == pytest.approx(0.5 * math.log(4 / size) - 0.3)


@statement("prop-phase-power")
@perturbed(1.1)
def test_boundaries_of_power_laws(scale, holds):
    matches, size = True, 2_000_000
    for decay in (0.1, 0.2, 0.3):
        law = regimes.power_law(np.array(decay), size)
        upper, lower = (float(regimes.log_level(law, size, x)) for x in (0.0, 2.0))
        assert upper == pytest.approx(decay * math.lgamma(size + 1) / size, abs=1e-9)
        assert upper == pytest.approx(decay * (math.log(size) - 1), abs=1e-4)
        width = decay * (1 + 2 * decay) / (1 - 2 * decay) + 0.5 * math.log(1 - 2 * decay)
        matches &= abs(upper - lower - scale * width) < 0.03 * width
    for decay in (0.8, 1.5):
        ends = []
        for count in (1_000, 1_000_000):
            law = regimes.power_law(np.array(decay), count)
            ends.append(np.subtract(*(float(regimes.log_level(law, count, x)) for x in (0.0, 2.0))))
        growth = (ends[1] - ends[0]) / math.log(1000)
        matches &= abs(growth - scale * (decay + 0.5)) < 0.05 * (decay + 0.5)
    # At a = 1/2 the bounded difference settles: log N - log log N grows, its factor is 1/2.
    half, logs = [], []
    for count in (1_000, 1_000_000):
        law = regimes.power_law(np.array(0.5), count)
        half.append(np.subtract(*(float(regimes.log_level(law, count, x)) for x in (0.0, 2.0))))
        logs.append(math.log(count) - math.log(math.log(count)))
    growth = (half[1] - half[0]) / (logs[1] - logs[0])
    matches &= abs(growth - scale * 0.5) < 0.05 * 0.5
    assert bool(matches) is holds
