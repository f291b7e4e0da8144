"""Numbers are written the same way everywhere, and 0 has no sign."""

import pytest

from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate
from geval.texts.numbers import in_brackets, shown, signed


@pytest.mark.parametrize(
    ("value", "text"), [(-0.004, "0.00"), (-0.006, "−0.01"), (0.456, "0.46"), (None, "–")]
)
def test_an_estimate_has_two_decimals(value: float | None, text: str) -> None:
    assert shown(Estimate(value)) == text


def test_an_interval_has_true_minuses() -> None:
    assert in_brackets(Interval(-0.5, -0.006)) == "[−0.50, −0.01]"


def test_an_interval_near_0_has_no_minus() -> None:
    assert in_brackets(Interval(-0.001, 0.09)) == "[0.00, 0.09]"
    assert in_brackets(Interval(None, None)) == ""


def test_a_difference_has_its_sign_unless_it_is_0() -> None:
    assert [signed(value) for value in (0.5, -0.5, -0.001)] == ["+0.50", "−0.50", "0.00"]
