"""Workers ask the parts of a study one after another, each once."""

import pytest

from assurance.instrument.asking import PROMPT_CHANGED
from assurance.instrument.studies import StudyError, make_study
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    Criterion,
    EvaluationRun,
    Judge,
    ModelReply,
    RunState,
    Study,
)
from tests.assurance.instrument.conftest import go_on, work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(judge: Judge, criterion: Criterion) -> Study:
    return make_study(judge, criterion, "again", items=30, replies=3)


@pytest.mark.slow
def test_its_runs_count_nowhere_and_use_no_stored_reply(
    judge: Judge, criterion: Criterion, study: Study
) -> None:
    run = start_run(judge, [criterion])
    work_on_run(run.pk, "tester")

    work(3)

    study.refresh_from_db()
    assert (study.is_on, study.model) == (False, "offline-stand-in")
    assert "Evaluation Form" in study.prompt
    assert [len(item.scores) for item in study.items.all()] == [3] * 30
    parts = EvaluationRun.objects.filter(purpose="again")
    assert [(one.calls, one.cache_hits) for one in parts] == [(30, 0)] * 3
    assert list(judge.runs.counting()) == [run]
    assert not ModelReply.objects.filter(items__run__in=parts).exclude(request_key="").exists()
    again = start_run(judge, [criterion])
    work_on_run(again.pk, "tester")
    assert again.items.count() == 0


def test_a_study_ends_where_the_prompt_changes(study: Study, criterion: Criterion) -> None:
    work()
    EvaluationRun.objects.active().update(state=RunState.CANCELLED)
    criterion.definition = "Is it brief?"
    criterion.save()

    go_on()

    study.refresh_from_db()
    assert (study.is_on, study.message) == (False, PROMPT_CHANGED)
    assert study.parts.count() == 2


def test_a_run_that_cannot_start_is_tried_again_later(study: Study, judge: Judge) -> None:
    judge.project.endpoints.update(retired_at=study.made_at)

    go_on()

    study.refresh_from_db()
    assert "is retired" in study.message
    assert study.is_on
    assert not Study.objects.due().exists()


def test_a_part_is_asked_once_however_many_workers_look(study: Study) -> None:
    go_on()
    go_on()

    assert study.parts.count() == 1


def test_too_few_outputs_are_refused(judge: Judge, criterion: Criterion) -> None:
    with pytest.raises(StudyError, match="asks about 20 to 1000 outputs"):
        make_study(judge, criterion, "again", items=10)
    judge.project.documents.filter(doc_id__gt="d1").delete()
    with pytest.raises(StudyError, match="has 4 outputs with different texts; a study needs 20"):
        make_study(judge, criterion, "again")


def test_a_study_whose_prompt_cannot_be_written_waits_and_keeps_no_other_from_asking(
    judge: Judge, criterion: Criterion
) -> None:
    odd = make_study(judge, criterion, "again", items=20, replies=1)
    criterion.pk, criterion.name = None, "Brevity"
    criterion.save()
    other = make_study(judge, criterion, "again", items=20, replies=1)
    Criterion.objects.filter(pk=odd.criterion_id).update(prompt_file="{{Nobody knows this}}")

    go_on()

    odd.refresh_from_db()
    assert "Nobody knows this" in odd.message
    assert odd.is_on
    assert odd.next_at > odd.made_at
    assert [study.parts.count() for study in (odd, other)] == [0, 1]
