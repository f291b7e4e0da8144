"""The run's page: rho against documents, and when it will be known better."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluations.corpus.store import LoadResult
from evaluations.models import (
    CandidateOutput,
    EvaluationRun,
    ItemState,
    Project,
    RunItem,
    RunState,
    Score,
)
from tests.reports.test_best_judge import DOCUMENTS, FAIR, OUTPUTS, rated, scored

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
DONE = 30


@pytest.fixture
def run(project: Project, load: Load) -> EvaluationRun:
    """A run that has judged thirty of forty documents in five minutes."""
    files = {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR}, DONE)}
    load(project, files)
    criterion, judge = project.criteria.get(), project.judges.get()
    made = EvaluationRun.objects.create(
        project=project,
        judge=judge,
        state=RunState.RUNNING,
        started_at=timezone.now() - timedelta(minutes=5),
    )
    made.run_criteria.create(criterion=criterion)
    Score.objects.update(run=made)
    judged = set(Score.objects.values_list("output_id", flat=True))
    RunItem.objects.bulk_create(
        RunItem(
            run=made,
            output=output,
            criterion=criterion,
            state=ItemState.DONE if output.pk in judged else ItemState.PENDING,
        )
        for output in CandidateOutput.objects.order_by("pk")
    )
    return made


@pytest.fixture
def page(as_role: Callable[[str], Client], run: EvaluationRun) -> Callable[[], str]:
    client = as_role("owner")

    def read() -> str:
        return " ".join(client.get(run.get_absolute_url()).content.decode().split())

    return read


def test_a_judged_output_counts_and_a_failed_one_is_named(
    page: Callable[[], str], run: EvaluationRun
) -> None:
    failed = RunItem.objects.filter(run=run, state=ItemState.PENDING).first()
    assert failed
    RunItem.objects.filter(run=run).exclude(pk=failed.pk).update(state=ItemState.DONE)
    RunItem.objects.filter(pk=failed.pk).update(state=ItemState.FAILED, reason="no_rating")
    EvaluationRun.objects.update(state=RunState.DONE, finished_at=timezone.now())
    total = DOCUMENTS * 4

    text = page()

    assert f"<strong>{total - 1} of {total}</strong> items judged" in text
    assert "<strong>1</strong> failed" in text
