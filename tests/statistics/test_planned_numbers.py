"""A plan's numbers are the first that are enough, by the definition of power and of a promise."""

import numpy as np
import pytest
from scipy import stats

from evaluations.statistics.pairwise import tau_c
from evaluations.statistics.planning import TOO_FEW, for_any_time, for_power, power_of

PILOT = np.random.default_rng(2).normal(0.1, 0.5, 25)


def test_a_promise_takes_the_spread_as_large_as_the_pilot_leaves_it_possible() -> None:
    needed = for_power(PILOT, 0.2)
    spread = PILOT.std(ddof=1)
    most = spread * np.sqrt(24 / stats.chi2.ppf(0.08, 24))

    for of, count in ((spread, needed.likely), (most, needed.promised)):
        assert count
        assert power_of(0.2 / of, count) >= 0.8 > power_of(0.2 / of, count - 1)
    assert needed.promised > needed.likely  # type: ignore[operator]


@pytest.mark.parametrize("effect", [5.0, 50.0, 500.0])
def test_a_test_of_a_huge_effect_is_sure(effect: float) -> None:
    assert power_of(effect, 400) == 1.0


@pytest.mark.parametrize(("count", "reason"), [(1, TOO_FEW), (2, ""), (3, "")])
def test_two_documents_are_enough_where_the_interval_is_known(count: int, reason: str) -> None:
    found = for_any_time(PILOT[:count], 0.2, lowest=-3, highest=3, now=0.5)

    assert found.reason == reason
    assert (found.likely is None) is bool(reason)


@pytest.mark.parametrize(("human", "tau"), [([1.0], None), ([1.0, 2.0], 1.0), ([2.0, 1.0], -1.0)])
def test_two_outputs_have_a_tau(human: list[float], tau: float | None) -> None:
    judge = np.arange(len(human), dtype=float)

    assert tau_c(np.array(human), judge).value == (None if tau is None else pytest.approx(tau))
