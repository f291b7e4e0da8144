"""The intervals of reports hold the truth as often as they say: `make bench-coverage` in short."""

import numpy as np
import pytest

from benchmarks.coverage import Line, lines, measure

DATA_SETS = 250
SLACK = 3 * np.sqrt(0.95 * 0.05 / DATA_SETS)
SHORT = [line for line in lines() if line.world.documents <= 20 and line.world.systems <= 10]


@pytest.mark.parametrize(
    "line", SHORT, ids=lambda line: f"{line.name}-{line.world.documents}x{line.world.systems}"
)
def test_an_interval_holds_the_true_value(line: Line) -> None:
    held, none, _width = measure(line, DATA_SETS)

    assert np.isnan(held) == (none == 1)
    if not np.isnan(held):
        assert 0.93 - SLACK <= held <= 0.97 + SLACK
