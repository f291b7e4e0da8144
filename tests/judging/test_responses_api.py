"""The Responses API as a transport: what is asked, what is read of its replies, and a judge through
it."""

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geval
from evaluations.judging.runs.accounts import normalised
from geval.llm import wire
from geval.llm.addresses import likely_addresses
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.parsing import Failure
from geval.llm.providers import BY_NAME, provider_at
from geval.llm.request_options import read_options
from geval.llm.requests import ChatRequest, request_key
from geval.llm.responses import FailedError, responses_body, route_at, why_not_at, without_route
from geval.llm.scoring import Scored, score_by_logprobs, score_directly
from geval.llm.structured import schema_of
from geval.statistics.scales import Scale
from geval.texts.stand_in import MODEL
from tests.decision_server import json_server
from tests.evaluating.conftest import DEFINITION, table
from tests.processes import StandInProcess
from tests.servers.asking import reply_at

SCALE = Scale(1, 5)
REQUEST = ChatRequest("m", "Rate this.", max_tokens=32)
TOKEN = {
    "token": "4",
    "logprob": -0.36,
    "bytes": [52],
    "top_logprobs": [
        {"token": "4", "logprob": -0.36, "bytes": [52]},
        {"token": "5", "logprob": -1.2, "bytes": [53]},
    ],
}


def text_part(text: Any = "4", logprobs: Any = None) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}


def message(*content: Any, **changed: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "status": "completed",
            "content": list(content)} | changed  # fmt: skip


def response(*output: Any, **changed: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "m-2026",
        "output": list(output),
        "usage": {
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 0},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 59,
        },
    } | changed


def read(answer: Any) -> Any:
    return wire.read_chat_answer(json.dumps(answer).encode())


# What is asked.


def test_a_question_has_the_forms_of_this_api() -> None:
    asked = replace(REQUEST, temperature=0.0, top_logprobs=20, schema=schema_of(SCALE, "rating"))

    assert responses_body(asked) == {
        "store": False,
        "stream": False,
        "model": "m",
        "input": "Rate this.",
        "max_output_tokens": 32,
        "temperature": 0.0,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 20,
        "text": {
            "format": {
                "type": "json_schema",
                "name": "rating",
                "strict": True,
                "schema": schema_of(SCALE, "rating"),
            }
        },
    }


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"reasoning_effort": "high"}, {"reasoning": {"effort": "high"}}),
        ({"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "low"}}),
        (
            {"reasoning_effort": "high", "reasoning": {"summary": "auto"}},
            {"reasoning": {"effort": "high", "summary": "auto"}},
        ),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        ({"text": {"verbosity": "low"}}, {"text": {"verbosity": "low"}}),
        ({"service_tier": "flex"}, {"service_tier": "flex"}),
    ],
)
def test_options_go_where_this_api_has_them(options: dict[str, Any], sent: dict[str, Any]) -> None:
    body = responses_body(replace(REQUEST, options=options))

    assert {name: body[name] for name in sent} == sent
    assert not {"reasoning_effort", "verbosity"} & body.keys()


@pytest.mark.parametrize(
    "name",
    ["input", "instructions", "include", "max_output_tokens", "conversation", "background",
     "previous_response_id", "store"],
)  # fmt: skip
def test_options_cannot_set_what_the_judge_sets(name: str) -> None:
    with pytest.raises(ValueError, match="is set by the judge itself"):
        read_options({name: "x"})


def test_options_cannot_set_the_form_of_replies() -> None:
    assert read_options({"text": {"verbosity": "low"}})
    with pytest.raises(ValueError, match=r"text\.format"):
        read_options({"text": {"format": {"type": "text"}}})


@pytest.mark.parametrize(
    ("base_url", "route", "rest"),
    [
        ("https://api.openai.com/v1", "/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/responses", "/responses", "https://api.openai.com/v1"),
        ("http://host:8000/v1/responses/", "/responses", "http://host:8000/v1"),
        ("http://responses/v1/", "/chat/completions", "http://responses/v1"),
    ],
)
def test_the_base_url_says_which_api_is_asked(base_url: str, route: str, rest: str) -> None:
    assert (route_at(base_url), without_route(base_url)) == (route, rest)


def test_replies_of_both_apis_are_kept_apart_and_those_of_chats_are_found_again() -> None:
    chat = request_key("https://api.openai.com/v1", REQUEST)

    assert chat == "3c6fe27b13891d7cbe8e1708ce077e68b30b612d26e3f74960325cc12224080a"
    assert chat != request_key("https://api.openai.com/v1/responses", REQUEST)


# What is read.


