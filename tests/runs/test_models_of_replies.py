"""A run pauses once for each model that begins to answer, whatever happens meanwhile."""

from collections.abc import Sequence

import pytest
from django.db import transaction

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import pause_run, resume_run
from evaluations.models import EvaluationRun, RunState
from geval.llm.calls import Answer
from geval.llm.judgement import Judgement
from geval.llm.parsing import Failure, Reason
from tests.runs.laid_out import run

__all__ = ["run"]
pytestmark = pytest.mark.django_db(transaction=True)


def store(run: EvaluationRun, *models: str, items: Sequence[leases.ClaimedItem] = ()) -> None:
    """Results of as many items as models, each with a reply that names one."""
    items = items or leases.claim(run.pk, "t", most=len(models))
    failure = Failure(Reason.ENDPOINT, "No.")
    finished = [
        results.FinishedItem(
            item, "", failure, Judgement(failure, (Answer((), model, "", 1, 1, 1, 0.1),))
        )
        for item, model in zip(items, models, strict=True)
    ]
    results.store_each(run, finished, "t")


def again(run: EvaluationRun) -> EvaluationRun:
    return EvaluationRun.objects.get(pk=run.pk)


def test_a_run_pauses_also_if_what_stored_its_replies_is_rolled_back(run: EvaluationRun) -> None:
    store(run, "first")
    with transaction.atomic():
        store(run, "other")
        transaction.set_rollback(True)
    assert again(run).state == RunState.RUNNING

    store(run, "other")

    assert again(run).state == RunState.PAUSED
    assert again(run).reply_models == ["first", "other"]


def test_two_models_in_the_first_replies_pause_the_run(run: EvaluationRun) -> None:
    store(run, "first", "other", "first")

    assert again(run).state == RunState.PAUSED
    assert again(run).message.startswith("From item 2 on, “other” answers; before, “first” did.")
    assert again(run).reply_models == ["first", "other"]


def test_a_run_that_was_paused_when_another_model_answered_pauses_when_it_goes_on(
    run: EvaluationRun,
) -> None:
    store(run, "first")
    items = leases.claim(run.pk, "t", most=1)
    pause_run(run.pk, "For now.")
    store(run, "other", items=items)
    assert again(run).message == "For now."

    resume_run(again(run))
    store(run, "other")

    assert again(run).state == RunState.PAUSED
    assert "“other” answers" in again(run).message
    resume_run(again(run))
    store(run, "other", "first")
    assert again(run).state == RunState.RUNNING


def test_who_accepts_a_model_is_asked_about_items_that_are_too_long(run: EvaluationRun) -> None:
    store(run, *["first"] * 11, "other")
    run.items.filter(pk=run.items.values("pk")[:1]).update(reason=Reason.CONTEXT)
    run.items.exclude(reason=Reason.CONTEXT).update(state="done", reason="")
    assert "“other” answers" in again(run).message

    resume_run(again(run))
    assert "longer than the model's context" in again(run).message

    resume_run(again(run))
    assert again(run).state == RunState.DONE
