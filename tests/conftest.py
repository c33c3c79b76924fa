"""Settings for every test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest


@pytest.fixture
def record_property(
    record_property: Callable[[str, object], None],
) -> Callable[[str, object], None]:
    """Record plain Python numbers: pytest-xdist cannot send a NumPy scalar to its controller."""

    def record(name: str, value: object) -> None:
        record_property(name, value.item() if isinstance(value, np.generic) else value)

    return record
