"""When a run pauses after its first items, and when a rating's probability is not known."""

import math

from geval.llm.advice import FirstItems
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import ReplyChoice, Token
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored, score_by_logprobs
from geval.statistics.scales import Scale
from tests.thresholds.three_points import pins

FAILED = Failure(Reason.NO_RATING, "No number.")
SCORED = Scored(3.0, {3.0: 1.0}, 1.0)


@pins("FIRST_ITEMS", {19: False, 20: True, 21: False})
def test_a_run_pauses_after_its_first_items(value: int, expected: bool) -> None:
    first = FirstItems(RequestSettings("m", "logprobs"))

    said = [first.note(FAILED) for _ in range(value)]

    assert bool(said[-1]) is expected


@pins("FIRST_ITEMS_FAILED", {9 / 20: False, 0.5: True, 11 / 20: True})
def test_a_run_pauses_where_half_of_them_failed(value: float, expected: bool) -> None:
    first = FirstItems(RequestSettings("m", "logprobs"))
    failed = round(20 * value)

    said = [first.note(FAILED if at < failed else SCORED) for at in range(20)]

    assert bool(said[-1]) is expected


@pins("UNRESOLVED", {0.0099: True, 0.01: True, 0.0101: False})
def test_digits_that_may_begin_another_rating(value: float, expected: bool) -> None:
    logs = {"9": math.log(0.9), "1": math.log(value * (1 - 1e-12))}
    place = Token("9", logs["9"], tuple(logs.items()))

    found = score_by_logprobs(
        ReplyChoice("9", tokens=(place,)), scale=Scale(1, 10), criterion="coherence"
    )

    assert isinstance(found, Scored) is expected
