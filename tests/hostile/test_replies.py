"""Whatever a server answers, a run ends: scored, failed with reasons, or paused with a message.

Every call is counted.
"""

import asyncio
import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from django.utils import timezone

from evaluations.judging.judges.probing import example_question
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    Batch,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    ScoringMode,
    Transport,
)
from geval.llm.calls import RetryPolicy
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.probe import probe_model
from tests.hostile.endpoint import HostileEndpoint, hostile_endpoint
from tests.hostile.modes import BODIES, MODES
from tests.hostile.table import record

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.01)
GROUPS = 28
SCALE_POINTS = {1.0, 2.0, 3.0, 4.0, 5.0}
# How a judge asks: the fields of the judge, and how its run goes to the endpoint.
WAYS = {
    "direct": ({"mode": ScoringMode.DIRECT}, Transport.LIVE),
    "samples": ({"mode": ScoringMode.SAMPLES, "samples": 3, "temperature": 1.0}, Transport.LIVE),
    "log-probabilities": ({"mode": ScoringMode.LOGPROBS}, Transport.LIVE),
    "GPTScore": ({"kind": "gptscore", "mode": ""}, Transport.LIVE),
    "evaluation steps": ({"mode": ScoringMode.DIRECT, "use_steps": True}, Transport.LIVE),
    "JSON by a schema": (
        {"mode": ScoringMode.LOGPROBS, "settings": {"reply_form": "rating"}},
        Transport.LIVE,
    ),
    "Responses API": ({"mode": ScoringMode.LOGPROBS}, Transport.LIVE),
    "decision model": ({"kind": "decision", "mode": ""}, Transport.LIVE),
    "System One": (
        {"kind": "decision", "mode": "", "settings": {"protocol": "systemone", "together": True}},
        Transport.LIVE,
    ),
    "batches": ({"mode": ScoringMode.DIRECT}, Transport.BATCH),
}
OUTPUTS = "\n".join(
    f'{{"doc_id": "d{number}", "system_id": "s", "source": "Source {number}.", "output": "Output'
    f' {number}."}}'
    for number in (1, 2, 3)
)
RATINGS = "doc_id,system_id,criterion,annotator,score\nd1,s,coherence,ann,4\n"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[HostileEndpoint]:
    with hostile_endpoint() as serving:
        yield serving


@pytest.fixture
def asked_project(project: Project, load: Callable[..., object]) -> Project:
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
    return project


def judge_of(project: Project, address: str, way: str, number: int, mode: str) -> Judge:
    if way == "Responses API":
        address += "/responses"
    endpoint = project.endpoints.create(name=f"{way} {number}", base_url=address)
    fields, _transport = WAYS[way]
    # Only servers that may never end need to be given up soon. One that answers is waited for,
    # however busy the machine: a call that is given up before the server has read it is counted
    # by us alone.
    timeout = 60 if mode in BODIES else 1
    asked = {
        "name": f"{way} {number}",
        "model": "m",
        "use_steps": False,
        "timeout_seconds": timeout,
        "concurrency": 4,
    }
    return Judge.objects.create(project=project, endpoint=endpoint, **(asked | fields))


def work(run: EvaluationRun) -> EvaluationRun:
    """Work on a run as workers would; a batch's next look comes at once."""
    for _ in range(12):
        work_on_run(run.pk, "tester", policy=QUICK)
        run.refresh_from_db()
        if not run.is_active:
            break
        Batch.objects.filter(run=run).update(look_at=timezone.now() - datetime.timedelta(seconds=1))
    return run


def ended_well(run: EvaluationRun) -> str:
    """How a run ended, in a word; the assertion says what is wrong where it did not."""
    failed = run.items.filter(state="failed")
    assert not failed.filter(reason="").exists()
    assert not failed.filter(detail="").exists()
    for score in run.scores.all():
        assert score.mode == "" or score.value in SCALE_POINTS or 1 <= score.value <= 5
    if run.state == RunState.PAUSED:
        assert len(run.message) > 20
        return "paused"
    if run.state == RunState.FAILED:
        # All items failed alike.
        assert run.message
        assert run.items.count() == failed.count()
    else:
        assert run.state == RunState.DONE
        assert not run.items.open().exists()
    return "scored" if not failed.exists() else "failed"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_run_ends_and_every_call_is_counted(
    asked_project: Project, endpoint: HostileEndpoint, way: str, group: int
) -> None:
    ends: Counter[str] = Counter()
    for number, mode in list(enumerate(MODES))[group::GROUPS]:
        before = endpoint.calls[mode]
        judge = judge_of(asked_project, endpoint.base_url(mode), way, number, mode)

        run = work(
            start_run(judge, list(asked_project.criteria.all()), RunRequest(transport=WAYS[way][1]))
        )

        ends[ended_well(run)] += 1
        if WAYS[way][1] == Transport.LIVE:
            # A server that closes connections without a word never sees what is sent on them
            # next; it counts all the same.
            seen = endpoint.calls[mode] - before
            assert run.calls == seen if mode in BODIES else run.calls >= seen, mode
    record(f"replies, {way}", ends)


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_probe_ends_with_findings_or_a_reason(endpoint: HostileEndpoint, group: int) -> None:
    async def probed(mode: str) -> str:
        async with Client(endpoint.base_url(mode), "", timeout=1, allow_private=True) as client:
            try:
                findings = await probe_model(
                    client, "m", [example_question()], max_tokens=32, min_coverage=0.5
                )
                json.dumps(findings.as_json())
            except EndpointError as error:
                return "refused with a reason" if error.message else "lost"
            return "findings"

    ends = Counter(asyncio.run(probed(mode)) for mode in MODES[group::GROUPS])
    record("replies, probes", ends)

    assert "lost" not in ends
