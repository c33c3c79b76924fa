"""Small random families, held twice: as spectra for the tables, as weights for plain loops."""

from dataclasses import dataclass

import numpy as np
import pytest

import spectral_lib
from spectral_lib.families import Family, LossCurve
from tests import naive

DEPTHS, WIDTHS, HEAD = (1, 2, 4), (8, 12, 20), 4


@dataclass(frozen=True)
class Known:
    """A family and the weights that it was computed from, by model name and step."""

    family: Family
    layers: dict


def model(folder, layers, num_heads):
    """Return the spectra of layers through a checkpoint on disk."""
    return spectral_lib.load(naive.write_bert(folder, layers, num_heads))


def build(folder, sizes, scale, seed=0):
    """Return a family whose members have snapshots at the steps 0, 10 and 30."""
    rng = np.random.default_rng(seed)
    members, snapshots, known, losses = [], {}, {}, {}
    for depth, width in sizes:
        name = str(folder / f"L{depth}-N{width}-30")
        snapshots[name] = {}
        for step, factor in ((0, 0.3), (10, 0.6), (30, 1.0)):
            layers = naive.random_layers(rng, depth, width, 4 * width, scale=factor * scale)
            path = folder / f"L{depth}-N{width}-{step}"
            snapshots[name][step] = model(path, layers, width // HEAD)
            known[name, step] = layers
        members.append(snapshots[name][30])
        held_out = np.array([8.0, 6.0 + depth / 10, 5.0 + width / 100])
        losses[name] = LossCurve(np.linspace(8, 5, 30), np.array([0, 10, 30]), held_out)
    recipe = {"steps": 30, "learning_rate": 0.01, "seed": 7}
    manifest = {
        "unigram_entropy": 6.5,
        "members": [
            {
                "model": name,
                "recipe": recipe,
                "seconds": 2.5,
                "parameters": 99,
                "held_out_loss": 5.25,
                "all_masked_loss": 5.5,
            }
            for name in snapshots
        ],
    }
    return Known(Family("small", "random", tuple(members), snapshots, losses, manifest), known)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A full grid of small models whose p* is 0 for some matrices and positive for others."""
    folder = tmp_path_factory.mktemp("small")
    return build(folder, [(d, w) for d in DEPTHS for w in WIDTHS], scale=0.12)


@pytest.fixture(scope="session")
def gappy(tmp_path_factory):
    """A family with gaps: some sizes once, some never, the smallest missing for one width."""
    sizes = [(1, 8), (2, 8), (4, 8), (2, 12), (3, 12), (2, 20)]
    return build(tmp_path_factory.mktemp("gappy"), sizes, scale=0.2, seed=1)


@pytest.fixture
def one_head(tmp_path):
    """A model with one head in one layer."""
    layers = naive.random_layers(np.random.default_rng(3), 1, 6, 24, scale=0.4)
    return model(tmp_path / "one", layers, 1), layers


@pytest.fixture
def damaged(tmp_path):
    """Two layers of two heads: a zero head, a rank-deficient head, a zero feed-forward matrix."""
    layers = naive.random_layers(np.random.default_rng(4), 2, 8, 16, scale=0.4)
    layers[0]["query"][:4] = 0
    layers[0]["query"][5] = layers[0]["query"][4]
    layers[0]["out"][:] = 0
    return model(tmp_path / "damaged", layers, 2), layers


@pytest.fixture
def nothing(tmp_path):
    """A model whose matrices are all zero."""
    layers = naive.random_layers(np.random.default_rng(5), 2, 8, 16, scale=0.0)
    return model(tmp_path / "nothing", layers, 2)