def test_a_reply_is_read_as_that_of_a_chat() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm, four."}]}

    reply = read(response(thought, message(text_part("4", [TOKEN]))))

    (choice,) = reply.choices
    assert (choice.text, choice.finish_reason, choice.thought) == ("4", "stop", "Hm, four.")
    assert choice.tokens[0].alternatives == (("4", -0.36), ("5", -1.2))
    assert (reply.model, reply.request_id) == ("m-2026", "resp_1")
    assert (reply.prompt_tokens, reply.cached_tokens) == (50, 40)
    assert (reply.completion_tokens, reply.reasoning_tokens) == (9, 8)


@pytest.mark.parametrize(
    ("written", "limit", "is_cut"), [(9, 9, True), (9, 10, False), (9, 8, False), (0, 0, False)]
)
def test_a_reply_of_as_many_tokens_as_it_may_have_is_cut(
    written: int, limit: int, is_cut: bool
) -> None:
    answer = response(message(text_part("4")), usage={"output_tokens": written})

    reply = wire.read_chat_answer(json.dumps(answer).encode(), limit=limit)

    assert reply.choices[0].is_cut == is_cut


def scored(answer: Any, *, by_logprobs: bool = False) -> Scored | Failure | str:
    try:
        choice = read(answer).choices[0]
    except FailedError as error:
        return f"failed: {error}"
    except wire.MalformedError as error:
        return f"malformed: {error}"
    if by_logprobs:
        return score_by_logprobs(choice, scale=SCALE, criterion="coherence")
    return score_directly(choice, scale=SCALE, criterion="coherence")


CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
REFUSED = {"type": "refusal", "refusal": "I cannot rate this."}
COMMENTARY = message(text_part("I looked at 3 things."), phase="commentary")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (response(message(text_part("4"))), 4.0),
        (response(message(text_part("4")), status=None), 4.0),
        (response({"type": "reasoning", "summary": []}, message(text_part("4"))), 4.0),
        (response({"type": "web_search_call", "id": "1"}, message(text_part("4"))), 4.0),
        (response(message(text_part("Rating: "), text_part("4"))), 4.0),
        (response(COMMENTARY, message(text_part("4"), phase="final_answer")), 4.0),
        (response(message(text_part("4"), {"type": "unheard_of", "text": 5})), 4.0),
        (response(message(text_part("4")), usage={"input_tokens": "many"}), 4.0),
        (response(message(text_part("<think>2 or 5</think>4"))), 4.0),
        (response(message(text_part("3"), role="user"), message(text_part("4"))), 4.0),
        (response(message(text_part("4")), message(text_part("5"))), "two_ratings"),
        (response(message(text_part("9"))), "out_of_scale"),
        (response(message(REFUSED)), "refusal"),
        (response(message(text_part("4")), **FILTERED), "refusal"),
        (response(), "empty"),
        (response(COMMENTARY), "empty"),
        (response({"type": "function_call", "name": "f", "arguments": "{}"}), "empty"),
        (response(**CUT), "cut"),
        (response(message(text_part("The rating is"), status="incomplete")), "cut"),
        (response(message(text_part(None))), "malformed: the text of a message"),
        (response(message(text_part("4")) | {"content": "4"}), "malformed: the content of a"),
        (response(message(REFUSED | {"refusal": True})), "malformed: the refusal"),
        (response("4"), "malformed: its output is not a list of items"),
        (response(message(text_part("4")), status="queued"), "malformed: the response is not fin"),
        (response(message(text_part("4", "high"))), "malformed: the log-probabilities"),
        (response(message(text_part("4", [{"token": "4"}]))), "malformed: choices.0.logprobs"),
        (response(message(text_part("4", [TOKEN | {"logprob": 2}]))), "malformed: choices.0.logp"),
        (
            response(status="failed", error={"code": "server_error", "message": "Oops."}),
            "failed: Oops.",
        ),
        (response(status="failed", error=None), "failed: it does not say why"),
        (response(message(text_part("4")), error={"code": "invalid_prompt"}), "failed: invalid_"),
        (
            response(status="failed", error={"code": "bio_policy", "message": "No."}),
            "refusal",
        ),
    ],
)
def test_an_odd_reply_is_read_rightly_or_is_a_failure_with_its_reason(
    answer: Any, outcome: float | str
) -> None:
    result = scored(answer)

    if isinstance(result, str):
        assert isinstance(outcome, str)
        assert result.startswith(outcome)
    else:
        got = result.value if isinstance(result, Scored) else str(result.reason)
        assert got == outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (response(message(text_part("4", [TOKEN]))), 4.3),
        (response(message(text_part("4"))), "no_logprobs"),
        (response(message(text_part("So: "), text_part("4", [TOKEN]))), "no_logprobs"),
        (response(message(text_part(""), text_part("4", [TOKEN]))), 4.3),
        (
            response(
                message(text_part("So:", [TOKEN | {"token": "So:", "top_logprobs": []}])),
                message(text_part("4", [TOKEN])),
            ),
            4.3,
        ),
    ],
)
def test_log_probabilities_are_read_at_the_rating(answer: Any, outcome: float | str) -> None:
    result = scored(answer, by_logprobs=True)

    assert not isinstance(result, str)
    if isinstance(result, Scored):
        assert result.value == pytest.approx(outcome, abs=0.01)
    else:
        assert str(result.reason) == outcome


PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["message", "output_text", "refusal", "reasoning", "incomplete", "failed"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "type", "role", "status", "content", "text", "logprobs", "refusal", "summary", "phase",
        "code", "message", "reason", "token", "logprob", "top_logprobs", "input_tokens",
        "output_tokens", "output_tokens_details", "reasoning_tokens", "total_tokens",
    ]), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


ITEMS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning"])},
    optional={
        name: PARTS | st.lists(st.fixed_dictionaries(
            {"type": st.sampled_from(["output_text", "refusal"])},
            optional={"text": PARTS, "refusal": PARTS, "logprobs": PARTS},
        ))
        for name in ("content", "summary", "status", "role", "phase")
    },
)  # fmt: skip


@given(
    st.fixed_dictionaries(
        {"output": st.lists(ITEMS, max_size=3) | PARTS},
        optional=dict.fromkeys(
            ("status", "error", "incomplete_details", "usage", "id", "model"), PARTS
        ),
    )
)
def test_whatever_a_server_sends_is_read_or_has_a_named_error(answer: dict[str, Any]) -> None:
    with contextlib.suppress(wire.MalformedError, FailedError):
        reply = read({"object": "response"} | answer)
        assert isinstance(reply.choices[0].text, str)


# At a server.


@pytest.mark.parametrize(
    ("code", "more", "kind"),
    [
        ("server_error", {}, ErrorKind.SERVER),
        ("rate_limit_exceeded", {}, ErrorKind.RATE_LIMIT),
        ("invalid_prompt", {}, ErrorKind.BAD_REQUEST),
        ("server_error", {"error_type": "authentication"}, ErrorKind.AUTHENTICATION),
        ("server_error", {"error_type": ["authentication"]}, ErrorKind.SERVER),
    ],
)
def test_a_response_that_failed_is_an_error_of_its_kind(
    code: str, more: dict[str, Any], kind: ErrorKind
) -> None:
    failed = response(status="failed", error={"code": code, "message": "It failed."}, **more)

    with (
        json_server(lambda _body: failed) as (base_url, _asked),
        pytest.raises(EndpointError) as raised,
    ):
        reply_at(f"{base_url}/responses", REQUEST)

    assert raised.value.kind == kind
    assert "It failed." in raised.value.message


@pytest.fixture
def standin(start_standin: Callable[..., StandInProcess]) -> StandInProcess:
    return start_standin()


def judged(base_url: str, **settings: Any) -> geval.Evaluation:
    return geval.evaluate(
        table(6), criterion="coherence", definition=DEFINITION, model=MODEL, base_url=base_url,
        kept_in=None, progress=False, **settings,
    )  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": "direct"},
        {"reply_form": "rating"},
        {"mode": "direct", "reply_form": "reason", "max_tokens": 200},
    ],
)
def test_a_judge_gets_the_same_scores_by_both_apis(
    standin: StandInProcess, settings: Mapping[str, Any]
) -> None:
    chat = judged(standin.base_url, **settings)
    responses = judged(f"{standin.base_url}/responses", **settings)

    assert responses.scores == chat.scores
    assert responses.mode == (settings.get("mode") or "logprobs")


def test_it_is_the_same_account_with_the_same_limits_and_provider() -> None:
    chat, responses = "https://api.openai.com/v1", "https://api.openai.com/v1/responses"

    assert normalised(chat) == normalised(responses)
    assert provider_at(responses) == provider_at(chat) == BY_NAME["openai"]
    assert chat in likely_addresses(responses)


@pytest.mark.parametrize(
    ("base_url", "api_version", "is_refused"),
    [
        ("https://n.openai.azure.com/openai/v1/responses", "", False),
        ("https://n.openai.azure.com/openai/v1/responses/", "2025-04-01-preview", True),
        ("https://n.openai.azure.com/openai/responses", "", True),
        ("https://n.openai.azure.com/openai/deployments/d/responses", "", True),
        ("https://n.openai.azure.com/openai/deployments/d/Responses", "2025-04-01-preview", True),
        ("https://n.openai.azure.com/openai/deployments/d", "2025-04-01-preview", False),
    ],
)
def test_an_address_at_which_azure_does_not_serve_it_is_refused_with_the_right_one(
    base_url: str, api_version: str, is_refused: bool
) -> None:
    why_not = why_not_at(base_url, api_version)

    assert (why_not != "") == is_refused
    assert not is_refused or "https://NAME.openai.azure.com/openai/v1/responses" in why_not
