"""One finished run, never interrupted, that the tests compare with and copy."""

from pathlib import Path

import pytest

from tests.experiments import tiny


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """Return the folder of a run whose one model is trained."""
    from spectral_lib.experiments.training import train

    folder = tmp_path_factory.mktemp("finished")
    tiny.prepare(folder)
    train(tiny.RECIPE, tiny.tokens(), folder / tiny.RECIPE.name)
    return folder
