"""What a judge's requests may carry beside what it sets itself; what may not is refused with the
reason, and requests without options are what they were."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from geval.llm.judgement import first_request
from geval.llm.request_options import (
    MOST_CHARACTERS,
    MOST_DEPTH,
    options_text,
    read_options,
    why_refused,
)
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
    {"safety_settings": [{"category": "HARM_CATEGORY_SEXUALLY_EXPLICIT", "threshold": "OFF"}]},
    {"provider": {"only": ["google-vertex/us-central1", "deepinfra/fp8"], "zdr": True}},
    {"guided_json": {"type": "object", "additionalProperties": False}},
    {"guided_grammar": 'root ::= "Rating: " [1-5] "\\n"', "guided_regex": r"\d(\.\d+)?"},
    {"logit_bias": {"50256": -100}, "repetition_penalty": 1.05, "mirostat": 2},
    {"text": {"verbosity": "low"}, "truncation": "auto", "prompt_cache_retention": "24h"},
]
# Made up, in the shapes that providers give out.
LETTERS, HEX = "aB3dE6gH1jK4mN7pQ0sT5vW8yZ2c", "0123456789abcdef"
KEYS = [
    f"sk-{LETTERS}", f"sk-proj-{LETTERS}", f"sk-ant-api03-{LETTERS}", f"sk-or-v1-{HEX}",
    "sk-short", f"sk_live_{LETTERS}", f"pk-lf-{HEX}", f"gsk_{LETTERS}", f"hf_{LETTERS}",
    f"AIza{LETTERS}", f"ya29.{LETTERS}", "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", f"ghp_{LETTERS}", f"github_pat_{LETTERS}",
    f"glpat-{HEX}", "xoxb-123456789012-abc", f"xai-{LETTERS}", f"nvapi-{LETTERS}", f"pplx-{HEX}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "Bearer hunter2", "Basic dXNlcjpwYXNz",
    f"{HEX}{HEX}", "550e8400-e29b-41d4-a716-446655440000", "-----BEGIN PRIVATE KEY-----",
]  # fmt: skip
KEY_NAMES = [
    "api_key", "apiKey", "api-key", "x-api-key", "key", "Ocp-Apim-Subscription-Key", "token",
    "access-token", "auth_token", "id_token", "auth", "Authorization", "authorisation", "secret",
    "client_secret", "password", "passwd", "passphrase", "credentials", "cookie", "set-cookie",
    "extra_headers", "bearer", "private_key", "jwt", "session",
]  # fmt: skip
ADDRESSES = [
    "http://169.254.169.254", "https://a.example/v1", "HTTPS://A.EXAMPLE", " http://a", "//a/b",
    "http:\\\\a", "http:a", "ftp://a", "file:///etc/passwd", "ws://a", "gopher://a", "s3://a/b",
    "unix:/run/a", "javascript:alert(1)", "data:text/plain,a", "http%3A%2F%2Fa", "127.0.0.1",
    "127.0.0.1:80", "0x7f000001", "[::1]", "fe80::1", "localhost", "gateway:8080", "a.example.com",
    "user@gateway", "/etc/passwd", "ｈｔｔｐ：／／a", "local\u200bhost",
]  # fmt: skip
ADDRESS_NAMES = [
    "api_base", "base_url", "baseURL", "url", "uri", "endpoint", "azure_endpoint", "host",
    "hostname", "proxy", "proxies", "http_proxy", "webhook", "callback", "server", "address",
    "base", "domain", "callback_url", "image_url", "server_url", "api-base", "urls", "apiBase",
    "server_name", "ENDPOINTS", "custom_host",
]  # fmt: skip
OTHERS = [
    "user", "metadata", "plugins", "web_search_options", "mcp_servers", "transforms", "prediction",
    "audio", "modalities", "parallel_tool_calls", "best_of", "use_beam_search", "safety_identifier",
    "prompt_cache_key", "options", "mock_response", "Store", "store ", "litellm_params", "a",
]  # fmt: skip


@pytest.mark.parametrize("name", [*KEY_NAMES, *ADDRESS_NAMES, *OTHERS])
def test_only_names_of_the_list_are_sent(name: str) -> None:
    for options in ({name: True}, {"extra_body": {name: True}}):
        with pytest.raises(ValueError, match=r"not an option .* endpoint; allowed are .*\bseed\b"):
            read_options(options)


def anywhere(part: Any) -> list[dict[str, Any]]:
    free = {"chat_template_kwargs": {"a": part}}
    return [free, {"extra_body": free}, {"samplers": [part]}, {"reasoning_effort": part}]


@pytest.mark.parametrize(
    ("kind", "value"), [*(("key", key) for key in KEYS), *(("address", at) for at in ADDRESSES)]
)
def test_no_value_that_looks_like_a_key_or_an_address_is_sent(kind: str, value: str) -> None:
    for options in (*anywhere(value), *anywhere({value: 1}), *anywhere(f"see {value} there")[:1]):
        with pytest.raises(ValueError, match=r"looks like a(n address| key).* endpoint"):
            read_options(options)


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("a key", n) for n in KEY_NAMES), *(("an address", n) for n in ADDRESS_NAMES)],
)
def test_no_name_of_a_key_or_an_address_is_sent(kind: str, name: str) -> None:
    for options in anywhere({name: "x"}):
        with pytest.raises(ValueError, match=f"looks like {kind}"):
            read_options(options)


@pytest.mark.parametrize("name", ["chat_template", "messages", "tools", "tokenize"])
def test_no_option_changes_what_a_template_is_given(name: str) -> None:
    of_template = {"chat_template_kwargs": {"enable_thinking": False, name: "x"}}
    for options in (of_template, {"extra_body": of_template}):
        with pytest.raises(ValueError, match=f"“chat_template_kwargs.{name}” changes what is"):
            read_options(options)


@pytest.mark.parametrize("options", [{"store": True}, {"extra_body": {"store": True}}])
def test_no_option_has_the_provider_store_replies(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="“store” is set by the judge itself"):
        read_options(options)
    assert why_refused(options).endswith("Edit the judge.")
    assert not why_refused({"seed": 1})


@pytest.mark.parametrize("options", USUAL, ids=lambda options: next(iter(options)))
def test_what_providers_document_is_taken(options: dict[str, Any]) -> None:
    assert read_options(options) == options
    assert read_options(options_text(options)) == options


def nested(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return {"thinking": value}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"temperature": 1}, "“temperature” is set by the judge itself"),
        ({"models": ["a", "b"]}, "“models” is set by the judge itself"),
        ({"seed": float("nan")}, "“seed” is no JSON number"),
        ('{"seed": Infinity}', "“seed” is no JSON number"),
        ({"samplers": [2**63]}, "“samplers” is a number beyond 64 bits"),
        ({"seed": "\0"}, "“seed” has characters that cannot be stored"),
        ({"\ud800": 1}, "a name in request options is not a text"),
        (nested(MOST_DEPTH), f"nested at most {MOST_DEPTH} deep"),
        ("[" * 100_000, "are a JSON object"),
        ({"regex": "(" * MOST_CHARACTERS}, f"at most {MOST_CHARACTERS} characters"),
        ([1], "are a JSON object"),
        ("low", "are a JSON object"),
        ({"seed": {1, 2}}, "“seed” is no JSON number"),
    ],
)
def test_anything_else_is_refused_with_the_reason(options: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_options(options)


def test_options_up_to_the_limits_are_taken() -> None:
    deepest = nested(MOST_DEPTH - 1)
    longest = {"regex": "(" * (MOST_CHARACTERS - len('{"regex": ""}'))}

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


def test_request_keys_tell_everything_apart_that_changes_an_answer() -> None:
    plain = ChatRequest(model="m", prompt="p")
    others = [
        replace(plain, model="n"),
        replace(plain, prompt="q"),
        replace(plain, temperature=1.0),
        replace(plain, n=2),
        replace(plain, max_tokens=33),
        replace(plain, top_logprobs=20),
    ]
    keys = {request_key("http://a/v1", request) for request in [plain, *others]}

    assert len(keys | {request_key("http://b/v1", plain)}) == 8
    assert request_key("http://a/v1", replace(plain)) in keys
