"""An ability that a probe asked about is there, missing or not known: errors that may pass are no
answer."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

from geval.llm.calls import RetryPolicy
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import Findings, findings_rows
from geval.llm.judgement import JudgeQuestion
from geval.llm.probe import QUESTION, probe_model
from geval.llm.replies import EchoedToken, Reply, ReplyChoice, Token
from geval.llm.requests import ChatRequest, EchoRequest
from geval.statistics.scales import Scale

QUESTIONS = [
    JudgeQuestion(f"Rate text {number}.\n\n- Fluency:", "fluency", Scale(1, 5)) for number in "abc"
]
Refuse = Callable[[str, int], ErrorKind | None]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = RetryPolicy(
        attempts=3, first_wait=0.001, longest_wait=0.001, rate_limit_patience=0.005
    )
    monkeypatch.setattr("geval.llm.probe._POLICY", policy)


def ability_of(request: ChatRequest | EchoRequest) -> str:
    """What a probe's request asks about."""
    if isinstance(request, EchoRequest):
        return "echo"
    if request.prompt not in (QUESTION, f"You rate texts.\n\n{QUESTION}"):
        return f"prompt, {'logprobs' if request.top_logprobs else 'other'}"
    if request.schema:
        return "schema"
    if request.top_logprobs:
        return "logprobs"
    if request.n > 1:
        return "most_choices"
    return "all" if len(request.extra) > 1 else next(iter(request.extra), "plain")


class Server:
    """Takes everything but what `refuse` refuses of an ability, by how often that was asked."""

    base_url = "http://server/v1"

    def __init__(self, refuse: Refuse) -> None:
        self.refuse = refuse
        self.asked: list[str] = []

    def _note(self, request: Any) -> None:
        ability = ability_of(request)
        self.asked.append(ability)
        if kind := self.refuse(ability, Counter(self.asked)[ability]):
            raise EndpointError(kind, f"{kind} of {ability}.")

    async def chat(self, request: ChatRequest) -> Reply:
        self._note(request)
        text = '{"rating": 4}' if request.schema else "4"
        tokens = (Token(text, -0.1, ((text, -0.1),)),) if request.top_logprobs else None
        return Reply((ReplyChoice(text, tokens=tokens),) * request.n, "m")

    async def echo(self, request: EchoRequest) -> Reply:
        self._note(request)
        return Reply((ReplyChoice("", echoed=(EchoedToken("A", -1.0),)),), "m")


def probe(server: Server) -> Findings:
    client = cast(Client, server)
    return asyncio.run(probe_model(client, "m", QUESTIONS, max_tokens=32, min_coverage=0.5))


def always(ability: str, kind: ErrorKind) -> Refuse:
    return lambda asked, _times: kind if asked == ability else None


def rows(findings: Findings) -> dict[str, str]:
    return {row.what: row.found for row in findings_rows(findings)}


def test_server_that_takes_everything() -> None:
    findings = probe(Server(lambda _ability, _times: None))

    assert (findings.logprobs, findings.best_mode, findings.unknown) == (1, "logprobs", ())
    assert findings.echo


def test_rate_limits_are_waited_for() -> None:
    def twice(_ability: str, times: int) -> ErrorKind | None:
        return ErrorKind.RATE_LIMIT if times <= 2 else None

    findings = probe(Server(twice))

    assert (findings.logprobs, findings.most_choices, findings.unknown) == (1, 20, ())


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMIT, ErrorKind.SERVER, ErrorKind.TIMEOUT])
@pytest.mark.parametrize(
    ("ability", "row"),
    [
        ("most_choices", "Several replies per call"),
        ("schema", "Replies by a JSON schema"),
        ("echo", "Echo with log-probabilities"),
    ],
)
def test_ability_is_not_known_after_errors_that_may_pass(
    ability: str, row: str, kind: ErrorKind
) -> None:
    findings = probe(Server(always(ability, kind)))

    assert findings.unknown == (ability,)
    assert rows(findings)[row] == "not known"
    assert Findings.from_json(findings.as_json()) == findings


@pytest.mark.parametrize(
    ("kind", "seed", "unknown"),
    [(ErrorKind.SERVER, True, ("seed",)), (ErrorKind.BAD_REQUEST, False, ())],
)
def test_refused_parameter_is_left_out_and_an_unknown_one_sent(
    kind: ErrorKind, seed: bool, unknown: tuple[str, ...]
) -> None:
    def refuse(ability: str, _times: int) -> ErrorKind | None:
        return kind if ability in ("all", "seed") else None

    findings = probe(Server(refuse))

    assert (findings.seed, findings.top_p, findings.unknown) == (seed, True, unknown)


def test_real_prompts_decide_on_unknown_logprobs() -> None:
    findings = probe(Server(always("logprobs", ErrorKind.RATE_LIMIT)))

    assert (findings.logprobs, findings.best_mode, findings.unknown) == (1, "logprobs", ())


def test_logprobs_stay_unknown_where_real_prompts_meet_errors_too() -> None:
    def refuse(ability: str, _times: int) -> ErrorKind | None:
        return ErrorKind.SERVER if "logprobs" in ability else None

    findings = probe(Server(refuse))

    assert (findings.best_mode, findings.unusable) == ("samples", ())
    assert findings.unknown == ("logprobs",)
    assert findings.why_not("logprobs") == ""
    assert "Not read: logprobs" in findings.notes["mode"]


def test_rate_limit_without_end_on_real_prompts_is_not_stored_as_no_mode() -> None:
    findings = probe(Server(always("prompt, logprobs", ErrorKind.RATE_LIMIT)))

    assert "logprobs" not in findings.unusable
    assert findings.why_not("logprobs") == ""
