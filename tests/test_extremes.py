"""Numbers at the ends of float64: right, or refused in words; never nan, a warning or a zero."""

import json
import math

import numpy as np
import pytest

import spectral_lib
from spectral_lib import CONSISTENT, PAPER, Convention, matrices
from spectral_lib.bounds import posthoc_bound
from spectral_lib.bounds.posthoc import deviation
from spectral_lib.cli import main
from spectral_lib.errors import DomainError
from tests import naive

SETTING = {"samples": 1e5, "tokens": 8, "delta": 0.1, "loss_range": 1.0}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    layers = naive.random_layers(np.random.default_rng(0), 2, 8, 20)
    return str(naive.write_bert(tmp_path_factory.mktemp("m"), layers, num_heads=2))


@pytest.fixture(scope="module")
def spectra(checkpoint):
    return spectral_lib.load(checkpoint)


@pytest.mark.parametrize("kappa", [1e-320, 1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize("factor", [1e-320, 1.0, 1.7e308])
def test_products_of_convention_fields_are_sums_of_logs(spectra, kappa, factor):
    found = spectral_lib.analyze(spectra, Convention(kappa=kappa, edelman_qk_factor=factor))
    assert all(math.isfinite(proxy.log) for proxy in found.proxies.values())
    json.dumps(found.to_dict(), allow_nan=False)
    reference = spectral_lib.analyze(spectra, PAPER).propagation.log_gamma["QK"]
    shift = found.propagation.log_gamma["QK"] - reference - math.log(kappa / PAPER.kappa)
    np.testing.assert_allclose(np.diff(shift, axis=1), 0, atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 1e-320},
        {"samples": 1.7e308, "metric": "operator"},
        {"loss_range": 1e308},
        {"loss_range": 1e-320},
        {"readout_norm": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["sum", "rss", "quadrature"])
def test_the_bound_at_the_ends_of_its_settings(spectra, change, form):
    found = posthoc_bound(spectra, **SETTING | change, form=form)
    shown = json.dumps(found.to_dict(), allow_nan=False)
    assert math.isfinite(found.log_value)
    assert "nan" not in shown


def test_the_confidence_term_scales_as_its_formula_says():
    assert deviation(1e308, 1.0, 0.1) == pytest.approx(1e-154 * deviation(1.0, 1.0, 0.1))
    assert deviation(1.0, 1.0, 1e-320) == pytest.approx(math.sqrt(320 * math.log(10) / 2), rel=1e-3)


def test_the_summary_has_no_nan(checkpoint, capsys):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in SETTING.items()]
    assert main(["bound", checkpoint, *flags, "--readout-norm=0"]) == 0
    assert "nan" not in capsys.readouterr().out


@pytest.mark.parametrize("factor", [1e80, 1e-85])
def test_budgets_beyond_float64_are_refused_in_words(spectra, factor):
    """Rounded down to zero, a budget would be that of the zero matrix, and the bound wrong."""
    with pytest.raises(DomainError, match="rescale the weights"):
        posthoc_bound(spectra.rescaled(factor), **SETTING, convention=CONSISTENT)


@pytest.mark.parametrize("scale", [5e-324, 1e-310])
def test_a_nonzero_matrix_is_never_read_as_zero(scale):
    tiny = np.full((3, 3), 1e-160)
    with pytest.raises(DomainError, match="below the range of float64"):
        matrices.spectrum_of_factored(matrices.Factored(tiny, tiny))
    with pytest.raises(DomainError, match="below the range of float64"):
        matrices.spectrum_of_dense(np.diag([scale, scale]))
    assert matrices.spectrum_of_dense(np.zeros((2, 2))).rank == 0


@pytest.mark.parametrize("decay", ["1e7", "1e308"])
def test_a_decay_beyond_sense_is_refused(capsys, decay):
    assert main(["regimes", "--hidden", "12", "--depth", "2", "--decay", decay]) == 2
    assert "decay must be" in capsys.readouterr().err
