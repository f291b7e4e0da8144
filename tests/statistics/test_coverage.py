"""The intervals of reports hold the truth as often as they say: `make bench-coverage` in short."""

from typing import Any

import numpy as np
import pytest

from benchmarks.coverage import Line, World, lines, measure

DATA_SETS = 250
SLACK = 3 * np.sqrt(0.95 * 0.05 / DATA_SETS)
SHORT = [line for line in lines() if line.world.documents <= 20 and line.world.systems <= 10]
# Strengths and lines are fitted, and documents and systems left out, hundreds of times.
LONG = (
    "comparisons",
    "strength",
    "over both",
    "over systems",
    "bias",
    "Gwet",
    "kendall",
    "alpha (interval)",
    "pass or fail",
)


def in_its_time(line: Line) -> Any:
    """A line as a test, among the ones that take seconds if it does."""
    takes_long = type(line.world) is not World or any(name in line.name for name in LONG)
    return pytest.param(
        line,
        marks=[pytest.mark.slow] if takes_long else [],
        id=f"{type(line.world).__name__}-{line.name}-{line.world.documents}x{line.world.systems}",
    )


@pytest.mark.parametrize("line", list(map(in_its_time, SHORT)))
def test_an_interval_holds_the_true_value(line: Line) -> None:
    held, none, _width = measure(line, DATA_SETS)

    assert np.isnan(held) == (none == 1)
    if not np.isnan(held):
        assert 0.93 - SLACK <= held <= 0.97 + SLACK
