"""A run whose first items mostly fail for one reason pauses, once, before all are paid for."""

import json
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.first_items import FIRST_ITEMS, FirstItems
from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Judge, Project, RunState
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


@pytest.mark.parametrize(("failures", "pauses"), [(14, False), (15, False), (16, True)])
def test_more_than_half_of_thirty_pause(failures: int, pauses: bool) -> None:
    outcomes = [failed()] * failures + [SCORED] * (FIRST_ITEMS - failures)

    why = noted(outcomes)

    assert any(why[:-1]) is False
    assert bool(why[-1]) is pauses


def test_nothing_is_decided_before_the_thirtieth() -> None:
    assert not any(noted([failed()] * (FIRST_ITEMS - 1)))


def test_failures_of_several_reasons_are_not_one_reason() -> None:
    outcomes = [failed(), failed(Reason.REFUSAL)] * (FIRST_ITEMS // 2)

    assert not any(noted(outcomes))


def test_later_items_decide_nothing() -> None:
    assert not any(noted([SCORED] * FIRST_ITEMS + [failed()] * 100))


def test_the_message_says_how_many_and_why() -> None:
    why = noted([failed()] * FIRST_ITEMS)[-1]

    assert why.startswith("30 of the first 30 items failed for one reason. The model explains")


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
def test_a_run_of_unreadable_replies_pauses_and_goes_on_when_it_is_resumed(
    project_of_80: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_80, "--unparseable-rate", "1", use_steps=False, concurrency=4)
    run = worked_on(start_run(judge, list(project_of_80.criteria.all())))

    assert run.state == RunState.PAUSED
    assert "of the first 30 items failed for one reason" in run.message
    asked = run.items.filter(state=ItemState.FAILED).count()
    assert FIRST_ITEMS <= asked < 60

    resume_run(run)
    worked_on(run)

    assert run.state == RunState.DONE
    assert run.items.filter(state=ItemState.FAILED).count() == 80


@pytest.mark.django_db(transaction=True)
def test_a_run_that_has_no_items_but_the_first_ends(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(small_project, "--unparseable-rate", "1", use_steps=False)

    run = worked_on(start_run(judge, list(small_project.criteria.all())))

    assert (run.state, run.items.count()) == (RunState.DONE, 12)
