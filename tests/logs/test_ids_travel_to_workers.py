"""What a worker does for a request is in its log with the ids of that request."""

import json
from collections.abc import Callable

import pytest
import structlog

from evaluations.judging.runs.starting import start_run
from evaluations.models import (
    EvaluationRun,
    Judge,
    Project,
    RunState,
    UpkeepJob,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WorkerSlot,
)
from evaluations.models.sealing import seal
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import new_secret
from tests.conftest import wait_until
from tests.logs.conftest import json_worker

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.django_db(transaction=True)]
IDS = {"request_id": "of-the-page", "user_id": 7, "ip": "::1"}


def lines_of(database_url: str, act: Callable[[], object], until: Callable[[], bool]) -> list:
    """What a worker logs, from an act of a request on until something has happened."""
    with json_worker(database_url) as worker:
        wait_until(WorkerSlot.objects.free().exists, seconds=60)
        # What is due is looked for at once, and then not for some seconds.
        wait_until(UpkeepJob.objects.filter(name="webhooks").exclude(ended_at=None).exists)
        with structlog.contextvars.bound_contextvars(**IDS):
            act()
        wait_until(until, seconds=180)
        worker.terminate()
        return [json.loads(line) for line in worker.communicate(timeout=60)[1].splitlines()]


def test_a_task_that_fails_names_the_request_that_sent_it(
    database_url: str, small_project: Project
) -> None:
    webhook = Webhook.objects.create(
        project=small_project,
        url="http://127.0.0.1:1/hook",
        events=[WebhookEvent.RUN_FINISHED.value],
        sealed_secret=seal(new_secret()),
    )

    lines = lines_of(
        database_url,
        lambda: leave_message(webhook, WebhookEvent.TEST, {}),
        WebhookDelivery.objects.exclude(answer="").exists,
    )

    (failed,) = [line for line in lines if line["event"] == "webhook failed"]
    assert (failed["request_id"], failed["user_id"]) == ("of-the-page", 7)
    assert failed["worker"]
    assert "ip" not in failed


def test_a_slot_that_is_called_names_no_request_as_it_serves_runs_of_others_too(
    database_url: str, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    criteria = list(small_project.criteria.all())

    lines = lines_of(
        database_url,
        lambda: start_run(judge, criteria),
        EvaluationRun.objects.filter(state=RunState.PAUSED).exists,
    )

    (paused,) = [line for line in lines if line["event"] == "run paused"]
    assert paused["run"] == judge.runs.get().pk
    assert paused["worker"]
    assert "request_id" not in paused
