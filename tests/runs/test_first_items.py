"""A run of whose first items half have no score stops, once, before all are paid for: it pauses, or
has failed if none of them has a score. A run whose items all fail never reads as done."""

import json
import re
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.lifecycle import lay_out_run, resume_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunState,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from geval.llm.advice import FIRST_ITEMS, FirstItems
from geval.llm.calls import RetryPolicy
from geval.llm.parsing import Failure, Reason
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored

QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.01)
MakeJudge = Callable[..., Judge]
SETTINGS = RequestSettings("m", "logprobs")
SCORED = Scored(3.0, {3.0: 1.0}, 1.0)


def failed(reason: Reason = Reason.NO_RATING) -> Failure:
    return Failure(reason, "No number.")


def noted(outcomes: list[Scored | Failure]) -> list[str]:
    first = FirstItems(SETTINGS)
    return [first.note(outcome) for outcome in outcomes]


@pytest.mark.parametrize(("failures", "pauses"), [(9, False), (10, True), (11, True)])
def test_half_of_twenty_pause(failures: int, pauses: bool) -> None:
    outcomes = [failed()] * failures + [SCORED] * (FIRST_ITEMS - failures)

    why = noted(outcomes)

    assert any(why[:-1]) is False
    assert bool(why[-1]) is pauses


def test_nothing_is_decided_before_the_twentieth() -> None:
    assert not any(noted([failed()] * (FIRST_ITEMS - 1)))


def test_failures_of_several_reasons_are_counted_together() -> None:
    reasons = [Reason.REFUSAL] * 3 + [Reason.NO_RATING] * 4 + [Reason.EMPTY] * 3
    outcomes = [*map(failed, reasons), *[SCORED] * 10]

    why = noted(outcomes)[-1]

    assert why.startswith("10 of the first 20 items")
    assert re.findall(r"\((\d+)\)", why) == ["4", "3", "3"]


def test_later_items_decide_nothing() -> None:
    assert not any(noted([SCORED] * FIRST_ITEMS + [failed()] * 100))


@pytest.fixture
def project_of_80(project: Project, load: Callable[..., LoadResult]) -> Project:
    rows = [
        {"doc_id": f"d{n:02}", "system_id": "a", "source": f"s {n}", "output": f"o {n}"}
        for n in range(80)
    ]
    load(project, {"outputs.jsonl": "\n".join(map(json.dumps, rows))})
    project.criteria.create(name="coherence", definition="Is it coherent?")
    return project


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "w", policy=QUICK)
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_a_run_of_unreadable_replies_fails_and_goes_on_when_it_is_resumed(
    project_of_80: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_80, "--unparseable-rate", "1", use_steps=False, concurrency=4)
    run = worked_on(start_run(judge, list(project_of_80.criteria.all())))

    assert run.state == RunState.FAILED
    assert "20 of the first 20 items" in run.message
    asked = run.items.filter(state=ItemState.FAILED).count()
    assert FIRST_ITEMS <= asked < 50

    resume_run(run)
    worked_on(run)

    assert run.state == RunState.FAILED
    assert run.message.startswith("All 80 items failed: The reply")


@pytest.mark.django_db(transaction=True)
def test_a_run_that_has_no_items_but_the_first_ends(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(small_project, "--unparseable-rate", "1", use_steps=False)

    run = worked_on(start_run(judge, list(small_project.criteria.all())))

    assert (run.state, run.items.count()) == (RunState.FAILED, 12)


@pytest.mark.django_db(transaction=True)
def test_a_failed_run_is_retried_from_its_first_items_on(
    project_of_80: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_80, "--unparseable-rate", "1", use_steps=False, concurrency=4)
    run = worked_on(start_run(judge, list(project_of_80.criteria.all())))

    assert resume_run(run, retry_failed=True)
    # The run may fail before its last part is laid out.
    items = run.items.count()
    assert (run.items.filter(state=ItemState.FAILED).count(), run.items.open().count()) == (
        0,
        items,
    )
    assert items >= 40

    worked_on(run)
    assert run.state == RunState.FAILED
    assert "20 of the first 20 items" in run.message


@pytest.mark.django_db(transaction=True)
def test_a_run_with_a_score_is_paused_by_its_first_items(
    project_of_80: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_80, "--unparseable-rate", "1", use_steps=False, concurrency=1)
    run = start_run(judge, list(project_of_80.criteria.all()))
    lay_out_run(run.pk)
    scored = run.items.first()
    assert scored is not None
    run.items.filter(pk=scored.pk).update(state=ItemState.DONE)

    worked_on(run)

    assert run.state == RunState.PAUSED


@pytest.mark.django_db(transaction=True)
def test_webhooks_hear_of_a_run_that_failed(small_project: Project, make_judge: MakeJudge) -> None:
    webhook = Webhook.objects.create(
        project=small_project, url="https://example.org/", events=[WebhookEvent.RUN_FINISHED]
    )
    judge = make_judge(small_project, "--unparseable-rate", "1", use_steps=False)

    worked_on(start_run(judge, list(small_project.criteria.all())))

    assert '"state":"failed"' in WebhookDelivery.objects.get(webhook=webhook).body
