"""Two workers at one run with a goal: it ends once, and no reply that was paid for is lost."""

import random
from collections.abc import Callable

import pytest

from annotations.models import Annotator, Rating
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import (
    CandidateOutput,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    WorkerHeartbeat,
)
from tests.annotations.answered import many_documents
from tests.conftest import wait_until
from tests.processes import StandInProcess, WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes, pytest.mark.slow]
DOCUMENTS = 600


def test_a_run_ends_at_its_goal_while_two_workers_are_at_it(
    project: Project,
    make_judge: Callable[..., Judge],
    start_standin: Callable[..., StandInProcess],
    start_worker: Callable[[], WorkerProcess],
) -> None:
    many_documents(project, DOCUMENTS)
    criterion, ann = project.criteria.get(), Annotator.objects.create(project=project, name="ann")
    draw = random.Random(1)
    Rating.objects.bulk_create(
        Rating(output=output, criterion=criterion, annotator=ann, score=draw.choice([1, 3, 5]))
        for output in CandidateOutput.objects.all()
    )
    endpoint = start_standin("--latency", "0.31")  # nobody else's
    judge = make_judge(project, base_url=endpoint.base_url, use_steps=False, concurrency=8)
    start_worker()
    start_worker()
    wait_until(lambda: WorkerHeartbeat.objects.alive().count() == 2)

    run = start_run(judge, [criterion], RunRequest(goal_width=0.3))
    workers: set[str] = set()

    def is_over() -> bool:
        workers.update(run.items.exclude(leased_by="").values_list("leased_by", flat=True))
        return EvaluationRun.objects.filter(pk=run.pk, state=RunState.DONE).exists()

    wait_until(is_over, seconds=120)
    wait_until(lambda: not run.items.filter(state="leased").exists(), seconds=60)

    run.refresh_from_db()
    assert run.message.startswith("Goal reached: ")
    assert 0 < run.items.open().count() < 2 * DOCUMENTS
    assert run.scores.count() == run.items.filter(state="done").count()
    assert endpoint.stats["calls"] == run.scores.count()
    assert len(workers) == 2
