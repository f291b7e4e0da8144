"""A judge may answer "n/a" where its criterion allows it, however replies are read."""

import json
import math
from typing import Any

import pytest

from geval.llm.calls import Answer
from geval.llm.judgement import JudgeQuestion, score_choices
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import ReplyChoice, Token
from geval.llm.request_settings import Mode, RequestSettings
from geval.llm.scoring import Scored
from geval.llm.structured import schema_of
from geval.statistics.scales import Scale

FIVE = Scale(1, 5, allows_not_applicable=True)
TEN = Scale(1, 10, allows_not_applicable=True)
YES_NO = Scale(0, 1, labels={"No": 0.0, "Yes": 1.0}, allows_not_applicable=True)
TONES = Scale(
    0, 1, labels={"neutral": 0.0, "rude": 1.0}, is_ordered=False, allows_not_applicable=True
)


def scored(mode: Mode, scale: Scale, *choices: ReplyChoice, form: Any = "text") -> Scored | Failure:
    question = JudgeQuestion("How polite?", "politeness", scale, form=form)
    answer = Answer(choices, "m", "", 1, 1, 1, 0.1)
    return score_choices([answer], question, RequestSettings("m", mode))


def outcome_in_words(outcome: Scored | Failure) -> str | float:
    if isinstance(outcome, Failure):
        return str(outcome.reason)
    assert outcome.is_not_applicable == math.isnan(outcome.value)
    return "n/a" if outcome.number is None else outcome.number


@pytest.mark.parametrize(
    ("reply", "scale", "outcome"),
    [
        ("n/a", FIVE, "n/a"),
        ("- Politeness: N/A", FIVE, "n/a"),
        ("**Score**: n/a.", FIVE, "n/a"),
        ("Politeness: Not applicable", FIVE, "n/a"),
        ("n/a - nobody is addressed in it", FIVE, "n/a"),
        ('{"politeness": "n/a"}', FIVE, "n/a"),
        ("<score>n/a</score>", FIVE, "n/a"),
        ("Politeness (1-5, or n/a where it does not apply or cannot be assessed): 4", FIVE, 4.0),
        ("Politeness: 4", FIVE, 4.0),
        ("4 (the closing is n/a)", FIVE, 4.0),
        ("Politeness: n/a\nPoliteness: 4", FIVE, "two_ratings"),
        ("I cannot rate this.", FIVE, "refusal"),
        ("I'm sorry, but I can't assess this text.", FIVE, "refusal"),
        ("Politeness: 7", FIVE, "out_of_scale"),
        ("n/a", Scale(1, 5), "no_rating"),
        ("n/a", YES_NO, "n/a"),
        ("No", YES_NO, 0.0),
        ("N/A", TONES, "n/a"),
        ("neutral", TONES, 0.0),
        ("1", TONES, "no_rating"),
    ],
)
def test_a_text_is_read(reply: str, scale: Scale, outcome: str | float) -> None:
    assert outcome_in_words(scored("direct", scale, ReplyChoice(reply))) == outcome


@pytest.mark.parametrize(
    ("replies", "outcome", "share"),
    [
        (("n/a", "n/a", "4"), "n/a", 2 / 3),
        (("n/a", "4", "n/a", "5"), 4.5, 0.5),
        (("n/a", "4", "5"), 4.5, 1 / 3),
        (("n/a", "n/a"), "n/a", 1.0),
        (("4", "5"), 4.5, 0.0),
    ],
)
def test_samples_vote(replies: tuple[str, ...], outcome: str | float, share: float) -> None:
    result = scored("samples", FIVE, *map(ReplyChoice, replies))

    assert isinstance(result, Scored)
    assert outcome_in_words(result) == outcome
    assert result.not_applicable == pytest.approx(share)


def test_a_sampled_refusal_is_no_vote() -> None:
    result = scored("samples", FIVE, *map(ReplyChoice, ("I cannot rate this.", "4")))

    assert isinstance(result, Scored)
    assert (result.value, result.not_applicable) == (4.0, 0.0)


def first(reply: str, chosen: str, shares: dict[str, float]) -> ReplyChoice:
    """A reply whose first token has these alternatives."""
    others = tuple((text, math.log(p)) for text, p in shares.items() if text != chosen)
    rest = reply[len(chosen) :]
    tokens = (
        Token(chosen, math.log(shares[chosen]), others),
        *([Token(rest, 0.0)] if rest else []),
    )
    return ReplyChoice(reply, tokens=tokens)


