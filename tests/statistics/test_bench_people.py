"""`make bench-people` counts false names and finds, and fails where a goal is missed."""

import pytest

from benchmarks import people
from benchmarks.people import CONDITIONS, Condition, Figure, main


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


def test_it_fails_where_a_goal_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(people, "CONDITIONS", (Condition(5, 0.2, items=9),))
    monkeypatch.setattr(people, "CAMPAIGNS", 1)

    assert main([]) == 0
    monkeypatch.setattr(people, "CHANCE_NAMED", -0.1)
    assert (main([]), main(["--quick"])) == (1, 0)
    assert "MISSED" in capsys.readouterr().out
    assert len(CONDITIONS) == 30
