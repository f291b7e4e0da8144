"""A judge is asked the same again on purpose, and its page says how steady it is."""

from collections.abc import Callable

import pytest
from django.test import Client

from assurance.instrument.studies import make_study
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import (
    Criterion,
    EvaluationRun,
    Judge,
    Project,
    ScoringMode,
)
from evaluations.reports.steadiness import steadiness
from tests.assurance.instrument.conftest import work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_a_judge_that_draws_is_asked_for_single_replies(
    asked_project: Project, criterion: Criterion, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(
        asked_project, use_steps=False, mode=ScoringMode.SAMPLES, samples=4, temperature=1
    )
    study = make_study(judge, criterion, "again", items=30, replies=3)

    work(3)

    study.refresh_from_db()
    assert not study.is_on
    assert [run.frozen.samples for run in EvaluationRun.objects.all()] == [1, 1, 1]
    (found,) = steadiness(judge)
    assert (found.found.items, found.found.replies) == (30, 3)
    assert found.found.icc.value is not None
    assert found.found.icc.value < 1
    # A score of this judge is the mean of four such replies.
    assert found.score_error.value == pytest.approx((found.found.reply_error.value or 0) / 2)


def test_a_judge_that_repeats_itself_is_said_to(
    judge: Judge, criterion: Criterion, as_role: Callable[[str], Client]
) -> None:
    make_study(judge, criterion, "again", items=30, replies=2)

    assert steadiness(judge) == []
    work(2)

    (found,) = steadiness(judge)
    assert found.found.icc.value == pytest.approx(1)
    assert found.score_error.value == pytest.approx(0, abs=1e-9)
    page = as_role("viewer").get(f"{judge.get_absolute_url()}instrument/").content.decode()
    assert "asked again on purpose" in page
    said = as_role("researcher").get(f"/api/v1/projects/small/judges/{judge.pk}/steadiness").json()
    assert said["criteria"]["usefulness"]["asked_at"] is not None


@pytest.mark.slow
def test_withheld_documents_are_left_out(judge: Judge, criterion: Criterion) -> None:
    make_study(judge, criterion, "again", items=60, replies=2)
    work(2)
    whole = steadiness(judge)[0].found.items

    lock_documents(judge.project, seed="fixed", looks=2)

    assert steadiness(judge)[0].found.items < whole