@pytest.mark.parametrize(
    ("scale", "reply", "chosen", "shares", "outcome", "share"),
    [
        (FIVE, "n/a", "n", {"n": 0.7, "4": 0.2, "5": 0.1}, "n/a", 0.7),
        (FIVE, "N/A", "N", {"N": 0.5, "4": 0.3, "n": 0.1}, "n/a", 0.6 / 0.9),
        (FIVE, "4", "4", {"4": 0.4, "5": 0.4, "n": 0.2}, 4.5, 0.2),
        (FIVE, "n/a", "n", {"n": 0.5, "4": 0.25, "5": 0.25}, 4.5, 0.5),
        (FIVE, "n/a", "n/a", {"n/a": 1.0}, "n/a", 1.0),
        (TEN, "n/a", "n", {"n": 0.9, "10": 0.1}, "n/a", 0.9),
        (YES_NO, "No", "No", {"No": 0.6, "N": 0.3, "Yes": 0.1}, 1 / 7, 0.0),
        (YES_NO, "N/A", "N", {"N": 0.6, "No": 0.3, "Yes": 0.1}, "n/a", 0.6),
        (TONES, "n/a", "n", {"n": 0.6, "neutral": 0.4}, "n/a", 0.6),
        (TONES, "neutral", "neutral", {"neutral": 0.6, "N/A": 0.4}, 0.0, 0.4),
        (TONES, "neutral", "ne", {"ne": 0.6, "n": 0.4}, 0.0, 0.0),
    ],
)
def test_probabilities_leave_it_out_of_the_mean(
    scale: Scale, reply: str, chosen: str, shares: dict[str, float], outcome: Any, share: float
) -> None:
    result = scored("logprobs", scale, first(reply, chosen, shares))

    assert isinstance(result, Scored)
    assert outcome_in_words(result) == (
        outcome if isinstance(outcome, str) else pytest.approx(outcome)
    )
    assert result.not_applicable == pytest.approx(share)
    assert sum(result.written_distribution.values()) == pytest.approx(1)
    assert result.written_distribution.get("n/a", 0) == pytest.approx(share)


def test_coverage_counts_it() -> None:
    result = scored("logprobs", FIVE, first("4", "4", {"4": 0.5, "n": 0.3, "x": 0.2}))

    assert isinstance(result, Scored)
    assert result.coverage == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("rating", "scale", "outcome"),
    [
        ("n/a", FIVE, "n/a"),
        (4, FIVE, 4.0),
        ("4", FIVE, str(Reason.SCHEMA)),
        ("N/A", FIVE, str(Reason.SCHEMA)),
        ("n/a", Scale(1, 5), str(Reason.SCHEMA)),
    ],
)
def test_json_has_it_in_its_enum(rating: Any, scale: Scale, outcome: Any) -> None:
    schema = schema_of(scale, "rating")
    assert schema is not None
    assert ("n/a" in schema["properties"]["rating"]["enum"]) == scale.allows_not_applicable

    reply = ReplyChoice(json.dumps({"rating": rating}))
    assert outcome_in_words(scored("direct", scale, reply, form="rating")) == outcome


@pytest.mark.parametrize(
    ("tokens", "outcome", "share"),
    [
        (["4", "}"], 4.0, 0.3),
        (['"', "n", '/a"}'], "n/a", 0.7),
        (['"n', '/a"', "}"], "n/a", 0.7),
    ],
)
def test_json_is_weighted_at_the_token_of_its_rating(
    tokens: list[str], outcome: Any, share: float
) -> None:
    chosen, *rest = tokens
    other = '"' if chosen == "4" else "4"
    likely = 0.7
    place = Token(chosen, math.log(likely), ((other, math.log(1 - likely)),))
    listed = (Token('{"rating":', 0.0), place, *(Token(text, 0.0) for text in rest))
    reply = ReplyChoice("".join(each.text for each in listed), tokens=listed)

    result = scored("logprobs", FIVE, reply, form="rating")

    assert isinstance(result, Scored)
    assert (outcome_in_words(result), result.not_applicable) == (outcome, pytest.approx(share))
