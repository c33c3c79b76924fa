"""Members of the Schatten classes, and greedy packings."""

import numpy as np
import pytest

from spectral_lib.errors import DomainError
from spectral_lib.packing import (
    bilinear_norm,
    class_profile,
    frobenius_norm,
    insertion_radii,
    operator_norm,
    orthonormal_frames,
    packing_size,
    random_members,
    sample_norm,
)

PROFILES = ["flat", "spread", "power", "random"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("p", [0.0, 0.1, 1.0, 2.0])
@pytest.mark.parametrize("budget", [0.5, 3.0, 100.0])
def test_members_lie_in_their_class(profile, p, budget):
    s = 1.5
    members = random_members(
        np.random.default_rng(0), 20, (4, 6), s=s, budget=budget, p=p, profile=profile
    )
    sigma = np.linalg.svd(members, compute_uv=False)
    # Round-off singular values of 1e-16 would count at small p.
    counted = np.where(sigma > 1e-9, sigma, 0.0)
    spent = (counted > 0).sum(axis=1) if p == 0 else (counted**p).sum(axis=1)
    assert (spent <= budget * (1 + 1e-9)).all()
    assert sigma.max() <= s * (1 + 1e-12)
    values = class_profile(
        4, s=s, budget=budget, p=p, profile=profile, rng=np.random.default_rng(1)
    )
    assert (np.diff(values) <= 0).all()
    assert ((values > 0).sum() if p == 0 else (values**p).sum()) <= budget * (1 + 1e-12)


def test_the_flat_profile_is_extreme():
    np.testing.assert_allclose(class_profile(4, s=2.0, budget=5.0, p=1.0), [2, 2, 1, 0])
    np.testing.assert_allclose(class_profile(2, s=2.0, budget=50.0, p=1.0), [2, 2])
    np.testing.assert_allclose(class_profile(4, s=2.0, budget=2.9, p=0.0), [2, 2, 0, 0])


def test_frames_are_orthonormal():
    frames = orthonormal_frames(np.random.default_rng(0), 5, 6, 3)
    np.testing.assert_allclose(frames.swapaxes(-1, -2) @ frames, [np.eye(3)] * 5, atol=1e-12)


def test_norms():
    w = np.array([[[3.0, 0.0], [0.0, 4.0]]])
    assert operator_norm(w) == pytest.approx(4)
    assert frobenius_norm(w) == pytest.approx(5)
    assert sample_norm([[1.0, 0.0], [0.6, 0.8]])(w) == pytest.approx(np.hypot(1.8, 3.2))
    assert bilinear_norm([[1.0, 0.0], [0.0, 0.5]])(w) == pytest.approx(3)


def test_a_line_packs_as_it_should():
    points = np.linspace(0, 1, 101).reshape(-1, 1, 1)
    radii = insertion_radii(points, frobenius_norm)
    assert radii[0] == np.inf
    assert (np.diff(radii) <= 0).all()
    np.testing.assert_array_equal(packing_size(radii, [2.0, 0.999, 0.499, 0.249]), [1, 2, 3, 5])
    assert packing_size(radii, 1e-9) == 101


def test_every_prefix_packs_and_covers():
    rng = np.random.default_rng(2)
    sample = rng.standard_normal((200, 2, 3))
    size = int(packing_size(insertion_radii(sample, operator_norm), 1.5))
    chosen, gaps = [0], operator_norm(sample - sample[0])
    while len(chosen) < size:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, operator_norm(sample - sample[chosen[-1]]))
    assert gaps.max() <= 1.5
    pairs = [
        operator_norm((sample[i] - sample[j])[None])[0] for i in chosen for j in chosen if i < j
    ]
    assert min(pairs) > 1.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: insertion_radii(np.ones((2, 2)), operator_norm), "shape \\(m, d, k\\)"),
        (lambda: packing_size([np.inf], [0.0]), "a scale must be > 0"),
        (lambda: class_profile(3, s=1.0, budget=1.0, p=2.5), "p must lie in \\[0, 2\\]"),
        (lambda: class_profile(3, s=0.0, budget=1.0, p=1.0), "need q >= 1, s > 0"),
        (lambda: class_profile(3, s=1.0, budget=1.0, p=1.0, profile="steep"), "unknown profile"),
        (lambda: class_profile(3, s=1.0, budget=1.0, p=1.0, profile="random"), "give rng"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(DomainError, match=message):
        call()
