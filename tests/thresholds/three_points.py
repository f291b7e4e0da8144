"""A test of a threshold: just below it, at it and just above it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from geval.statistics.thresholds import TABLE


def pins(name: str, points: Mapping[float, object]) -> Callable[[Any], Any]:
    """Run a test at three points of a threshold.

    Args:
        name: of the threshold in the table.
        points: by value what the test is to see there; the second is the threshold as it stands.
    """
    below, at, above = points
    assert below < at < above, f"{name}: state the points in order"
    assert at == pytest.approx(TABLE[name].value, rel=1e-12), f"{name} is {TABLE[name].value}"
    return pytest.mark.parametrize(("value", "expected"), list(points.items()))
