"""Gemini's Decisions API: System One's questions in a request and under a key of its own."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from geval.llm import wire
from geval.llm.decisions import DecisionRequest, TypedQuestion, score_decision
from geval.llm.endpoints import Client
from geval.llm.parsing import Failure, Reason
from geval.llm.replies import Reply
from geval.llm.scoring import Scored

KEY = "AIza-not-a-real-key"
RATED = TypedQuestion("How clear?", ("1: bad", "2", "3: good"))
STATED = TypedQuestion("It is clear.")
REQUEST = DecisionRequest("gemini-decision-1", "At ten.", (RATED, STATED), "gemini")
# As the types of google-genai 3.6.1 have them (_gaos/types/decisions).
ANSWERS = {
    "rating_1": {
        "type": "score", "score": 1.4, "confidence": 0.5,
        "probabilities": {"0": 0.1, "1": 0.4, "2": 0.5},
        "legend": {"0": "1: bad", "1": "2", "2": "3: good"},
    },
    "rating_2": {"type": "noul", "noul": 0.99, "confidence": 0.99},
}  # fmt: skip
USAGE = {"total_input_tokens": 40, "total_cached_tokens": 8, "total_output_tokens": 0}


def read(**reply: Any) -> Reply:
    return wire.read_decision(
        json.dumps(reply).encode(), protocol="gemini", questions=REQUEST.questions
    )


def test_a_request_has_one_input_and_questions_by_name() -> None:
    assert REQUEST.body() == {
        "model": "gemini-decision-1",
        "input": "At ten.",
        "questions": {
            "rating_1": {
                "instructions": "How clear?",
                "type": "score",
                "criteria": ["1: bad", "2", "3: good"],
            },
            "rating_2": {"instructions": "It is clear.", "type": "noul"},
        },
    }


def test_its_probabilities_become_scores_and_its_tokens_are_counted() -> None:
    reply = read(answers=ANSWERS, usage=USAGE)

    (text,) = (choice.text for choice in reply.choices)
    rated = score_decision(text, (1, 2, 3), min_coverage=0.5, name="rating_1")
    stated = score_decision(text, (0, 1), min_coverage=0.5, name="rating_2")
    assert isinstance(rated, Scored)
    assert isinstance(stated, Scored)
    assert (rated.value, stated.value) == pytest.approx((2.4, 0.99))
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (40, 8, 0)


@pytest.mark.parametrize("answers", [{}, {"answers": {}}, {"answers": None}])
def test_an_input_that_a_filter_stops_is_declined(answers: dict[str, Any]) -> None:
    reply = read(**answers, prompt_feedback={"block_reason": "safety"}, usage=USAGE)

    outcome = score_decision(reply.choices[0].text, (1, 2, 3), min_coverage=0, name="rating_1")

    assert isinstance(outcome, Failure)
    assert outcome.reason == Reason.REFUSAL


@pytest.mark.parametrize("feedback", [None, {}, {"block_reason": ""}, "safety"])
def test_no_answers_without_a_reason_are_no_reply(feedback: Any) -> None:
    with pytest.raises(wire.MalformedError, match="no answer to what was asked"):
        read(answers={}, prompt_feedback=feedback)


@pytest.mark.parametrize(
    ("protocol", "header", "value", "other"),
    [
        ("gemini", "x-goog-api-key", KEY, "authorization"),
        ("systemone", "authorization", f"Bearer {KEY}", "x-goog-api-key"),
    ],
)
def test_the_key_is_in_the_header_that_the_server_reads(
    protocol: Any, header: str, value: str, other: str
) -> None:
    seen: list[tuple[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.path, request.headers.copy()))
        return web.json_response({"answers": ANSWERS, "usage": USAGE})

    async def ask() -> None:
        app = web.Application()
        app.router.add_post("/{rest:.*}", answer)
        async with TestServer(app) as server:
            address = str(server.make_url("/v1beta"))
            async with Client(address, KEY, timeout=10, allow_private=True) as client:
                await client.decide(DecisionRequest("m", "At ten.", (RATED, STATED), protocol))

    asyncio.run(ask())

    ((path, headers),) = seen
    assert path == ("/v1beta/decisions" if protocol == "gemini" else "/v1beta/systemone")
    assert headers.get(header) == value
    assert other not in headers
