"""Encoders at initial weights of any shape."""

import numpy as np
import pytest

from spectral_lib import Kind
from spectral_lib.errors import DomainError
from spectral_lib.families import load_family
from spectral_lib.families.untrained import untrained


def test_the_entries_have_the_scale():
    spectra = untrained(2, 48, 3, scale=0.3, seed=4)
    assert (spectra.num_layers, spectra.hidden_size, spectra.num_heads) == (2, 48, 3)
    for kind in (Kind.FF_IN, Kind.FF_OUT):
        assert spectra[kind].frobenius_norm == pytest.approx(0.3 * np.sqrt(48 * 192), rel=0.03)
    for kind in (Kind.QK, Kind.VO):
        assert (spectra[kind].rank == 16).all()
        # E ||AB||_F^2 = s^4 N^2 d for factors of independent entries
        assert np.square(spectra[kind].frobenius_norm).mean() == pytest.approx(
            0.3**4 * 48**2 * 16, rel=0.1
        )


def test_a_seed_gives_the_same_encoder_and_another_another():
    one, same, other = (untrained(1, 16, 2, seed=seed) for seed in (1, 1, 2))
    for kind in Kind:
        assert np.array_equal(one[kind].singular_values, same[kind].singular_values)
        assert not np.array_equal(one[kind].singular_values, other[kind].singular_values)


def test_it_is_like_the_initial_weights_of_the_grid():
    started = load_family("grid").snapshots["grid/L4-N64"][0]
    drawn = untrained(4, 64, 4)
    for kind in Kind:
        for name in ("spectral_norm", "frobenius_norm", "norm_21", "norm_11"):
            ours, theirs = (getattr(s[kind], name).mean() for s in (drawn, started))
            assert ours == pytest.approx(theirs, rel=0.05)


@pytest.mark.parametrize("sizes", [(0, 16, 2), (1, 16, 3), (1, 16.0, 2), (True, 16, 2)])
def test_sizes_that_are_none_are_refused(sizes):
    with pytest.raises(DomainError):
        untrained(*sizes)


@pytest.mark.parametrize("scale", [0, -1.0, np.inf, np.nan])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(DomainError, match="scale"):
        untrained(1, 16, 2, scale=scale)
