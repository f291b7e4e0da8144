"""Intervals: what they hold, how they shrink, and that undefined data give a reason and no
number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from geval.statistics.correlation import COEFFICIENTS, LEVELS
from geval.statistics.resampling import (
    Draws,
    bootstrap_samples,
)
from geval.statistics.types import FloatArray
from tests.statistics.tables import correlations

CELLS = st.sampled_from([1.0, 2.0, 3.0, 4.0, np.nan]) | st.floats(-5, 5).map(
    lambda value: round(value, 2)
)


@given(
    st.integers(1, 5).flatmap(
        lambda d: st.integers(1, 5).flatmap(
            lambda s: st.tuples(*[hnp.arrays(float, (d, s), elements=CELLS) for _ in range(2)])
        )
    )
)
def test_the_identity_draw_gives_the_correlation_itself(
    tables: tuple[FloatArray, FloatArray],
) -> None:
    human, judge = tables
    everything = Draws(np.arange(human.shape[0])[None, :], np.arange(human.shape[1])[None, :])
    found = correlations(human, judge).estimates

    for coefficient in COEFFICIENTS:
        for level in LEVELS:
            value = bootstrap_samples(human, judge, coefficient, everything, level=level)[0]
            expected = found[coefficient][level].value
            assert (
                np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-8)
            )
