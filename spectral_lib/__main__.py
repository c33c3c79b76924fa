"""Run the command line as ``python -m spectral_lib``."""

import sys

from spectral_lib.cli import main

sys.exit(main())
