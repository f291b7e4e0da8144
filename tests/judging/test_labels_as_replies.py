"""A model gives labels without an order by their names: what is read, and its probabilities."""

import json
import math
from dataclasses import replace

import pytest

from geval.llm.calls import Answer
from geval.llm.judgement import JudgeQuestion, score_choices
from geval.llm.parsing import Failure, Rating
from geval.llm.replies import ReplyChoice, Token
from geval.llm.request_settings import Mode, RequestSettings
from geval.llm.scoring import Scored
from geval.llm.structured import read_rating, schema_of
from geval.statistics.scales import NO_POINT, Scale

INTENTS = Scale(0, 2, labels={"billing": 0.0, "refund": 1.0, "lost parcel": 2.0}, is_ordered=False)
QUESTION = JudgeQuestion("Which intent?", "intent", INTENTS)


def answered(*choices: ReplyChoice) -> Answer:
    return Answer(choices, "m", "", 1, 1, 1, 0.1)


def scored(mode: Mode, *choices: ReplyChoice) -> Scored | Failure:
    return score_choices([answered(*choices)], QUESTION, RequestSettings("m", mode))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("refund", 1.0),
        ("Refund", 1.0),
        ("- Intent: billing", 0.0),
        ("Intent: lost parcel", 2.0),
        ("2", None),
        ("delivery", None),
    ],
)
def test_the_name_of_a_label_is_read_and_no_number(text: str, label: float | None) -> None:
    outcome = scored("direct", ReplyChoice(text))

    assert (outcome.value if isinstance(outcome, Scored) else None) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"rating": "refund"}', 1.0),
        ('{"rating": "lost parcel"}', 2.0),
        ('{"rating": "n/a"}', NO_POINT),
        ('{"rating": "Refund"}', None),
        ('{"rating": 1}', None),
        ('{"rating": "delivery"}', None),
        ('{"rating": "refund", "rating": "refund"}', None),
        ("refund", None),
    ],
)
def test_a_schema_lists_labels(text: str, label: float | None) -> None:
    scale = replace(INTENTS, allows_not_applicable=True)
    schema = schema_of(scale, "rating")
    assert schema is not None
    assert schema["properties"]["rating"] == {
        "type": "string", "enum": ["billing", "refund", "lost parcel", "n/a"]
    }  # fmt: skip

    read = read_rating(ReplyChoice(text), scale=scale, criterion="intent", form="rating")

    assert (read.value if isinstance(read, Rating) else None) == label


@pytest.mark.parametrize("name", ['the "best"', "café", "back\\slash"])
def test_a_label_may_be_escaped_in_json(name: str) -> None:
    scale = Scale(0, 1, labels={name: 0.0, "other": 1.0}, is_ordered=False)

    read = read_rating(
        ReplyChoice(json.dumps({"reason": "So.", "rating": name})), scale=scale,
        criterion="c", form="reason",
    )  # fmt: skip

    assert isinstance(read, Rating)
    assert (read.value, read.text) == (0.0, name)


def test_probabilities_of_labels_in_json_are_at_the_label() -> None:
    scale = replace(INTENTS, allows_not_applicable=True)
    question = JudgeQuestion("Which?", "intent", scale, form="rating")
    shares = {'"bill': 0.2, '"n': 0.1, '"': 0.1}
    others = tuple((text, math.log(share)) for text, share in shares.items())
    tokens = (
        Token('{"rating": ', 0.0), Token('"lost', math.log(0.6), others), Token(' parcel"}', 0.0),
    )  # fmt: skip

    outcome = score_choices(
        [answered(ReplyChoice('{"rating": "lost parcel"}', tokens=tokens))], question,
        RequestSettings("m", "logprobs"),
    )  # fmt: skip

    assert isinstance(outcome, Scored)
    assert outcome.value == 2.0
    # That of "n/a" is in no distribution.
    assert outcome.distribution == {0.0: pytest.approx(0.25), 2.0: pytest.approx(0.75)}
    assert outcome.coverage == pytest.approx(0.9)


def test_samples_vote() -> None:
    outcome = scored("samples", *(ReplyChoice(text) for text in ("refund", "billing", "refund")))

    assert isinstance(outcome, Scored)
    assert outcome.value == 1.0
    assert outcome.distribution == {0.0: pytest.approx(1 / 3), 1.0: pytest.approx(2 / 3)}


def test_probabilities_are_those_of_a_labels_first_token() -> None:
    shares = {"bill": 0.3, "ref": 0.05, "x": 0.05}
    others = tuple((text, math.log(share)) for text, share in shares.items())
    tokens = (Token("lost", math.log(0.6), others), Token(" parcel", 0.0))

    outcome = scored("logprobs", ReplyChoice("lost parcel", tokens=tokens))

    assert isinstance(outcome, Scored)
    assert outcome.value == 2.0
    assert outcome.distribution[0.0] == pytest.approx(0.3 / 0.95)
    assert outcome.coverage == pytest.approx(0.95)


def test_a_token_that_begins_two_labels_tells_neither() -> None:
    scale = Scale(0, 1, labels={"refused": 0.0, "refunded": 1.0}, is_ordered=False)
    question = JudgeQuestion("Which?", "outcome", scale)
    choice = ReplyChoice("refused", tokens=(Token("ref", 0.0), Token("used", 0.0)))

    outcome = score_choices([answered(choice)], question, RequestSettings("m", "logprobs"))

    assert isinstance(outcome, Failure)
