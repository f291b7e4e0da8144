"""A run keeps its pace beside servers that take connections and never answer; measured within one
run."""

import time
from collections import Counter
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.errands import request_probe
from evaluations.judging.runs.starting import start_run
from evaluations.models import Judge, Project, RunState, Webhook, WebhookEvent, WorkerHeartbeat
from evaluations.models.sealing import seal
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import new_secret
from geval_site.queues import queue_names
from tests.conftest import wait_until
from tests.hostile.table import record
from tests.processes import WorkerProcess
from tests.silence import SilentServer, silent_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
TEXTS = 300
PIECE = TEXTS // 3


def forty_webhooks(server: SilentServer) -> None:
    project = Project.objects.create(name="Slow", slug="slow")
    for number in range(40):
        webhook = Webhook.objects.create(
            project=project,
            url=f"http://127.0.0.1:{server.port}/{number}",
            sealed_secret=seal(new_secret()),
        )
        leave_message(webhook, WebhookEvent.TEST, {})


def twelve_probes(server: SilentServer) -> None:
    project = Project.objects.create(name="Slow", slug="slow")
    for number in range(12):
        endpoint = project.endpoints.create(
            name=f"e{number}", base_url=f"http://127.0.0.1:{server.port}/v1"
        )
        request_probe(endpoint, "m")


@pytest.mark.parametrize("nuisance", [forty_webhooks, twelve_probes])
@pytest.mark.parametrize("workers", ["as serve starts them", "one for everything"])
def test_a_run_is_not_slowed_by_servers_that_never_answer(
    project: Project,
    load: Callable[..., LoadResult],
    make_judge: Callable[..., Judge],
    start_worker: Callable[..., WorkerProcess],
    settings: object,
    nuisance: Callable[[SilentServer], None],
    workers: str,
) -> None:
    if workers == "as serve starts them":
        names = queue_names(settings.CELERY_TASK_DEFAULT_QUEUE)  # type: ignore[attr-defined]
        start_worker("--queues", names.pop("runs"))
        start_worker(
            "--queues", ",".join(names.values()), "--pool", "threads", "--concurrency", "12"
        )
        count = 2
    else:
        start_worker("--concurrency", "2")
        count = 1
    wait_until(lambda: WorkerHeartbeat.objects.alive().count() == count)
    assert (
        WorkerHeartbeat.objects.doing("runs").count()
        == WorkerHeartbeat.objects.doing("quick").count()
        == 1
    )
    rows = [
        f'{{"doc_id": "d{n}", "system_id": "s", "source": "x {n}", "output": "A text {n}."}}'
        for n in range(TEXTS)
    ]
    load(project, {"outputs.jsonl": "\n".join(rows)})
    project.criteria.create(name="fluency")
    judge = make_judge(project, "--latency", "0.1", use_steps=False, concurrency=2)
    run = start_run(judge, list(project.criteria.all()))

    def seconds_for_a_piece() -> float:
        begun, wanted = time.monotonic(), run.scores.count() + PIECE
        wait_until(lambda: run.scores.count() >= wanted, seconds=120)
        return time.monotonic() - begun

    wait_until(run.scores.exists)
    alone = seconds_for_a_piece()
    with silent_server() as server:
        nuisance(server)
        beside = seconds_for_a_piece()
        wait_until(lambda: bool(server.accepted))

    ends = Counter({"lost" if beside >= 1.5 * alone else f"{beside / alone:.2f} times as long": 1})
    record(f"{nuisance.__name__}, {workers}", ends)
    assert beside < 1.5 * alone
    run.refresh_from_db()
    assert run.state in (RunState.RUNNING, RunState.DONE)
