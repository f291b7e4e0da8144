"""Gateways that people put before a model, as real processes before SmolLM2: LiteLLM's proxy,
Portkey's gateway and LM-Proxy. Log-probabilities come through, and every item is right or says why
it is not."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import EndpointDraft, JudgeDraft, create_judge, save_endpoint
from evaluations.judging.judges.probing import probe_endpoint
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, ItemState, Project, RunState
from geval.llm.endpoints import Client
from geval.llm.replies import Reply
from geval.llm.requests import ChatRequest
from tests.conftest import free_port
from tests.processes import ModelProcess
from tests.server_shapes import SHAPES, shaped_server
from tests.servers.asking import reply_at
from tests.servers.serving import serving
from tests.servers.test_a_real_model_judges import OUTPUTS, UNREADABLE

FOLDER = os.environ.get("GEVAL_GATEWAYS", "")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not FOLDER, reason="make test-servers installs the gateways for it"),
]
NAMES = ("LiteLLM", "Portkey", "LM-Proxy")
KEY = "sk-gateway-of-tests"
# LiteLLM would use our database, and fetch its list of prices.
ENVIRONMENT = {
    **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
PLAIN = next(shape for shape in SHAPES if shape.name == "plain")
LITELLM = """
model_list:
  - model_name: smollm2
    litellm_params: {{model: openai/smollm2, api_base: "{model}", api_key: none}}
  - model_name: shaped
    litellm_params: {{model: openai/shaped, api_base: "{shaped}", api_key: none}}
general_settings: {{master_key: {key}}}
"""
LM_PROXY = """
host = "127.0.0.1"
port = {port}
[connections.local]
api_type = "openai"
api_base = "{model}"
api_key = "none"
[routing]
"*" = "local.*"
[groups.default]
api_keys = ["{key}"]
"""


@dataclass(frozen=True)
class Gateway:
    """Where a gateway is asked, and with which headers."""

    base_url: str
    headers: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def gateways(
    local_llm: ModelProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Gateway]]:
    folder, programs = tmp_path_factory.mktemp("gateways"), Path(FOLDER).resolve()
    model, ports = local_llm.base_url, {name: free_port() for name in NAMES}
    config, settings = folder / "litellm.yaml", folder / "lm_proxy.toml"
    settings.write_text(LM_PROXY.format(model=model, port=ports["LM-Proxy"], key=KEY))
    script = programs / "node_modules/@portkey-ai/gateway/build/start-server.js"
    commands = {
        "LiteLLM": [
            *(
                str(programs / "litellm/bin/litellm"),
                "--config",
                str(config),
                "--host",
                "127.0.0.1",
            ),
            *("--port", str(ports["LiteLLM"])),
        ],
        "Portkey": ["node", str(script), f"--port={ports['Portkey']}", "--headless"],
        "LM-Proxy": [str(programs / "lm-proxy/bin/lm-proxy"), "--config", str(settings)],
    }
    portkeys = {"x-portkey-provider": "openai", "x-portkey-custom-host": model}
    with ExitStack() as stack:
        shaped = stack.enter_context(shaped_server()).base_url(PLAIN)
        config.write_text(LITELLM.format(model=model, shaped=shaped, key=KEY))
        started = {
            name: stack.enter_context(
                serving(command, seconds=120, environment=ENVIRONMENT, port=ports[name])
            )
            for name, command in commands.items()
        }
        yield {
            name: Gateway(base_url, portkeys if name == "Portkey" else {})
            for name, base_url in started.items()
        }


def endpoint_at(project: Project, gateway: Gateway) -> Endpoint:
    draft = EndpointDraft(gateway.base_url, "gateway", key=KEY, headers=gateway.headers)
    return save_endpoint(project, draft)


def reply_through(gateway: Gateway, request: ChatRequest) -> Reply:
    async def ask() -> Reply:
        async with Client(
            gateway.base_url, KEY, timeout=60, allow_private=True, headers=gateway.headers
        ) as client:
            return await client.chat(request)

    return asyncio.run(ask())


@pytest.mark.parametrize("name", NAMES)
def test_log_probabilities_come_through(
    gateways: dict[str, Gateway], local_llm: ModelProcess, name: str
) -> None:
    request = ChatRequest("smollm2", "Rate it from 1 to 5: 4", max_tokens=6, top_logprobs=5)

    through = reply_through(gateways[name], request).choices[0]

    direct = reply_at(local_llm.base_url, request, timeout=60).choices[0]
    assert through.text == direct.text
    assert [token.text for token in through.tokens or ()] == [
        token.text for token in direct.tokens or ()
    ]
    for token, original in zip(through.tokens or (), direct.tokens or (), strict=True):
        assert token.logprob == pytest.approx(original.logprob, abs=0.01)
        assert len(token.alternatives) == 5


@pytest.mark.parametrize("name", NAMES)
def test_items_are_right_or_say_why_not(
    project: Project, load: Callable[..., object], gateways: dict[str, Gateway], name: str
) -> None:
    load(project, {"outputs.jsonl": "\n".join(json.dumps(row) for row in OUTPUTS[:6])})
    # Without tags, between which this small model answers at length.
    project.criteria.create(
        name="coherence",
        prompt_file="Source: {{Document}}\n\nSummary: {{Summary}}\n\nRate the summary's coherence"
        " from 1 to 5.\n\nEvaluation Form (scores ONLY):\n\n- Coherence:",
    )
    draft = JudgeDraft("J", endpoint_at(project, gateways[name]), "smollm2", timeout_seconds=120)
    judge, _ = create_judge(project, draft)

    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    findings = known_findings(judge.endpoint, "smollm2")
    assert findings is not None
    assert findings.logprobs >= 5
    assert judge.mode == "logprobs"
    assert run.state == RunState.DONE, run.message
    unscored = run.items.filter(state=ItemState.FAILED)
    assert set(unscored.values_list("reason", flat=True)) <= UNREADABLE
    assert run.scores.count() + unscored.count() == len(OUTPUTS[:6])
    assert all(score.distribution for score in run.scores.all())


def test_probe_waits_while_litellm_answers_nothing_after_a_missing_route(
    project: Project, gateways: dict[str, Gateway]
) -> None:
    endpoint = endpoint_at(project, gateways["LiteLLM"])

    first, second = (probe_endpoint(endpoint, "shaped") for _ in range(2))

    assert (first.logprobs, second.logprobs) == (20, 20)
    assert (first.best_mode, second.best_mode) == ("logprobs", "logprobs")
    assert not second.echo
