"""Telescoping: two networks whose matrices differ by eps differ by at most sum gamma alpha eps."""

from dataclasses import replace

import numpy as np
import pytest

from spectral_lib.constants import KAPPA_SHARP
from spectral_lib.function_class import LayerA, LayerB, Network, propagate_a
from spectral_lib.notation import Convention, Kind
from spectral_lib.propagation import propagate

from .ascent import gap_of, widest_pair
from .networks import spectra_of
from .tightness import GELU_SLOPE_ON_BALL, at_most, perturbed, statement

TOKENS, SIZE, HEADS, WIDTH = 3, 4, 2, 5
SHARP = Convention(kappa=KAPPA_SHARP, l_phi="exact", l_phi_in_gamma=True)


def telescoped(propagation, log_gammas, eps):
    """C_w sum gamma alpha eps over all matrices, plus the readout's eps, for C_w = 1."""
    scales = [np.exp(g.T + propagation.log_alpha).sum() for g in log_gammas]
    return eps * (sum(scales) + 1.0)


@statement("thm-telescoping-a")
@pytest.mark.parametrize(("depth", "eps"), [(1, 0.01), (2, 0.2), (3, 0.01)])
def test_class_a(depth, eps, record_property):
    radii = {"qk": 1.5, "v": 1.2, "m": 0.9}
    f, g, x = widest_pair(
        LayerA, dict.fromkeys(radii, (SIZE, SIZE)), radii, eps,
        depth=depth, tokens=TOKENS, size=SIZE, activation="relu", seed=depth,
    )  # fmt: skip
    constants = propagate_a(
        *([radius] * depth for radius in radii.values()), kappa=KAPPA_SHARP, l_phi=f.lipschitz
    )
    gammas = (constants.log_gamma_qk, constants.log_gamma_v, constants.log_gamma_m)
    bound = telescoped(constants, gammas, eps)
    record_property("ratio", gap_of(f, g, x) / bound)
    assert at_most(gap_of(f, g, x), bound)
    assert gap_of(f, g, x) > eps  # the ascent found more than the readout's own share


@statement("thm-telescoping-b")
@pytest.mark.parametrize(("depth", "eps"), [(1, 0.2), (2, 0.01)])
def test_class_b(depth, eps, record_property):
    shapes = {
        "qk": (HEADS, SIZE, SIZE), "vo": (HEADS, SIZE, SIZE),
        "ff_in": (SIZE, WIDTH), "ff_out": (WIDTH, SIZE),
    }  # fmt: skip
    radii = {"qk": 1.5, "vo": 0.8, "ff_in": 1.0, "ff_out": 0.9}
    f, g, x = widest_pair(
        LayerB, shapes, radii, eps,
        depth=depth, tokens=TOKENS, size=SIZE, activation="gelu", seed=depth,
    )  # fmt: skip
    constants = propagate(spectra_of(f), SHARP)
    bound = telescoped(constants, constants.log_gamma.values(), eps)
    record_property("ratio", gap_of(f, g, x) / bound)
    assert at_most(gap_of(f, g, x), bound)
    assert gap_of(f, g, x) > eps


EXTREMAL = {"qk": 0.0, "vo": 0.6, "ff_in": 1.2, "ff_out": 0.7}
SWAPS = list(zip(EXTREMAL, Kind, strict=True))
E1 = np.diag([1.0, 0.0])


def layer_b(norms):
    """Two heads, the second one idle; every matrix a multiple of the same projection."""
    qk, vo = (np.stack([norms[name] * E1, 0 * E1]) for name in ("qk", "vo"))
    return LayerB(qk, vo, norms["ff_in"] * E1, norms["ff_out"] * E1)


@statement("lem-swap-b")
@statement("thm-telescoping-b")
@perturbed(0.99)
@pytest.mark.parametrize(("name", "kind"), SWAPS)
def test_gammas_of_class_b_are_reached(name, kind, scale, holds, record_property):
    """One matrix moved by h: the scores at tokens +e, -e with equal logits, the rest at tokens e.

    The second feed-forward matrix is tight where the first one fills the ball.
    """
    h = 0.01
    x = np.array([[1.0, 0.0], [-1.0 if name == "qk" else 1.0, 0.0]])
    norms = EXTREMAL | ({"vo": 1.0} if name == "ff_in" else {})
    norms |= {"vo": 1.0, "ff_in": 1.0} if name == "ff_out" else {}
    norms |= {"ff_in": 0.9} if name == "ff_in" else {}
    pair = [
        Network((layer_b(norms | {name: a}),), E1[0], "relu")
        for a in (norms[name], norms[name] + h)
    ]
    moved = np.linalg.norm(pair[0].tokens(x) - pair[1].tokens(x), axis=-1).max()
    bound = h * np.exp(propagate(spectra_of(pair[0]), SHARP).log_gamma[kind][0, 0])
    record_property("ratio", moved / bound)
    assert at_most(moved, scale * bound) is holds


@statement("lem-activation-ball")
@pytest.mark.parametrize("name", ["vo", "ff_in"])
def test_gammas_without_the_activation_are_no_bound(name):
    """Where rows fill the ball the GELU is steeper than 1: gamma needs that slope."""
    x = np.array([[1.0, 0.0], [1.0, 0.0]])
    norms = dict.fromkeys(EXTREMAL, 1.0)
    pair = [Network((layer_b(norms | {name: a}),), E1[0], "gelu") for a in (0.98, 1.0)]
    moved = np.linalg.norm(pair[0].tokens(x) - pair[1].tokens(x), axis=-1).max()
    bare = replace(SHARP, l_phi_in_gamma=False)
    kind = dict(SWAPS)[name]
    gamma = np.exp(propagate(spectra_of(pair[1]), bare).log_gamma[kind][0, 0])
    assert not at_most(moved, gamma * 0.02)
    assert at_most(moved, GELU_SLOPE_ON_BALL * gamma * 0.02)
