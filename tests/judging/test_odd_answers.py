"""Answers with HTTP 200 that are no chat completion as it was asked for: errors, streams, bytes
before the JSON, calls of tools, answers within a thought, usage of zeros."""

import asyncio
import json
from typing import Any

import pytest

from geval.llm.calls import RetryPolicy, ask_until_answered
from geval.llm.cost import with_counts
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.metering import CallUsage, ask_counted
from geval.llm.replies import Reply, ReplyChoice
from geval.llm.requests import ChatRequest
from geval.llm.responses import FailedError
from geval.llm.wire import MalformedError, read_chat_answer
from tests.decision_server import json_server
from tests.servers.asking import reply_at

REQUEST = ChatRequest("m", "Rate it.")
USAGE = {"prompt_tokens": 9, "completion_tokens": 2}


def completion(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"} | more], "usage": USAGE}


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta} | more]}


def streamed(*chunks: Any, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + end).encode()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"error": {"code": 429, "message": "Slow down."}}, ErrorKind.RATE_LIMIT),
        ({"error": {"code": "429"}}, ErrorKind.RATE_LIMIT),
        ({"error": {"message": "m", "type": "rate_limit_error"}}, ErrorKind.RATE_LIMIT),
        ({"error": {"code": 502, "message": "m"}, "choices": []}, ErrorKind.SERVER),
        ({"error": {"code": 503, "message": "m"}}, ErrorKind.OVERLOADED),
        ({"error": {"code": "insufficient_quota", "message": "m"}}, ErrorKind.QUOTA),
        ({"error": {"code": 401, "message": "m"}}, ErrorKind.AUTHENTICATION),
        ({"error": {"code": 400, "message": "No logprobs."}}, ErrorKind.BAD_REQUEST),
        ({"error": "It failed."}, ErrorKind.BAD_REQUEST),
        ({"object": "error", "message": "m", "code": 429}, ErrorKind.RATE_LIMIT),
        (
            {"choices": [{"error": {"code": 429}, "message": {"content": ""}}]},
            ErrorKind.RATE_LIMIT,
        ),
        (streamed({"error": {"code": 429}}), ErrorKind.RATE_LIMIT),
    ],
)
def test_error_within_200_has_its_code_and_costs_nothing(answer: Any, kind: ErrorKind) -> None:
    spent = CallUsage()

    with json_server(lambda _body: answer) as (base_url, _), pytest.raises(EndpointError) as raised:
        asyncio.run(counted_call(base_url, spent))

    assert raised.value.kind == kind
    assert spent == CallUsage(calls=1)


async def counted_call(base_url: str, spent: CallUsage) -> Reply:
    async with Client(base_url, "", timeout=10, allow_private=True) as client:
        return await ask_counted(client, REQUEST, spent)


def test_content_filter_within_200_is_a_refusal() -> None:
    answer = {"error": {"code": "content_filter", "message": "Blocked."}}

    with json_server(lambda _body: answer) as (base_url, _):
        reply = reply_at(base_url, REQUEST)

    assert "Blocked" in reply.choices[0].refusal


def test_rate_limit_within_200_is_waited_for() -> None:
    answers = iter([{"error": {"code": 429}}, completion({"content": "4"})])

    async def ask(base_url: str) -> str:
        policy = RetryPolicy(first_wait=0.001, rate_limit_patience=60)
        async with Client(base_url, "", timeout=10, allow_private=True) as client:
            answer = await ask_until_answered(client.chat, REQUEST, policy=policy)
        return answer.choices[0].text

    with json_server(lambda _body: next(answers)) as (base_url, _):
        assert asyncio.run(ask(base_url)) == "4"


LOGPROBS = [{"token": token, "logprob": -0.1} for token in ("Score: ", "4")]


