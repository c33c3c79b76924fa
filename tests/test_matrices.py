"""Spectra against dense LAPACK: heads, feed-forward matrices, tolerances, extreme scales."""

import numpy as np
import pytest

from spectral_lib import matrices
from spectral_lib.errors import DomainError
from spectral_lib.matrices import Factored, Spectrum, spectrum_of_dense, spectrum_of_factored


def dense_reference(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    norm_21 = np.linalg.norm(matrix, axis=0).sum()
    return values, norm_21, np.abs(matrix).sum()


@pytest.mark.parametrize("shape", [(1, 1), (5, 3, 5), (40, 8, 40), (7, 12, 5), (300, 2, 500)])
def test_factored_spectrum_is_that_of_the_dense_product(shape):
    rng = np.random.default_rng(0)
    d, r, k = shape if len(shape) == 3 else (shape[0], 1, shape[1])
    product = Factored(rng.standard_normal((2, d, r)), rng.standard_normal((2, r, k)))
    found = spectrum_of_factored(product)
    for index in range(2):
        values, norm_21, norm_11 = dense_reference(product.dense()[index])
        q = found.singular_values.shape[-1]
        assert found[index].singular_values == pytest.approx(values[:q], rel=1e-11, abs=1e-13)
        assert values[q:] == pytest.approx(0, abs=1e-11)
        assert found[index].norm_21 == pytest.approx(norm_21, rel=1e-12)
        assert found[index].norm_11 == pytest.approx(norm_11, rel=1e-12)


@pytest.mark.parametrize("condition", [1e1, 1e4, 1e9])
@pytest.mark.parametrize("shape", [(20, 80), (80, 20)])
def test_dense_spectrum_keeps_its_digits_on_both_routes(condition, shape):
    """Well conditioned through the Gram matrix, ill conditioned through the decomposition."""
    rng = np.random.default_rng(1)
    left, _, right = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
    values = np.geomspace(1, 1 / condition, 20)
    found = spectrum_of_dense((left * values) @ right)
    # LAPACK's own accuracy is eps * sigma_1 in absolute terms
    assert found.singular_values == pytest.approx(values, rel=1e-9, abs=1e-15)
    assert np.exp(found.log_schatten(0.5)) == pytest.approx((values**0.5).sum(), rel=1e-9)


@pytest.mark.parametrize("exponent", [-900, -300, 0, 300, 900])
def test_scaling_by_a_power_of_two_is_exact(exponent):
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((6, 9))
    plain, scaled = spectrum_of_dense(matrix), spectrum_of_dense(np.ldexp(matrix, exponent))
    assert scaled.singular_values == pytest.approx(
        np.ldexp(plain.singular_values, exponent), rel=1e-13, abs=0
    )
    assert scaled.norm_21 == pytest.approx(np.ldexp(plain.norm_21, exponent), rel=1e-13, abs=0)
    half = exponent // 2
    product = Factored(np.ldexp(matrix, half), np.ldexp(matrix.T, exponent - half))
    reference = spectrum_of_factored(Factored(matrix, matrix.T))
    assert spectrum_of_factored(product).norm_11 == pytest.approx(
        np.ldexp(reference.norm_11, exponent), rel=1e-13, abs=0
    )


def test_one_batch_may_hold_heads_of_very_different_scale():
    rng = np.random.default_rng(3)
    left = rng.standard_normal((2, 5, 2)) * np.array([1.0, 1e-170])[:, None, None]
    found = spectrum_of_factored(Factored(left, rng.standard_normal((2, 2, 5))))
    assert found.rank.tolist() == [2, 2]
    assert (found.norm_21 > 0).all()


def test_norms_beyond_float64_are_refused():
    with pytest.raises(DomainError, match="exceed the range"):
        spectrum_of_factored(Factored(np.full((2, 1), 1e200), np.full((1, 2), 1e200)))


def test_one_relative_tolerance_at_every_p():
    """A round-off value adds to no Schatten quantity, at p = 0 and at small p alike."""
    values = np.array([1e-6, 1e-6, 1e-23])
    spectrum = Spectrum(values, (3, 3), np.array(1.0), np.array(1.0))
    assert spectrum.rank == 2
    assert np.exp(spectrum.log_schatten(0.01)) == pytest.approx(2 * 1e-6**0.01)
    assert Spectrum(values, (3, 3), np.array(1.0), np.array(1.0), rank_rtol=0.0).rank == 3


def test_zero_matrix():
    spectrum = spectrum_of_dense(np.zeros((3, 4)))
    assert spectrum.rank == 0
    assert spectrum.log_schatten(0.0) == spectrum.log_schatten(1.0) == -np.inf
    assert spectrum.stable_rank == spectrum.frobenius_norm == spectrum.spectral_norm == 0


def test_schatten_quantity_is_continuous_at_p_zero():
    spectrum = spectrum_of_dense(np.random.default_rng(4).standard_normal((6, 6)))
    assert spectrum.log_schatten(1e-9) == pytest.approx(spectrum.log_schatten(0.0), abs=1e-7)


@pytest.mark.parametrize("p", [-0.1, 2.1, float("nan")])
def test_the_index_must_be_admissible(p):
    spectrum = spectrum_of_dense(np.eye(2))
    with pytest.raises(DomainError, match=r"must lie in \[0, 2\]"):
        spectrum.log_schatten(p)


@pytest.mark.parametrize(
    "change",
    [
        {"singular_values": np.array([1.0, 2.0])},
        {"singular_values": np.array([1.0, -1.0])},
        {"singular_values": np.array([np.nan, 1.0])},
        {"singular_values": np.ones(3)},
        {"norm_21": np.ones(2)},
        {"norm_11": np.array(np.inf)},
        {"rank_rtol": 1.0},
    ],
)
def test_a_spectrum_that_is_none_is_refused(change):
    fields = {
        "singular_values": np.array([2.0, 1.0]),
        "shape": (2, 2),
        "norm_21": np.array(1.0),
        "norm_11": np.array(1.0),
    }
    Spectrum(**fields)
    with pytest.raises(DomainError):
        Spectrum(**(fields | change))


def test_factors_must_fit():
    with pytest.raises(DomainError, match="inner size"):
        Factored(np.ones((2, 3)), np.ones((2, 3)))


def test_gram_route_is_taken_where_it_serves(monkeypatch):
    """The fast route is really used: with LAPACK's decomposition gone it still answers."""
    monkeypatch.setattr(matrices.np.linalg, "svd", None)
    assert spectrum_of_dense(np.eye(3)).singular_values == pytest.approx(1.0)
