"""What a judge's requests may carry beside what it sets itself; what may not is refused with the
reason, and requests without options are what they were."""

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from geval.llm.judge_settings import JudgeSettings
from geval.llm.judgement import first_request
from geval.llm.request_options import MOST_CHARACTERS, MOST_DEPTH, options_text, read_options
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import OWN_PARAMETERS, ChatRequest, request_key
from geval.llm.server_fit import INSTRUCTING_ROLES, LENGTH_PARAMETERS

USUAL: list[dict[str, Any]] = [
    {"reasoning_effort": "low", "verbosity": "low", "seed": 7, "service_tier": "flex"},
    {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20, "min_p": 0.05},
    {"provider": {"order": ["a", "b"], "allow_fallbacks": False, "max_price": {"prompt": 1}}},
    {"thinking": {"type": "enabled", "budget_tokens": 2000}},
    {"extra_body": {"google": {"thinking_config": {"thinking_budget": 0}}}},
    {"reasoning": {"max_tokens": 2000, "exclude": None}},
]


@pytest.mark.parametrize("options", USUAL, ids=lambda options: next(iter(options)))
def test_what_providers_document_is_taken(options: dict[str, Any]) -> None:
    assert read_options(options) == options
    assert read_options(options_text(options)) == options


@pytest.mark.parametrize("nothing", [None, "", "  ", {}, "{}"])
def test_nothing_is_no_options(nothing: object) -> None:
    assert read_options(nothing) == {}
    assert options_text({}) == ""


def nested(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return {"a": value}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"temperature": 1}, "“temperature” is set by the judge itself"),
        ({"models": ["a", "b"]}, "“models” is set by the judge itself"),
        ({"api_key": "x"}, "“api_key” looks like a key"),
        ({"extra_headers": {}}, "“extra_headers” looks like a key"),
        ({"a": {"Authorization": "x"}}, "“Authorization” looks like a key"),
        ({"a": [{"access-token": "x"}]}, "“access-token” looks like a key"),
        ({"user": "sk-or-v1-0123456789abcdef"}, "“user” looks like a key"),
        ({"api_base": "http://169.254.169.254"}, "“api_base” is an address"),
        ({"a": float("nan")}, "“a” is no JSON number"),
        ('{"a": Infinity}', "“a” is no JSON number"),
        ({"a": [2**63]}, "“a” is a number beyond 64 bits"),
        ({"a": "\0"}, "“a” has characters that cannot be stored"),
        ({"\ud800": 1}, "a name in request options is not a text"),
        (nested(MOST_DEPTH), f"nested at most {MOST_DEPTH} deep"),
        ("[" * 100_000, "are a JSON object"),
        ({"a": "x" * MOST_CHARACTERS}, f"at most {MOST_CHARACTERS} characters"),
        ([1], "are a JSON object"),
        ("low", "are a JSON object"),
        ({"a": {1, 2}}, "“a” is no JSON number"),
    ],
)
def test_anything_else_is_refused_with_the_reason(options: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_options(options)


def test_options_up_to_the_limits_are_taken() -> None:
    deepest = nested(MOST_DEPTH - 1)
    longest = {"a": "x" * (MOST_CHARACTERS - len('{"a": ""}'))}

    assert [read_options(deepest), read_options(longest)] == [deepest, longest]


def test_whatever_a_request_sets_itself_no_option_can_set() -> None:
    request = ChatRequest("m", "p", system="s", n=2, top_logprobs=5, extra={"top_p": 1.0})
    variants = itertools.product(LENGTH_PARAMETERS, INSTRUCTING_ROLES[:2])
    bodies = [
        replace(request, length_parameter=length, system_role=role).body()
        for length, role in variants
    ]

    assert {name for body in bodies for name in body} <= OWN_PARAMETERS


def test_options_are_part_of_a_request_and_of_its_digest() -> None:
    settings = RequestSettings("m", "samples")
    with_options = replace(settings, options={"reasoning_effort": "low"})
    plain, carrying = first_request(settings, "Rate it."), first_request(with_options, "Rate it.")

    assert carrying.body() == plain.body() | {"reasoning_effort": "low"}
    assert request_key("http://x/v1", plain) != request_key("http://x/v1", carrying)


def test_what_the_judge_sets_wins_over_options_that_nobody_checked() -> None:
    body = ChatRequest("m", "p", options={"model": "other", "messages": []}).body()

    assert (body["model"], body["messages"][0]["content"]) == ("m", "p")


def test_a_request_without_options_has_the_digest_of_earlier_versions() -> None:
    request = first_request(RequestSettings("m", "logprobs"), "Rate it.")

    assert request_key("http://x/v1", request) == (
        "3c770b6ccb0ac9bc47b708d2fa80d7b9e4038a518327545f78f9fef4550bc542"
    )


def test_settings_take_options_as_text_or_json() -> None:
    text = JudgeSettings.model_validate({"request_options": '{"seed": 1}'})

    assert text.request_options == JudgeSettings(request_options={"seed": 1}).request_options
    assert json.loads(text.model_dump_json())["request_options"] == {"seed": 1}
    with pytest.raises(ValidationError, match="set by the judge itself"):
        JudgeSettings(request_options={"stream": True})