@pytest.mark.parametrize(
    "content",
    [
        streamed(
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning_content": "Hm."}),
            chunk({"content": "Score: "}, logprobs={"content": LOGPROBS[:1]}),
            chunk({"content": "4"}, logprobs={"content": LOGPROBS[1:]}),
            chunk({}, finish_reason="stop"),
            {"choices": [], "usage": USAGE},
        ),
        b": OPENROUTER PROCESSING\n\nevent: message\n"
        + streamed(
            chunk({"reasoning_content": "Hm."}),
            chunk({"content": "Score: 4"}, logprobs={"content": LOGPROBS}) | {"usage": USAGE},
        ),
    ],
)
def test_stream_is_read_as_its_reply(content: bytes) -> None:
    reply = read_chat_answer(content)

    choice = reply.choices[0]
    assert (choice.text, choice.thought, choice.finish_reason) == ("Score: 4", "Hm.", "stop")
    assert [token.text for token in choice.tokens or ()] == ["Score: ", "4"]
    assert (reply.prompt_tokens, reply.completion_tokens, reply.model) == (9, 2, "m")


def test_stream_of_several_choices_keeps_them_apart() -> None:
    second = {"index": 1, "delta": {"content": "5"}, "finish_reason": "length"}
    content = streamed(chunk({"content": "4"}, finish_reason="stop"), {"choices": [second]})

    choices = read_chat_answer(content, n=2).choices

    assert [(each.text, each.is_cut) for each in choices] == [("4", False), ("5", True)]


def test_streamed_response_is_its_last_event() -> None:
    part = {"type": "output_text", "text": "4", "annotations": []}
    message = {"type": "message", "role": "assistant", "content": [part]}
    response = {"object": "response", "status": "completed", "output": [message]}
    content = streamed(
        {"type": "response.created"}, {"type": "response.completed", "response": response}
    )

    assert read_chat_answer(content).choices[0].text == "4"


@pytest.mark.parametrize(
    "content",
    [
        streamed(chunk({"content": "4"}), end=""),
        streamed(chunk({"content": 4})),
        streamed(chunk({"content": ["4"]})),
        streamed({"choices": 7}),
        streamed({"choices": [7]}),
        streamed(7),
        streamed({"type": "response.completed"}),
        streamed(),
    ],
)
def test_broken_stream_is_malformed(content: bytes) -> None:
    with pytest.raises(MalformedError):
        read_chat_answer(content)


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b" \n\n", b": processing\n\n", b"\0\0"])
def test_bytes_before_the_json_are_left_out(before: bytes) -> None:
    content = before + json.dumps(completion({"content": "4"})).encode()

    assert read_chat_answer(content).choices[0].text == "4"


def test_bytes_after_the_json_are_malformed() -> None:
    with pytest.raises(MalformedError):
        read_chat_answer(json.dumps(completion({"content": "4"})).encode() + b" x")


def test_error_beside_a_text_is_an_error() -> None:
    content = json.dumps(completion({"content": "4"}) | {"error": {"code": 500}}).encode()

    with pytest.raises(FailedError):
        read_chat_answer(content)


@pytest.mark.parametrize(
    ("counts", "text", "thought", "expected"),
    [
        ((0, 0), "four", "", (7, 1)),
        ((0, 3), "four", "", (7, 3)),
        ((5, 0), "four" * 10, "", (5, 10)),
        ((None, None), "", "a thought", (7, 3)),
        ((None, None), "", "", (7, 1)),
        ((5, 0), "", "", (5, 0)),
        ((5, 3), "four", "", (5, 3)),
    ],
)
def test_usage_of_zeros_for_a_text_is_estimated(
    counts: tuple[int | None, int | None], text: str, thought: str, expected: tuple[int, int]
) -> None:
    choice = ReplyChoice(text, thought=thought)
    reply = Reply((choice,), prompt_tokens=counts[0], completion_tokens=counts[1])

    counted = with_counts(reply, 7)

    assert (counted.prompt_tokens, counted.completion_tokens) == expected


def test_calls_count_estimates_for_usage_of_zeros() -> None:
    spent = CallUsage()
    answer = completion({"content": "4"}) | {"usage": {"prompt_tokens": 0, "completion_tokens": 0}}

    with json_server(lambda _body: answer) as (base_url, _):
        asyncio.run(counted_call(base_url, spent))

    assert spent == CallUsage(1, 2, 1)
