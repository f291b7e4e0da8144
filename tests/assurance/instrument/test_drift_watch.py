"""A watched judge is asked about its sentinels on a schedule, and drift is said once."""

from collections.abc import Callable

import pytest

from assurance.instrument.asking import PROMPT_CHANGED
from assurance.instrument.studies import StudyError, make_study, stop
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Criterion, EvaluationRun, Judge, ModelReply, Study, WebhookDelivery
from evaluations.models.sealing import seal
from tests.assurance.instrument.conftest import ask_now, freeze, go_on
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def watch(judge: Judge, criterion: Criterion) -> Study:
    return make_study(judge, criterion, "drift", items=30, replies=3)


@pytest.mark.slow
def test_sentinels_are_frozen_and_asked_again(watch: Study) -> None:
    freeze(watch)

    assert [len(item.scores) for item in watch.items.all()] == [3] * 30
    assert watch.model == "offline-stand-in"
    assert "Evaluation Form" in watch.prompt
    assert not Study.objects.due().exists()

    ask_now(watch)

    assert watch.parts.count() == 4
    assert watch.drifted_at is None
    assert watch.parts.get(number=4).scores_evidence is not None


@pytest.mark.slow
def test_its_runs_count_nowhere_and_use_no_stored_reply(
    judge: Judge, criterion: Criterion, watch: Study
) -> None:
    run = start_run(judge, [criterion])
    work_on_run(run.pk, "tester")

    freeze(watch)

    parts = EvaluationRun.objects.filter(purpose="drift")
    assert [(one.calls, one.cache_hits) for one in parts] == [(30, 0)] * 3
    assert list(judge.runs.counting()) == [run]
    assert not ModelReply.objects.filter(items__run__in=parts).exclude(request_key="").exists()
    again = start_run(judge, [criterion])
    work_on_run(again.pk, "tester")
    assert again.items.count() == 0


def test_a_drift_is_found_logged_and_announced_once(
    watch: Study, judge: Judge, start_standin: Callable[..., StandInProcess]
) -> None:
    watch.project.webhooks.create(
        url="https://example.org/", sealed_secret=seal("s"), events=["judge.drifted"]
    )
    freeze(watch)
    strict = start_standin("--leaning", "strict").base_url
    judge.project.endpoints.update(base_url=strict)

    for _ in range(3):
        ask_now(watch)

    assert "have changed: their mean by −0." in watch.drift
    (sent,) = WebhookDelivery.objects.all()
    assert '"judge":"Stand-in"' in sent.body
    assert list(Study.objects.drifted()) == [watch]
    assert stop(watch)
    assert not Study.objects.drifted().exists()


@pytest.mark.slow
def test_another_model_that_answers_is_drift(watch: Study) -> None:
    freeze(watch)
    Study.objects.filter(pk=watch.pk).update(model="older-model")

    ask_now(watch)

    assert "answers as offline-stand-in, no longer as older-model" in watch.drift


def test_a_watch_ends_where_the_prompt_changes(watch: Study, criterion: Criterion) -> None:
    freeze(watch)
    criterion.definition = "Is it brief?"
    criterion.save()

    ask_now(watch)

    assert (watch.is_on, watch.message) == (False, PROMPT_CHANGED)
    assert watch.parts.count() == 3


def test_a_run_that_cannot_start_is_tried_again_later(watch: Study, judge: Judge) -> None:
    freeze(watch)
    judge.project.endpoints.update(retired_at=watch.made_at)

    ask_now(watch)

    assert "is retired" in watch.message
    assert watch.is_on
    assert not Study.objects.due().exists()


def test_a_part_is_asked_once_however_many_workers_look(watch: Study) -> None:
    go_on()
    go_on()

    assert watch.parts.count() == 1


def test_there_is_one_watch_of_a_judge_on_a_criterion(
    watch: Study, judge: Judge, criterion: Criterion
) -> None:
    with pytest.raises(StudyError, match="is watched on usefulness already"):
        make_study(judge, criterion, "drift", items=30)
    stop(watch)
    make_study(judge, criterion, "drift", items=30)


def test_too_few_outputs_are_refused(judge: Judge, criterion: Criterion) -> None:
    with pytest.raises(StudyError, match="asks about 20 to 1000 outputs"):
        make_study(judge, criterion, "drift", items=10)
    judge.project.documents.filter(doc_id__gt="d1").delete()
    with pytest.raises(StudyError, match="has 4 outputs with different texts; a study needs 20"):
        make_study(judge, criterion, "drift")


def test_a_watch_whose_prompt_cannot_be_written_waits_and_keeps_no_other_from_asking(
    judge: Judge, criterion: Criterion
) -> None:
    odd = freeze(make_study(judge, criterion, "drift", items=20, replies=1))
    criterion.pk, criterion.name = None, "Brevity"
    criterion.save()
    other = freeze(make_study(judge, criterion, "drift", items=20, replies=1))
    Criterion.objects.filter(pk=odd.criterion_id).update(prompt_file="{{Nobody knows this}}")
    Study.objects.update(next_at=odd.made_at)

    go_on()

    odd.refresh_from_db()
    assert "Nobody knows this" in odd.message
    assert odd.is_on
    assert odd.next_at > odd.made_at
    assert [study.parts.count() for study in (odd, other)] == [1, 2]
