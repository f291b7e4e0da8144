"""The stand-in LLM as a process: OpenAI's protocol, deterministic, honest."""

import json
import math
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from geval.llm.item_texts import Texts
from geval.llm.prompts import PromptParts, compose_template, render
from geval.statistics.scales import Scale
from tests.processes import StandInProcess

Start = Callable[..., StandInProcess]
SOURCE = (
    "The old ferry of Sandvik sails again. It was repaired for two years. Tickets cost 12 crowns."
)
PARTS = PromptParts("fluency", Scale(1, 5), definition="Does it read well?")


def prompt_for(output: str) -> str:
    return render(compose_template(PARTS, steps="1. Read."), Texts(SOURCE, output))


GOOD = prompt_for("The ferry of Sandvik sails again after two years of repairs.")
BAD = prompt_for("ferry ferry the the sails sails of of again again the the")


def ask(
    server: StandInProcess, path: str, body: dict[str, Any] | bytes | None = None, **headers: str
) -> Any:
    """The status, headers and JSON of an answer, errors included."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        server.base_url + path, data, {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def chat(server: StandInProcess, prompt: str, **fields: Any) -> Any:
    status, _, answer = ask(server, "/chat/completions", body(prompt, **fields))
    assert status == 200, answer
    return answer


def body(prompt: str, **fields: Any) -> dict[str, Any]:
    return {
        "model": "offline-stand-in",
        "messages": [{"role": "user", "content": prompt}],
        **fields,
    }


def test_it_rates_by_the_texts_it_is_given(start_standin: Start) -> None:
    ratings = [
        float(chat(start_standin(), prompt, temperature=0)["choices"][0]["message"]["content"])
        for prompt in (GOOD, BAD)
    ]

    assert ratings[0] > ratings[1]


def test_log_probabilities_are_a_distribution_with_the_token_itself_among_them(
    start_standin: Start,
) -> None:
    answer = chat(start_standin(), GOOD, temperature=0, logprobs=True, top_logprobs=20)

    token = answer["choices"][0]["logprobs"]["content"][0]
    shares = [math.exp(other["logprob"]) for other in token["top_logprobs"]]
    assert token["token"] in {other["token"] for other in token["top_logprobs"]}
    assert shares == sorted(shares, reverse=True)
    assert 0.9 < sum(shares) <= 1.02


def test_n_samples_at_a_temperature_differ_and_follow_the_distribution(
    start_standin: Start,
) -> None:
    replies = [
        choice["message"]["content"]
        for choice in chat(start_standin(), GOOD, temperature=1, n=20)["choices"]
    ]

    assert len(replies) == 20
    assert len(set(replies)) > 1


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/chat/completions", b"not json", 400),
        ("/chat/completions", {"model": "m"}, 400),
        ("/chat/completions", body("x", n=0), 400),
        ("/chat/completions", body("x", temperature=3), 400),
        ("/chat/completions", body("x", top_logprobs=5), 400),
        ("/chat/completions", body("x", stream=True), 400),
        ("/nowhere", {}, 404),
    ],
)
def test_a_wrong_request_gets_a_proper_error_body(
    start_standin: Start, path: str, sent: dict[str, Any] | bytes, status: int
) -> None:
    code, _, answer = ask(start_standin(), path, sent)

    assert code == status
    assert set(answer["error"]) == {"message", "type", "param", "code"}
