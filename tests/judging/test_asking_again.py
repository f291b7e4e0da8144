"""Unreadable replies are asked for again only where another reply can help; the first one that can
be read counts, and a later one is noted."""

import asyncio

import pytest

from geval.llm.calls import Answer
from geval.llm.judgement import Judgement, JudgeQuestion, judge, readable_choices
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import ReplyChoice
from geval.llm.request_settings import Mode, RequestSettings
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale

QUESTION = JudgeQuestion("Rate it.", "coherence", Scale(1, 5))


def settings_of(mode: Mode = "direct", temperature: float | None = 0.0) -> RequestSettings:
    return RequestSettings("m", mode, temperature=temperature, samples=2)


def judged(settings: RequestSettings, *replies: ReplyChoice) -> Judgement:
    """A question put to a model that gives these replies, one after the other."""
    coming = list(replies)

    async def ask(request: ChatRequest) -> Answer:
        choices = tuple(coming.pop(0) for _ in range(min(request.n, len(coming))))
        return Answer(choices, "m", "", 1, 1, 1, 0.0)

    return asyncio.run(judge(QUESTION, settings, ask))


UNREADABLE = ReplyChoice("The text reads well.")


def test_at_temperature_0_an_unreadable_reply_is_asked_for_once_more() -> None:
    judgement = judged(settings_of(), *[UNREADABLE] * 5)

    assert len(judgement.answers) == 2
    assert isinstance(judgement.outcome, Failure)
    assert judgement.outcome.reason == Reason.NO_RATING


@pytest.mark.parametrize("temperature", [0.7, None])
def test_where_replies_differ_it_is_asked_for_twice_more(temperature: float | None) -> None:
    assert len(judged(settings_of(temperature=temperature), *[UNREADABLE] * 5).answers) == 3


def test_at_temperature_0_a_cut_reply_is_not_asked_for_again() -> None:
    cut = ReplyChoice("The text reads", finish_reason="length")

    assert len(judged(settings_of(), cut, cut).answers) == 1
    assert len(judged(settings_of(temperature=1.0), cut, cut, cut).answers) == 3


def test_a_later_reply_counts_and_says_that_it_does() -> None:
    judgement = judged(settings_of(), UNREADABLE, ReplyChoice("4"))

    assert isinstance(judgement.outcome, Scored)
    note = judgement.outcome.note
    assert judgement.outcome == Scored(4.0, {4.0: 1.0}, note=note)
    assert note.endswith("this score is from reply 2.")
    assert readable_choices(list(judgement.answers), QUESTION, settings_of())[0].text == "4"


def test_the_first_readable_reply_counts_without_a_note() -> None:
    judgement = judged(settings_of(), ReplyChoice("4"), ReplyChoice("2"))

    assert len(judgement.answers) == 1
    assert judgement.outcome == Scored(4.0, {4.0: 1.0})


def test_stored_replies_are_read_like_those_that_just_came() -> None:
    from geval.llm.judgement import score_choices

    stored = Answer((UNREADABLE, ReplyChoice("4"), ReplyChoice("2")), "m", "", 0, 0, 0, 0.0)
    outcome = score_choices([stored], QUESTION, settings_of())

    assert isinstance(outcome, Scored)
    assert outcome.value == 4
