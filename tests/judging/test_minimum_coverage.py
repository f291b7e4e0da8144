"""A distribution counts from the judge's minimum coverage on, and failures name what was read."""

import math

import pytest

from geval.llm.parsing import Failure, Reason, parse_rating
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


def test_a_reply_without_a_rating_has_no_score() -> None:
    found = score("I")

    assert isinstance(found, Failure)
    assert found.reason == Reason.NO_RATING


def test_a_form_with_many_ratings_names_the_first_five() -> None:
    reply = "\n".join(f"Coherence: {value}" for value in (1, 2, 3, 4, 5, 6))

    found = parse_rating(ReplyChoice(reply), scale=Scale(1, 10), criterion="Coherence")

    assert isinstance(found, Failure)
    assert found.reason == Reason.TWO_RATINGS
    assert "(1, 2, 3, 4, 5)" in found.detail
