"""A distribution counts from the judge's minimum coverage on, and failures name what was read."""

import math

import pytest

from geval.llm.parsing import Failure, Reason
from geval.llm.replies import ReplyChoice, Token
from geval.llm.scoring import Scored, score_by_logprobs
from geval.statistics.scales import Scale

ONE_TO_FIVE = Scale(1, 5)


def score(text: str, **options: float) -> Scored | Failure:
    """Of a reply of one token, three quarters of whose probability is on 4 and 2."""
    logs = {"4": math.log(0.5), "2": math.log(0.25), "I": math.log(0.25)}
    tokens = (Token(text, logs.get(text, -1.0), tuple(logs.items())),)
    choice = ReplyChoice(text, tokens=tokens)
    return score_by_logprobs(choice, scale=ONE_TO_FIVE, criterion="coherence", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("minimum", "counts"), [(0.0, True), (0.74, True), (0.75, True), (0.76, False)]
)
def test_a_distribution_counts_from_the_minimum_on(minimum: float, counts: bool) -> None:
    found = score("4", min_coverage=minimum)

    assert isinstance(found, Scored) is counts
    if isinstance(found, Scored):
        assert found.coverage == pytest.approx(0.75)
        assert found.value == pytest.approx((4 * 0.5 + 2 * 0.25) / 0.75)
    else:
        assert found.reason == Reason.LOW_COVERAGE
        assert "Only 75.00% of the probability is" in found.detail
