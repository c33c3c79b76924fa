"""``spectral-lib grid train`` over one tiny model: python -m tests.experiments.driver OPTIONS.

The workers import this module too, and so store their states after every step.
"""

import sys

from spectral_lib.experiments import recipe, state
from tests.experiments import tiny

state.STORE_EVERY = 0.0

if __name__ == "__main__":
    from spectral_lib.cli import main

    recipe.grid = lambda: (tiny.LONG,)
    sys.exit(main(["grid", "train", *sys.argv[1:]]))
