"""What a worker does for a request is in its log with the ids of that request."""

import json
from collections.abc import Callable

import pytest
import structlog

from evaluations.models import Judge, Project, RunState
from evaluations.runs.lifecycle import start_run
from evaluations.waking import wake_one_worker
from tests.conftest import wait_until
from tests.logs.conftest import json_worker

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def test_a_run_paused_by_a_worker_names_the_request_that_started_it(
    database_url: str, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    with structlog.contextvars.bound_contextvars(request_id="of-the-page", user_id=7, ip="::1"):
        run = start_run(judge, list(small_project.criteria.all()))
        wake_one_worker(run.pk)

    def is_paused() -> bool:
        run.refresh_from_db()
        return run.state == RunState.PAUSED

    with json_worker(database_url) as worker:
        wait_until(is_paused, seconds=180)
        worker.terminate()
        said = worker.communicate(timeout=60)[1]

    lines = [json.loads(line) for line in said.splitlines()]
    (paused,) = [line for line in lines if line["event"] == "run paused"]
    assert (paused["request_id"], paused["user_id"]) == ("of-the-page", 7)
    assert paused["run"] == run.pk
    assert paused["worker"]
    assert "ip" not in paused
