"""Probes find out what an endpoint can do, with a handful of calls."""

import asyncio
from collections.abc import Callable

import pytest

from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import Findings
from geval.llm.judgement import JudgeQuestion
from geval.llm.probe import probe_model
from geval.statistics.scales import Scale
from tests.processes import StandInProcess, free_port

Start = Callable[..., StandInProcess]
SAMPLE = JudgeQuestion(
    "Rate the text.\n\nText:\nA ferry sails.\n\nEvaluation Form (scores ONLY):\n\n- Fluency:",
    "fluency",
    Scale(1, 5),
)


def probe(base_url: str, *, key: str = "") -> Findings:
    async def ask() -> Findings:
        async with Client(base_url, key, timeout=10, allow_private=True) as client:
            return await probe_model(
                client, "some-model", [SAMPLE], max_tokens=32, min_coverage=0.5
            )

    return asyncio.run(ask())


def test_a_complete_endpoint(start_standin: Start) -> None:
    found = probe(start_standin().base_url)

    assert (found.logprobs, found.most_choices, found.temperature, found.echo) == (
        20,
        20,
        True,
        True,
    )
    assert (found.length_parameter, found.instructions, found.best_mode) == (
        "max_tokens",
        "system",
        "logprobs",
    )
    assert found.answered_model == "some-model"


def test_an_endpoint_that_accepts_and_ignores(start_standin: Start) -> None:
    found = probe(start_standin("--ignores-n", "--without-logprobs").base_url)

    assert (found.logprobs, found.most_choices, found.best_mode) == (0, 1, "samples")
    assert "returns only one choice" in found.notes["most_choices"]
    assert "returns none" in found.notes["logprobs"]
    assert "returns no log-probabilities" in found.why_not("logprobs")
    assert found.why_not("samples") == ""


def test_a_model_that_takes_its_own_parameters_only(start_standin: Start) -> None:
    found = probe(start_standin("--only-max-completion-tokens").base_url)

    assert (found.length_parameter, found.temperature) == ("max_completion_tokens", False)
    assert "only its own temperature" in found.notes["temperature"]


def test_a_server_that_takes_less_than_others(start_standin: Start) -> None:
    server = start_standin("--most-choices", "8", "--most-alternatives", "5", "--without-top-p")
    findings = probe(server.base_url)

    assert (findings.most_choices, findings.best_mode) == (8, "logprobs")
    assert (findings.logprobs, findings.top_logprobs) == (5, 5)
    assert findings.top_p is False
    assert "n up to 8" in findings.notes["most_choices"]


def test_errors_now_and_then_do_not_mislead(start_standin: Start) -> None:
    found = probe(start_standin("--error-rate", "0.2").base_url)

    assert (found.logprobs, found.most_choices) == (20, 20)


@pytest.mark.parametrize(
    ("switches", "kind"),
    [(("--api-key", "right"), ErrorKind.AUTHENTICATION), (None, ErrorKind.CONNECTION)],
)
def test_an_endpoint_that_does_not_answer(
    start_standin: Start, switches: tuple[str, ...] | None, kind: ErrorKind
) -> None:
    address = (
        start_standin(*switches).base_url if switches else f"http://127.0.0.1:{free_port()}/v1"
    )

    with pytest.raises(EndpointError) as raised:
        probe(address)

    assert raised.value.kind == kind


def test_a_probe_takes_a_handful_of_calls(start_standin: Start) -> None:
    server = start_standin("--retry-after", "2")  # a stand-in of this test's own
    before = server.stats["calls"]

    probe(server.base_url)

    assert server.stats["calls"] - before <= 7


def test_a_mode_whose_reply_cannot_be_read_is_not_suggested(start_standin: Start) -> None:
    found = probe(start_standin("--unparseable-rate", "1").base_url)

    assert found.best_mode == ""
    assert set(found.modes) == {"logprobs", "samples", "direct"}
    assert "No scoring mode could be read" in found.why_not("")
    assert "The reply contains no rating" in found.why_not("")
    assert found.why_not("direct") == ""  # another text may get a better reply
