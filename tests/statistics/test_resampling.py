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
    draw,
)
from geval.statistics.types import FloatArray
from tests.statistics.tables import correlations, percentile_interval

CELLS = st.sampled_from([1.0, 2.0, 3.0, 4.0, np.nan]) | st.floats(-5, 5).map(
    lambda value: round(value, 2)
)


def noisy(documents: int, systems: int, *, seed: int = 1) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (documents, systems)).astype(float)
    return human, human + rng.normal(0, 1.5, human.shape)


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


@pytest.mark.parametrize("over", ["documents", "systems", "both"])
def test_the_interval_holds_the_estimate_and_shrinks_with_more_documents(over: str) -> None:
    widths = []
    for documents in (10, 160):
        human, judge = noisy(documents, 8)
        draws = draw(human.shape, over, rng=np.random.default_rng(0), resamples=400)  # type: ignore[arg-type]
        interval = percentile_interval(bootstrap_samples(human, judge, "spearman", draws))
        estimate = correlations(human, judge).estimates["spearman"]["summary"].value
        assert interval.low is not None
        assert interval.high is not None
        assert estimate is not None
        if over == "documents":
            assert interval.low < estimate < interval.high
        widths.append(interval.width)
    assert widths[1] < widths[0]


def test_the_same_seed_gives_the_same_interval() -> None:
    human, judge = noisy(20, 5)
    found = [
        percentile_interval(
            bootstrap_samples(
                human, judge, "kendall", draw(human.shape, "both", rng=np.random.default_rng(3))
            )
        )
        for _ in range(2)
    ]

    assert found[0] == found[1]


def test_where_no_resample_has_a_value_there_is_a_reason_and_no_number() -> None:
    same = np.full((4, 3), 2.0)
    draws = draw(same.shape, "documents", rng=np.random.default_rng(0), resamples=20)

    interval = percentile_interval(bootstrap_samples(same, same, "pearson", draws))

    assert (interval.low, interval.high) == (None, None)
    assert interval.reason
