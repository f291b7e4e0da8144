"""GPTScore on a real model: the log-probabilities of a prompt, which `local_llm` adds to
llama.cpp's server, are those of the model."""

import json
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

import pytest

from evaluations.models import Project
from tests.processes import ModelProcess
from tests.servers.asking import post
from tests.servers.gptscores import run_gptscore, sent_before

pytestmark = pytest.mark.django_db(transaction=True)
TEXTS = {"d1": "the ferry sails", "d2": "the café ferry sails at 5, naïvely …", "d3": "日本 ferry"}


def following(base_url: str, ids: list[int]) -> dict[int, float]:
    """The log-probability of every token that may follow, by a request without any grammar: the
    model writes an “x”, which a bias forces, and reports its whole vocabulary."""
    x = post(base_url, "/tokenize", {"content": "x"})["tokens"][0]
    body = {
        "prompt": ids, "n_predict": 1, "n_probs": 1_000_000, "logit_bias": [[x, 1000]],
        "cache_prompt": False, "temperature": 0,
    }  # fmt: skip
    written = post(base_url, "/completion", body)["completion_probabilities"][0]
    return {token["id"]: token["logprob"] for token in written["top_logprobs"]}


def echo(base_url: str, text: str) -> dict[str, Any]:
    body = {"model": "smollm2", "prompt": text, "echo": True, "logprobs": 1, "max_tokens": 1}
    return post(base_url, "/v1/completions", body)


@pytest.mark.parametrize("text", [*TEXTS.values(), "a <|im_start|> b", "x"])
def test_every_token_of_an_echo_has_the_models_probability(
    local_llm: ModelProcess, text: str
) -> None:
    logprobs = echo(local_llm.base_url, text)["choices"][0]["logprobs"]

    asked = {"content": text, "add_special": True, "parse_special": False}
    ids = post(local_llm.base_url, "/tokenize", asked)["tokens"]
    expected = [
        following(local_llm.base_url, ids[:place])[ids[place]] for place in range(1, len(ids))
    ]
    assert logprobs["token_logprobs"][0] is None
    assert logprobs["token_logprobs"][1:] == pytest.approx(expected, abs=2e-3)


def test_a_completion_without_echo_is_the_servers(local_llm: ModelProcess) -> None:
    answer = post(local_llm.base_url, "/v1/completions", {"prompt": "The", "max_tokens": 2})

    assert answer["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("word " * 3000, "The prompt has 3001 tokens; the context has 2048."),
        (["a", "b"], "An echo with log-probabilities takes one prompt, as a text."),
        ("", "An echo with log-probabilities takes one prompt, as a text."),
    ],
)
def test_an_echo_that_cannot_be_had_is_refused(
    local_llm: ModelProcess, prompt: object, message: str
) -> None:
    with pytest.raises(HTTPError) as refused:
        post(local_llm.base_url, "/v1/completions", {"prompt": prompt, "echo": True, "logprobs": 1})

    assert refused.value.code == 400
    assert json.loads(refused.value.read())["error"]["message"] == message


def test_gptscore_is_the_mean_of_the_outputs_tokens(
    project: Project, load: Callable[..., object], local_llm: ModelProcess
) -> None:
    run = run_gptscore(project, load, TEXTS, base_url=local_llm.base_url, model="smollm2")

    score = run.scores.get(output__document__doc_id="d1")
    before = sent_before(run, "d1")
    ids = post(local_llm.base_url, "/tokenize", {"content": f"{before} {TEXTS['d1']}"})["tokens"]
    begin = len(post(local_llm.base_url, "/tokenize", {"content": before})["tokens"])
    expected = [
        following(local_llm.base_url, ids[:place])[ids[place]] for place in range(begin, len(ids))
    ]
    assert score.value == pytest.approx(sum(expected) / len(expected), abs=2e-3)
