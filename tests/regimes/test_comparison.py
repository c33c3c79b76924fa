"""compare_regimes against direct evaluation, its ranges, what it tightens and says."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from spectral_lib import constants
from spectral_lib.bounds import Chain, SampleMetric
from spectral_lib.errors import DomainError
from spectral_lib.regimes import MEMBERS, Bound, Regime, compare_regimes, power_sum
from spectral_lib.regimes.explicit import integrate
from spectral_lib.regimes.networks import network

ASKED = {"hidden": 48, "depth": 5, "heads": 4, "rank": 6, "frobenius": 1.9, "decay": 0.8}


def test_leading_forms_by_plain_loops() -> None:
    """Sums over layers, kinds and heads written out, no SymPy."""
    lam, s = 1.3, 1.4
    found = compare_regimes(**ASKED, spectral=s, lam=lam)
    n, depth, r, f, a = 48, 5, 6, found.used.frobenius, 0.8
    ranks = [12] * 8 + [48] * 2  # a head's rank is at most N/H
    for row in found.rows:
        p = row.p_leading or 0.0
        cells = []
        for layer, cap in itertools.product(range(1, depth + 1), ranks):
            alpha = lam ** (depth - layer)
            own = {
                Regime.RANK: (min(r, cap), s * math.sqrt(min(r, cap))),
                Regime.FROBENIUS: (f**2, f),
                Regime.SPECTRAL: (cap, s * math.sqrt(cap)),
            }
            if row.regime is Regime.POWER_LAW:
                sigma = [s * j**-a for j in range(1, cap + 1)]
                schatten = cap if p == 0 else sum(x**p for x in sigma)
                own[row.regime] = (schatten, math.sqrt(sum(x * x for x in sigma)))
            cells.append((alpha, cap, *own[row.regime]))
        terms = [
            q ** (1 / (p + 2)) * (alpha * depth) ** (p / (p + 2)) * n ** ((p + 1) / (p + 2))
            for alpha, _, q, _ in cells
        ]
        by_hand = {
            Bound.SUM: sum(terms),
            Bound.ROOT_SUM_SQUARE: math.sqrt(sum(t * t for t in terms)),
            Bound.EDELMAN: sum((al * math.sqrt(n) * fr) ** (2 / 3) for al, *_, fr in cells) ** 1.5,
            Bound.TRAUGER_TEWARI: sum((al * n * fr) ** (2 / 3) for al, *_, fr in cells) ** 1.5,
            Bound.FULL_RANK: math.sqrt(sum(n * cap for _, cap, *_ in cells)),
            Bound.INTERPOLATED: math.sqrt(sum(q * n * (al * depth) ** p for al, _, q, _ in cells)),
        }
        by_hand[Bound.MINIMUM] = min(by_hand[member] for member in MEMBERS)
        assert math.exp(row.log_leading) == pytest.approx(by_hand[row.bound], rel=1e-9), row


def test_explicit_bounds_of_the_rank_regime_by_hand() -> None:
    """Sum and root-sum-square forms of a pure-rank net, J = L (2H + 2), no tail."""
    found = compare_regimes(hidden=64, depth=3, rank=4, spectral=2.0, samples=1e4, tokens=8)
    count = 12
    price = math.log1p(constants.LOW_RANK_NET * 2.0 * count / constants.CENTERED_RANGE)
    front = constants.SYMMETRIZATION * constants.DUDLEY * constants.CENTERED_RANGE / 100
    one = math.sqrt(4 * 128 * (price + 1))
    rows = {bound: math.exp(found.row(Regime.RANK, bound).log_explicit) for bound in Bound}
    assert rows[Bound.SUM] == pytest.approx(front * count * one, rel=1e-12)
    assert rows[Bound.ROOT_SUM_SQUARE] == pytest.approx(front * math.sqrt(count) * one, rel=1e-12)
    norm = 2.0 * math.sqrt(4) * 64  # (1,1) norm
    draws = math.log(2 * 64**2 + 1)
    square = (count * (norm**2 * draws) ** (1 / 3)) ** 1.5
    stop = math.log(max(1.0, constants.CENTERED_RANGE * 100 / (3 * square)))
    chain = constants.SYMMETRIZATION * constants.DUDLEY / 100
    by_hand = chain * (square * (1 + stop) + 0.5 * math.sqrt(count * draws))
    assert rows[Bound.TRAUGER_TEWARI] == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("lam", [0.6, 1.0])
def test_integral_of_the_minimum_is_from_above_and_near(p: float, lam: float) -> None:
    setting = compare_regimes(hidden=16, depth=4, decay=1.5, spectral=0.05, lam=lam).used
    found = network(Regime.POWER_LAW, setting, setting.spectral, p)
    metric, chain = SampleMetric(512e6), Chain(1e6, 1.0)
    got = integrate(found, metric, chain)
    classes, rank = found.classes, found.largest_rank
    beta = classes.size * np.exp(classes.log_beta) / constants.CENTERED_RANGE
    width = metric.width_squared(classes)

    u = np.exp(np.linspace(-40.0, 0.0, 20001))[:, None]
    price = 32 * np.log1p(8 * classes.s * beta / u)
    tail = constants.DUAL_SUDAKOV_TAIL * width * (beta / u) ** 2
    full = rank * price
    own = classes.m * price ** (1 - p / 2) * tail ** (p / 2) + math.log(2) + math.log(17)

    def integral(entropy: np.ndarray) -> float:
        return math.exp(chain.log_front) * float(
            np.trapezoid(np.sqrt(entropy.sum(axis=1)) * u[:, 0], np.log(u[:, 0]))
        )

    exact = integral(np.minimum(full, own))
    assert 1 - 1e-6 <= math.exp(got.log_minimum) / exact <= 1.01
    assert 1 - 1e-6 <= math.exp(got.log_full_rank) / integral(full) <= 1.01
    if p == 2:
        assert got.log_interpolated is None
    else:
        assert 1 - 1e-6 <= math.exp(got.log_interpolated) / integral(own) <= 1.02
    assert 0 <= got.share_interpolated <= 1


SIZES = [
    {
        "hidden": n,
        "depth": depth,
        "heads": heads,
        "rank": rank,
        "frobenius": f,
        "decay": a,
        "lam": lam,
    }
    for n, depth, heads, rank, f, a, lam in itertools.product(
        (16, 256), (2, 24), (1, 4), (2, 16), (0.3, 3.0), (0.3, 1.2), (0.9, 1.1)
    )
]


@pytest.mark.parametrize("sizes", SIZES[::5], ids=str)
def test_inequalities_over_a_grid(sizes: dict[str, float]) -> None:
    found = compare_regimes(**sizes)
    for regime in Regime:
        rows = {bound: found.row(regime, bound) for bound in Bound}
        leading = {bound: row.log_leading for bound, row in rows.items()}
        explicit = {bound: row.log_explicit for bound, row in rows.items()}
        assert leading[Bound.MINIMUM] <= min(leading[member] for member in MEMBERS) + 1e-12
        assert leading[Bound.ROOT_SUM_SQUARE] <= leading[Bound.SUM] + 1e-12
        assert explicit[Bound.ROOT_SUM_SQUARE] <= explicit[Bound.SUM] + 1e-12
        for member in MEMBERS:
            if explicit[member] is not None:
                assert explicit[Bound.MINIMUM] <= explicit[member] + 1e-3
        best = [row for row in rows.values() if row.best_explicit]
        assert best
        others = [x for x in explicit.items() if x[0] is not Bound.MINIMUM and x[1] is not None]
        assert all(row.log_explicit == min(value for _, value in others) for row in best)
        binding = rows[Bound.MINIMUM].binding
        assert binding in MEMBERS


def test_frobenius_form_in_the_ranges_of_the_text() -> None:
    """F = 2, s = 1: explicit full rank is below the explicit Frobenius forms throughout."""
    for n, depth in itertools.product((64, 256, 1024), (2, 16, 64)):
        found = compare_regimes(hidden=n, depth=depth, frobenius=2.0)
        rows = {bound: found.row(Regime.FROBENIUS, bound).log_explicit for bound in Bound}
        assert rows[Bound.FULL_RANK] < rows[Bound.ROOT_SUM_SQUARE] < rows[Bound.SUM]
        assert found.row(Regime.FROBENIUS, Bound.MINIMUM).share_interpolated == 0


def test_redundant_constraints_are_tightened_and_said() -> None:
    loose = compare_regimes(hidden=64, depth=2, rank=4, frobenius=9.0, spectral=1.5)
    assert loose.used.frobenius == 3.0
    assert loose.notes == ("frobenius 9 tightened to 3, spectral * sqrt(4)",)
    small = compare_regimes(hidden=64, depth=2, frobenius=0.5, spectral=2.0)
    assert small.used.spectral == 0.5
    assert small.notes == ("spectral 2 tightened to 0.5, the Frobenius norm",)
    assert small.asked.spectral == 2.0
    law = compare_regimes(hidden=64, depth=2, frobenius=9.0, decay=1.0)
    assert law.used.frobenius == pytest.approx(math.sqrt(float(power_sum(64, 2.0))))
    assert "decay 1 allows" in law.notes[0]
    heads = compare_regimes(hidden=64, depth=2, heads=8)
    assert heads.notes == ("the rank of the 16 head matrices of a layer is 8",)
    # A profile is not cut by a Frobenius norm below its first value.
    cut = compare_regimes(hidden=64, depth=2, frobenius=0.5, spectral=2.0, decay=1.0)
    own = compare_regimes(hidden=64, depth=2, spectral=2.0, decay=1.0)
    for bound in Bound:
        row = (Regime.POWER_LAW, bound)
        assert cut.row(*row) == own.row(*row)
    assert compare_regimes(hidden=64, depth=2, frobenius=1.5).notes == ()


def test_a_regime_appears_with_its_constraint() -> None:
    assert {row.regime for row in compare_regimes(8, 2).rows} == {Regime.SPECTRAL}
    assert {row.regime for row in compare_regimes(8, 2, rank=2, decay=1.0).rows} == {
        Regime.RANK,
        Regime.SPECTRAL,
        Regime.POWER_LAW,
    }


BAD = [
    ({"rank": 9}, "rank must be an integer from 1 to 8, got 9"),
    ({"rank": 0}, "rank must be an integer from 1 to 8, got 0"),
    ({"rank": 2.5}, "rank must be an integer from 1 to 8, got 2.5"),
    ({"hidden": 0}, "hidden must be an integer from 1"),
    ({"hidden": -4}, "hidden must be an integer from 1"),
    ({"hidden": math.inf}, "hidden must be an integer from 1"),
    ({"hidden": True}, "hidden must be an integer from 1"),
    ({"hidden": "8"}, "hidden must be an integer from 1"),
    ({"depth": 0}, "depth must be an integer from 1"),
    ({"depth": math.nan}, "depth must be an integer from 1"),
    ({"depth": 10**9}, "depth must be an integer from 1 to 5000"),
    ({"heads": 3}, "heads must divide hidden = 8, got 3"),
    ({"heads": 0}, "heads must be an integer from 1 to 8"),
    ({"frobenius": 0.0}, "frobenius must be a finite number from 1e-100 to 1e.100, got 0.0"),
    ({"frobenius": math.nan}, "frobenius must be a finite number from 1e-100 to 1e.100"),
    ({"spectral": -1.0}, "spectral must be a finite number from 1e-100 to 1e.100"),
    ({"spectral": math.inf}, "spectral must be a finite number from 1e-100 to 1e.100"),
    ({"decay": 0.0}, "decay must be a finite number > 0"),
    ({"tokens": 0}, "tokens must be a finite number >= 1"),
    ({"samples": 0.5}, "samples must be a finite number >= 1"),
    ({"lam": 0.0}, "lam must be a finite number > 0"),
    ({"lam": 10.0, "depth": 1000}, r"lam must be in \[0.5488, 1.822\] at depth 1000"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD, ids=str)
def test_inadmissible_parameters(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(DomainError, match=words) as caught:
        compare_regimes(**({"hidden": 8, "depth": 2} | wrong))
    assert "\n" not in str(caught.value)


def test_rows_as_json_and_frame() -> None:
    found = compare_regimes(**ASKED)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["num_matrices"] == 5 * 10
    assert data["asked"]["frobenius"] == 1.9
    frame = found.to_frame()
    assert len(frame) == len(data["rows"]) == 4 * len(Bound)
    assert list(frame.columns) == list(data["rows"][0])
    diverging = found.row(Regime.FROBENIUS, Bound.INTERPOLATED)
    assert diverging.log_explicit is None


def test_extremes_stay_finite() -> None:
    for sizes in (
        {"hidden": 1, "depth": 1, "rank": 1, "frobenius": 1.0, "decay": 1.0},
        {"hidden": 4096, "depth": 96, "heads": 32, "rank": 4096, "lam": 1.5, "spectral": 30.0},
        {"hidden": 64, "depth": 2, "frobenius": 1e-100, "spectral": 1e-100, "decay": 9.0},
        {
            "hidden": 64,
            "depth": 300,
            "frobenius": 1e100,
            "spectral": 1e100,
            "decay": 1.0,
            "lam": 7.3,
        },
    ):
        for row in compare_regimes(**sizes).rows:
            assert math.isfinite(row.log_leading)
            assert row.log_explicit is None or math.isfinite(row.log_explicit)


def test_the_frobenius_norm_of_heads_is_tightened_in_words():
    """A head of rank N/H cannot have a larger Frobenius norm than s sqrt(N/H): the notes say so."""
    notes = compare_regimes(64, 2, heads=8, frobenius=5).notes
    assert any("head matrices tightened to 2.82843" in note for note in notes)
    assert len(compare_regimes(64, 2, heads=8, frobenius=2).notes) == len(notes) - 1
