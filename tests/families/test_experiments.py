"""The experiments' tables and figures, on a family that was fetched: whole, and with gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spectral_lib import tables
from spectral_lib.families import Family
from spectral_lib.families.fetching import fetch_miniatures
from spectral_lib.families.folder import read_family
from spectral_lib.families.miniatures import short_name
from spectral_lib.plots import families as plots
from tests.families.models import write_model
from tests.hub import serving

#: The paper's depths, and widths that a test can afford: heads of 4 columns.
NAMES = tuple(
    f"google/bert_uncased_L-{depth}_H-{width}_A-{width // 4}"
    for depth in (2, 4, 6, 8, 10, 12)
    for width in (8, 16, 24, 32)
)
#: One size in the middle, and the deepest and widest.
GAPS = (NAMES[9], NAMES[-1])


@pytest.fixture(scope="module", params=["whole", "gaps"])
def family(request, tmp_path_factory) -> Family:
    place: Path = tmp_path_factory.mktemp("family")
    with pytest.MonkeyPatch.context() as patch, serving(place, patch) as hub:
        for model in NAMES:
            if request.param == "whole" or model not in GAPS:
                hub.publish(write_model(place / short_name(model), model), repo=model)
        missing = fetch_miniatures(place / "family", NAMES, watch=lambda *event: None)
    assert set(missing) == (set(GAPS) if request.param == "gaps" else set())
    return read_family(place / "family")


def test_sizes_and_growth(family):
    sizes = tables.sizes(family)
    assert len(sizes) == len(family.members) >= 22
    for along in ("N", "L"):
        growth = tables.proxy_growth(family, along)
        assert list(growth.index) == list(family.widths if along == "N" else family.depths)
        first = growth.iloc[0].dropna()
        np.testing.assert_allclose(first, 0.0, atol=1e-12)
        assert np.isfinite(growth.to_numpy(dtype=float)).mean() > 0.85
        plots.proxy_growth(growth)
        exponents = tables.growth_exponents(family, along)
        assert np.isfinite(exponents.select_dtypes("number").to_numpy()).all()
        plots.growth_exponents(exponents)
        plots.growth_ratio(tables.growth_ratio(family, along))


def test_norms_at_two_layers(family):
    norms = tables.norm_scaling(family)
    assert list(norms.index) == list(family.widths)
    assert np.isfinite(norms.to_numpy(dtype=float)).all()
    plots.norm_scaling(norms)
    plots.norm_exponents(tables.norm_exponents(family))


def test_spectra_of_the_headline_and_indices_of_all(family):
    plots.spectral_decay(tables.spectral_decay(family.headline))
    plots.contribution_curves(tables.contribution_curves(family.headline))
    histogram = tables.p_star_histogram(family)
    assert int(histogram.to_numpy().sum()) == sum(s.num_matrices for s in family.members)
    plots.p_star_histogram(histogram)


def test_a_family_without_history(family):
    assert len(tables.card(family)) == len(family.members)
    assert family.initial == ()
    assert family.losses == {}
