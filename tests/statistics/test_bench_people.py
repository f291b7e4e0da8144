"""`make bench-people` counts false names and finds, and fails where a goal is missed."""

import pytest

from benchmarks.people import Figure


@pytest.mark.parametrize(
    ("share", "goal", "is_least", "expected"),
    [
        (0.05, 0.05, False, True),
        (0.06, 0.05, False, False),
        (0.9, 0.9, True, True),
        (0.89, 0.9, True, False),
        (0.0, None, True, True),
    ],
)
def test_a_goal_is_met_or_missed(
    share: float, goal: float | None, is_least: bool, expected: bool
) -> None:
    assert Figure("named", share, goal, is_least).is_met is expected
