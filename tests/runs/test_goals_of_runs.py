"""A run with a goal ends by itself when its judge's rho is known well enough, and not before."""

import random
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Annotator, Rating
from evaluations.changes import note_change
from evaluations.heartbeat import neglected_runs
from evaluations.models import (
    CandidateOutput,
    Criterion,
    Document,
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunCriterion,
    RunItem,
    RunState,
    Score,
    System,
)
from evaluations.reports import run_goals
from evaluations.reports.run_goals import end_runs_at_goals
from evaluations.runs.lifecycle import RunError, start_run

pytestmark = pytest.mark.django_db
DOCUMENTS, SYSTEMS = 120, 4
Judged = Callable[[int], None]


@pytest.fixture
def run(project: Project) -> EvaluationRun:
    """A run in progress on rated documents, with an open item for every output."""
    run_goals._seen.clear()
    criterion = Criterion.objects.create(project=project, name="quality")
    systems = [System.objects.create(project=project, name=f"s{n}") for n in range(SYSTEMS)]
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"d{n:03}", source="s") for n in range(DOCUMENTS)
    )
    outputs = CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text=f"{document.doc_id} {system.name}")
        for document in documents
        for system in systems
    )
    ann = Annotator.objects.create(project=project, name="ann")
    Rating.objects.bulk_create(
        Rating(output=output, criterion=criterion, annotator=ann, score=1 + at % SYSTEMS)
        for at, output in enumerate(outputs)
    )
    judge = Judge.objects.create(project=project, name="j", kind="chrf")
    run = EvaluationRun.objects.create(
        project=project, judge=judge, state=RunState.RUNNING, goal_width=0.15
    )
    RunCriterion.objects.create(run=run, criterion=criterion, template="")
    RunItem.objects.bulk_create(
        RunItem(run=run, output=output, criterion=criterion) for output in outputs
    )
    return run


@pytest.fixture
def judged(run: EvaluationRun) -> Judged:
    def judge(documents: int) -> None:
        """Score so many more documents, nearly as people did."""
        draw = random.Random(documents)
        items = list(run.items.open().select_related("output").order_by("pk"))
        items = items[: documents * SYSTEMS]
        Score.objects.bulk_create(
            Score(run=run, output=item.output, criterion_id=item.criterion_id,
                  value=at % SYSTEMS + draw.gauss(0, 0.7))
            for at, item in enumerate(items)
        )  # fmt: skip
        RunItem.objects.filter(pk__in=[item.pk for item in items]).update(state=ItemState.DONE)
        note_change(run.project_id, [run.run_criteria.get().criterion_id], judge=run.judge_id)

    return judge


def test_a_run_ends_when_its_goal_is_reached_and_leaves_the_rest(
    run: EvaluationRun, judged: Judged, owner: User, client: Client
) -> None:
    judged(15)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING

    judged(75)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.message.startswith("Goal reached: rho is known within ±0.15: quality 0.")
    assert "with 90 documents" in run.message
    assert run.finished_at is not None
    assert run.items.open().count() == 30 * SYSTEMS
    assert neglected_runs() == []

    client.force_login(owner)
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Goal reached" in page
    assert "judged so far" not in " ".join(page.split())


def test_documents_that_are_not_finished_do_not_count(run: EvaluationRun, judged: Judged) -> None:
    judged(90)
    last = run.items.exclude(state=ItemState.PENDING).order_by("-pk").first()
    assert last is not None
    RunItem.objects.filter(pk=last.pk).update(state=ItemState.LEASED)

    assert "with 89 documents" in run_goals.reached(run)


def test_a_run_without_a_goal_goes_on(run: EvaluationRun, judged: Judged) -> None:
    EvaluationRun.objects.update(goal_width=None)
    judged(90)

    end_runs_at_goals()

    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def test_a_batch_takes_no_goal(run: EvaluationRun) -> None:
    EvaluationRun.objects.update(state=RunState.DONE)

    with pytest.raises(RunError, match="A goal cannot stop a batch"):
        start_run(run.judge, list(run.project.criteria.all()), transport="batch", goal_width=0.05)
