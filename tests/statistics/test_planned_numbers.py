"""A plan's numbers are the first that are enough, by the definition of power and of a promise."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.anytime import expected_half_width
from geval.statistics.planning import (
    for_any_time,
    for_power,
    for_width,
    power_of,
)

PILOT = np.random.default_rng(2).normal(0.1, 0.5, 25)


def test_a_promise_takes_the_spread_as_large_as_the_pilot_leaves_it_possible() -> None:
    needed = for_power(PILOT, 0.2)
    spread = PILOT.std(ddof=1)
    most = spread * np.sqrt(24 / stats.chi2.ppf(0.08, 24))

    for of, count in ((spread, needed.likely), (most, needed.promised)):
        assert count
        assert power_of(0.2 / of, count) >= 0.8 > power_of(0.2 / of, count - 1)
    assert needed.promised > needed.likely  # type: ignore[operator]


@pytest.mark.parametrize(("effect", "count"), [(1.0, 5), (0.1, 5), (-0.6, 12), (0.3, 60)])
def test_power_is_how_often_students_t_lies_beyond_its_limits(effect: float, count: int) -> None:
    """By the definition of noncentral t: a normal value over the root of a mean square."""
    limit, shift = stats.t.ppf(0.975, count - 1), effect * np.sqrt(count)

    def beyond(square: float) -> float:
        ends = shift + np.array([-1, 1]) * limit * np.sqrt(square / (count - 1))
        return stats.norm.cdf(ends[0]) + stats.norm.sf(ends[1])

    expected = stats.chi2(count - 1).expect(beyond)
    assert power_of(effect, count) == pytest.approx(expected, abs=1e-6)


def test_the_width_of_a_small_pilot_is_that_of_its_own_t() -> None:
    few = PILOT[:10]

    needed = for_width(few, 0.05)

    def half(count: int, variance: float = 1.0) -> float:
        return stats.t.ppf(0.975, count - 1) * few.std(ddof=1) * np.sqrt(variance / count)

    def most(count: int) -> float:
        """The variance of all documents, where those to come vary as much as 92 % of them do."""
        return (9 + (count - 10) * stats.f.ppf(0.92, count - 10, 9)) / (count - 1)

    assert needed.likely
    assert needed.promised
    assert half(needed.likely) <= 0.05 < half(needed.likely - 1)
    ends = [half(count, most(count)) for count in (needed.promised, needed.promised - 1)]
    assert ends[0] <= 0.05 < ends[1]


def test_documents_that_have_just_the_power_are_enough() -> None:
    effect = 0.3 / PILOT.std(ddof=1)

    assert for_power(PILOT, 0.3, power=power_of(effect, 20)).likely == 20
    assert for_power(PILOT, 0.3, power=np.nextafter(power_of(effect, 20), 1)).likely == 21


def test_documents_that_have_just_the_width_are_enough() -> None:
    spread, times = PILOT.std(ddof=1) / 6, stats.f.ppf(0.97, 200, 24)
    likely, promised = (
        6 * expected_half_width(float(of), 200) for of in (spread, spread * np.sqrt(times))
    )

    assert for_any_time(PILOT, likely, lowest=-3, highest=3).likely == 200
    assert for_any_time(PILOT, promised, lowest=-3, highest=3).promised == 200
