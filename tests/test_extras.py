"""Each optional part says, in one line, what to install."""

import subprocess
import sys

import pytest

CASES = [
    ("pandas", "frames", "import spectral_lib.tables"),
    ("pandas", "frames", "from spectral_lib.frames import frame_of; frame_of([])"),
    (
        "pandas",
        "frames",
        "from spectral_lib.regimes import compare_regimes; compare_regimes(8, 1).to_frame()",
    ),
    ("matplotlib", "plots", "import spectral_lib.plots.spectra"),
    ("matplotlib", "plots", "import spectral_lib.plots.covering"),
    ("torch", "torch", "import spectral_lib.experiments.training"),
    ("transformers", "torch", "import spectral_lib.experiments.training"),
    ("sympy", "ledger", "import spectral_lib.ledger"),
    ("sympy", "ledger", "import spectral_lib.regimes"),
]


@pytest.mark.parametrize(("package", "extra", "code"), CASES)
def test_a_missing_extra_is_named(package, extra, code):
    script = f"import sys; sys.modules[{package!r}] = None\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("spectral_lib.errors.MissingExtraError: ")
    assert f"spectral-lib[{extra}]" in last
