"""Nets of matrix balls: volumetric, low-rank products, operator norm, Maurey."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectral_lib.constants import (
    FULL_RANK_NET,
    LOW_RANK_NET,
    MAUREY_ORIGIN,
    MAUREY_SIGNS,
    PURE_RANK_NET,
    TAIL_SHARE,
)
from spectral_lib.packing import (
    frobenius_norm,
    insertion_radii,
    operator_norm,
    orthonormal_frames,
    packing_size,
    random_members,
    sample_norm,
)

from .tightness import at_most, perturbed, statement

seeds = st.integers(0, 2**32 - 1)


@statement("lem-volumetric-net")
@perturbed(0.99)
@pytest.mark.parametrize(("dims", "cells"), [(1, 400), (2, 20), (3, 5)])
def test_the_volume_argument_is_tight_on_diagonal_matrices(dims, cells, scale, holds):
    """A grid of (1 + 2/eps)^D diagonal matrices, pairwise at operator distance eps or more."""
    ticks = np.linspace(-1.0, 1.0, cells + 1)
    eps = 2.0 / cells
    grid = np.array([np.diag(point) for point in itertools.product(ticks, repeat=dims)])
    assert operator_norm(grid).max() <= 1.0
    apart = operator_norm(grid[1:] - grid[0]).min()  # the grid is a group: one corner suffices
    assert apart == pytest.approx(eps, rel=1e-9)
    assert at_most(len(grid), (1 + scale * FULL_RANK_NET / eps) ** dims) is holds


@statement("lem-volumetric-net")
@pytest.mark.parametrize("norm", [operator_norm, frobenius_norm])
def test_greedy_packings_obey_the_volume_argument(norm, record_property):
    rng = np.random.default_rng(1)
    ball = rng.standard_normal((800, 2, 2))
    ball *= (rng.random(800) ** 0.25 / norm(ball))[:, None, None]
    eps = np.array([0.4, 0.6, 0.9, 1.2, 1.6])
    sizes = packing_size(insertion_radii(ball, norm), eps)
    ratios = np.log(sizes) / (4 * np.log1p(FULL_RANK_NET / eps))
    record_property("ratio", ratios.max())
    assert (ratios <= 1).all()


def factor_error(step, side, s=2.0, r=2):
    """||A B - A' B'||_2 when both factors, of norm sqrt s, move by step inwards or outwards."""
    left, right = (np.eye(3)[:, :r] * np.sqrt(s) for _ in range(2))
    return operator_norm(
        (left @ right.T - (1 + side * step / np.sqrt(s)) ** 2 * left @ right.T)[None]
    )[0]


@statement("lem-low-rank-net")
@perturbed(0.98)
@pytest.mark.parametrize(
    ("constant", "share"), [(LOW_RANK_NET, 1 - TAIL_SHARE), (PURE_RANK_NET, 1.0)]
)
def test_the_radius_of_the_factor_nets_is_tight(constant, share, scale, holds, record_property):
    """Nets of radius eta cost log(1 + 2 sqrt s / eta) = log(1 + c s B / eps) a dimension."""
    s, b, eps = 2.0, 1.5, 0.02
    eta = FULL_RANK_NET * np.sqrt(s) * eps / (scale * constant * s * b)
    error = b * factor_error(eta, side=-1, s=s)
    record_property("ratio", error / (share * eps))
    assert at_most(error, share * eps) is holds


@statement("lem-low-rank-net")
def test_nets_outside_the_ball_would_not_do():
    """A cover element beyond norm sqrt s breaks the step: the nets must be internal."""
    eta, s = 0.01, 2.0
    assert at_most(factor_error(eta, side=-1, s=s), 2 * np.sqrt(s) * eta)
    assert not at_most(factor_error(eta, side=+1, s=s), 2 * np.sqrt(s) * eta)


@statement("lem-low-rank-net")
def test_greedy_packings_of_low_rank_matrices_obey_the_net(record_property):
    members = random_members(np.random.default_rng(2), 700, (3, 2), s=1.0, budget=1.0, p=0.0)
    eps = np.array([0.2, 0.4, 0.7, 0.9])
    sizes = packing_size(insertion_radii(members, operator_norm), 2 * eps)
    ratios = np.log(sizes) / (5 * np.log1p(PURE_RANK_NET / eps))
    record_property("ratio", ratios.max())
    assert (ratios <= 1).all()


@statement("lem-operator-cover")
@perturbed(0.99)
def test_the_operator_norm_bounds_the_worst_input(scale, holds):
    """max ||x dW|| <= B ||dW||_2, with equality at the left singular vector."""
    rng = np.random.default_rng(3)
    b, step = 1.7, rng.standard_normal((4, 5))
    worst = b * np.linalg.svd(step)[0][:, 0]
    inputs = np.vstack([worst, b * orthonormal_frames(rng, 200, 4, 1)[:, :, 0]])
    assert (
        at_most(sample_norm(inputs)(step[None])[0], scale * b * operator_norm(step[None])[0])
        is holds
    )


@statement("lem-operator-norm")
@perturbed(0.98)
def test_the_gaussian_operator_norm_is_near_its_bound(scale, holds, record_property):
    """E ||G||_2 <= sqrt d + sqrt k."""
    d, k = 400, 300
    draws = np.random.default_rng(4).standard_normal((6, d, k))
    measured = operator_norm(draws).mean()
    record_property("ratio", measured / (np.sqrt(d) + np.sqrt(k)))
    assert at_most(measured, scale * (np.sqrt(d) + np.sqrt(k))) is holds


def maurey_error(matrix, radius, terms, draws, rng):
    """Mean squared Frobenius error of the average of ``terms`` vertices drawn with mean matrix."""
    flat = matrix.ravel()
    chances = np.append(np.abs(flat), max(radius - np.abs(flat).sum(), 0.0)) / radius
    counts = rng.multinomial(terms, chances / chances.sum(), size=draws)[:, :-1]
    averages = radius * counts * np.sign(flat) / terms
    return np.square(averages - flat).sum(axis=1).mean()


@statement("lem-maurey")
@perturbed(0.97)
def test_maurey_error_is_near_its_bound(scale, holds, record_property):
    """E ||W - W^||_F^2 <= R^2 / m, nearly attained by a matrix spread over many entries."""
    radius, terms, shape = 2.0, 20, (12, 15)
    spread = radius / 180 * np.random.default_rng(5).choice([-1.0, 1.0], shape)
    measured = maurey_error(spread, radius, terms, 40_000, np.random.default_rng(6))
    record_property("ratio", measured / (radius**2 / terms))
    assert at_most(measured, scale * radius**2 / terms) is holds


@statement("lem-maurey")
@settings(derandomize=True, max_examples=60, deadline=None)
@given(seeds)
def test_maurey_covers_every_matrix_of_the_ball(seed):
    """Some average of m = ceil((R/eps)^2) vertices lies within eps: the mean error says so."""
    rng = np.random.default_rng(seed)
    d, k = rng.integers(1, 5, 2)
    radius, eps = rng.uniform(0.5, 3.0), rng.uniform(0.2, 1.0)
    matrix = rng.standard_normal((d, k))
    matrix *= radius * rng.random() / np.abs(matrix).sum()
    terms = int(np.ceil((radius / eps) ** 2))
    exact = (radius * np.abs(matrix).sum() - np.square(matrix).sum()) / terms
    assert at_most(exact, radius**2 / terms)
    assert at_most(exact, eps**2)


@statement("lem-maurey")
def test_maurey_counts_its_cover(record_property):
    """Averages of m vertices number at most (2 d k + 1)^m; a packing of the ball obeys it."""
    d = k = 2
    vertices = int(MAUREY_SIGNS * d * k + MAUREY_ORIGIN)
    signed = np.concatenate([np.eye(4), -np.eye(4), np.zeros((1, 4))])
    assert len(signed) == vertices
    for terms in (1, 2, 3):
        picks = itertools.combinations_with_replacement(range(vertices), terms)
        sums = {tuple(signed[list(pick)].sum(axis=0)) for pick in picks}
        assert len(sums) <= vertices**terms

    rng = np.random.default_rng(7)
    ball = np.concatenate([signed, rng.laplace(size=(1500, 4))])
    ball /= np.maximum(np.abs(ball).sum(axis=1), 1.0)[:, None]
    eps = np.array([0.25, 0.35, 0.5, 0.7, 0.99])
    radii = insertion_radii(ball.reshape(-1, d, k), frobenius_norm)
    bound = np.ceil(eps**-2) * np.log(vertices)
    ratios = np.log(packing_size(radii, 2 * eps)) / bound
    record_property("ratio", ratios.max())
    assert (ratios <= 1).all()
