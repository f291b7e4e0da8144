"""Replies in JSON by a schema of the scale: what is asked for, which replies follow it, and at
which token their rating's probability is."""

import math
from dataclasses import replace

import pytest

from geval.llm.judgement import JudgeQuestion
from geval.llm.parsing import Failure, Rating, Reason
from geval.llm.replies import ReplyChoice, Token
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import request_key
from geval.llm.scoring import Scored, score_by_logprobs
from geval.llm.structured import ReplyForm, read_rating, schema_of
from geval.statistics.scales import Scale

FIVE = Scale(1, 5)


def read(
    text: str, form: ReplyForm = "rating", scale: Scale = FIVE, **choice: str
) -> Rating | Failure:
    return read_rating(ReplyChoice(text, **choice), scale=scale, criterion="coherence", form=form)  # type: ignore[arg-type]


def test_a_schema_has_the_points_of_the_scale_after_a_reason() -> None:
    assert schema_of(FIVE, "text") is None
    assert schema_of(FIVE, "rating") == {
        "type": "object",
        "properties": {"rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]}},
        "required": ["rating"],
        "additionalProperties": False,
    }
    reasoned = schema_of(Scale(0, 1, step=0.5), "reason") or {}
    assert list(reasoned["properties"]) == ["reason", "rating"]
    assert reasoned["properties"]["rating"] == {"type": "number", "enum": [0, 0.5, 1]}
    assert reasoned["required"] == ["reason", "rating"]


def test_a_question_asks_for_its_form_and_text_asks_as_before() -> None:
    question = JudgeQuestion("Rate it.", "coherence", FIVE)
    settings = RequestSettings("m", "logprobs")
    plain = question.request(settings)
    asked = replace(question, form="rating").request(settings)

    assert "response_format" not in plain.body()
    assert asked.body()["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "rating", "strict": True, "schema": schema_of(FIVE, "rating")},
    }
    assert request_key("http://x", plain) != request_key("http://x", asked)


@pytest.mark.parametrize(
    ("text", "form", "value", "position"),
    [
        ('{"rating": 4}', "rating", 4, 11),
        ('\n{\n  "rating" : 4\n}\n', "rating", 4, 16),
        ('{"rating":4.0}', "rating", 4, 10),
        ('{"reason": "3 of 5 are wrong", "rating": 2}', "reason", 2, 41),
        # Some servers write names in the order of the alphabet.
        ('{"rating": 2, "reason": "so"}', "reason", 2, 11),
        (r'{"reason": "\"rating\": 5 is too much", "rating": 1}', "reason", 1, 50),
        (r'{"reason": "a \\", "rating": 1}', "reason", 1, 29),
    ],
)
def test_a_reply_that_follows_its_schema_is_read_at_its_value(
    text: str, form: ReplyForm, value: float, position: int
) -> None:
    rating = read(text, form)

    assert isinstance(rating, Rating)
    assert (rating.value, rating.position) == (value, position)
    assert text[rating.position] == str(int(value))


@pytest.mark.parametrize(
    "text",
    [
        "4", "Coherence: 4", '```json\n{"rating": 4}\n```', '{"rating": 4} {"rating": 4}',
        '{"rating": 4', '{"rating": "4"}', '{"rating": true}', '{"rating": null}',
        '{"rating": [4]}', '{"rating": 6}', '{"rating": 0}', '{"rating": 3.5}', '{"rating": NaN}',
        '{"rating": 1e999}', '{"rating": 4, "rating": 5}', '{"rating": 4, "why": "x"}', "{}", "[4]",
        '{"Rating": 4}', r'{"\u0072ating": 4}', '{"rating": ' + "9" * 5000 + "}", "[" * 100_000,
        '{"reason": "good", "rating": 4}', "null", '"rating": 4',
    ],
)  # fmt: skip
def test_a_reply_that_breaks_it_is_a_failure_with_a_reason(text: str) -> None:
    failure = read(text)

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.SCHEMA
    assert failure.detail.startswith("The reply breaks its schema: ")


def token(text: str, **alternatives: float) -> Token:
    listed = alternatives or {text: 1.0}
    return Token(
        text, math.log(0.99), tuple((name, math.log(share)) for name, share in listed.items())
    )


@pytest.mark.parametrize(
    "tokens",
    [
        (token('{"'), token("rating"), token('":'), token(" 4", **{" 4": 0.6, " 2": 0.3}),
         token("}")),
        (token('{"rating'), token('":4', **{'":4': 0.6, '":2': 0.3}), token("}")),
        (token('{"rating":'), token("4}", **{"4}": 0.5, "4": 0.1, "2": 0.3})),
    ],
    ids=["apart", "with what is before", "with what is behind"],
)  # fmt: skip
def test_probabilities_are_those_of_the_values_token(tokens: tuple[Token, ...]) -> None:
    choice = ReplyChoice("", tokens=tokens)

    scored = score_by_logprobs(choice, scale=FIVE, criterion="coherence", form="rating")

    assert isinstance(scored, Scored)
    assert scored.coverage == pytest.approx(0.9)
    assert scored.value == pytest.approx((4 * 0.6 + 2 * 0.3) / 0.9)


def test_a_number_in_the_reason_has_no_say() -> None:
    texts = [*'{"reason": "a 5', '", "rating": ']
    tokens = (*map(token, texts), token("1", **{"1": 0.8, "2": 0.2}), token("}"))

    scored = score_by_logprobs(
        ReplyChoice("", tokens=tokens), scale=FIVE, criterion="coherence", form="reason"
    )

    assert isinstance(scored, Scored)
    assert scored.distribution == pytest.approx({1: 0.8, 2: 0.2})


def test_two_digits_in_two_tokens_are_resolved() -> None:
    tokens = (
        token('{"rating": '), token("1", **{"1": 0.5, "9": 0.5}),
        token("0", **{"0": 0.8, "}": 0.2}), token("}"),
    )  # fmt: skip

    scored = score_by_logprobs(
        ReplyChoice("", tokens=tokens), scale=Scale(1, 10), criterion="c", form="rating"
    )

    assert isinstance(scored, Scored)
    assert scored.distribution == pytest.approx({1: 0.1, 9: 0.5, 10: 0.4})
