"""What happens to a run leaves one line each, with the ids of the run, its project and judge."""

import time
from collections.abc import Callable

import pytest
from django.db import transaction

from evaluations.judging.runs import calling, leases, results
from evaluations.judging.runs.lifecycle import (
    cancel_run,
    close_if_finished,
    lay_out_run,
    pause_run,
    resume_run,
)
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project, RunItem
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from tests.logs.conftest import Lines

pytestmark = pytest.mark.django_db(transaction=True)
MakeJudge = Callable[..., Judge]
IDS = ("run", "project", "judge")


@pytest.fixture
def run(small_project: Project, make_judge: MakeJudge) -> EvaluationRun:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    started = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(started.pk)
    return started


def ids(run: EvaluationRun) -> list[object]:
    return [run.pk, "small", run.judge_id]


def test_start_pause_resumption_and_cancellation_leave_a_line_each(
    run: EvaluationRun, lines: Lines
) -> None:
    pause_run(run.pk, "Paused by olga.")
    pause_run(run.pk, "Paused twice.")
    resume_run(run)
    cancel_run(run.pk, "Cancelled by olga.")

    assert [line["event"] for line in lines.all] == ["run paused", "run resumed", "run cancelled"]
    assert all([line[name] for name in IDS] == ids(run) for line in lines.all)
    assert lines.only("run paused")["message"] == "Paused by olga"


def test_nothing_is_logged_of_what_was_rolled_back(run: EvaluationRun, lines: Lines) -> None:
    with transaction.atomic():
        pause_run(run.pk, "Enough.")
        transaction.set_rollback(True)

    assert lines.all == []


def test_a_message_is_logged_as_far_as_it_is_ours(run: EvaluationRun, lines: Lines) -> None:
    pause_run(run.pk, "The endpoint refused the request (400): The ferry sails. Resume it.")

    assert lines.only("run paused")["message"] == "The endpoint refused the request"


def test_failed_items_are_counted_by_reason_and_so_is_what_is_finished(
    run: EvaluationRun, lines: Lines
) -> None:
    items = leases.claim(run.pk, "t", most=100)
    outcomes = [
        *[Scored(3.0, {3.0: 1.0}, 1.0)] * 9,
        *[Failure(Reason.REFUSAL, "The model refused: “The ferry sails.”")] * 2,
        Failure(Reason.TOKENS, "It has too many."),
    ]
    finished = [
        results.FinishedItem(item, "", outcome)
        for item, outcome in zip(items, outcomes, strict=True)
    ]

    results.store(run, finished, "t")
    close_if_finished(run.pk)

    failed, done = lines.only("items failed"), lines.only("run finished")
    assert (failed["run"], failed["count"]) == (run.pk, 3)
    assert failed["reasons"] == done["failed"] == {"refusal": 2, "tokens": 1}
    assert ([done[name] for name in IDS], done["done"]) == (ids(run), 9)
    assert "ferry" not in lines.text


def test_items_that_lost_too_many_workers_are_logged_as_failed(
    run: EvaluationRun, lines: Lines
) -> None:
    leases.claim(run.pk, "lost:1", most=100)
    RunItem.objects.update(lease_until="2020-01-01T00:00Z", attempts=leases.MOST_LOST_WORKERS)

    assert leases.claim(run.pk, "other:2", most=100) == []
    assert lines.only("items failed")["reasons"] == {"worker_lost": 12}


def test_what_holds_a_run_back_is_said_again_and_again(
    small_project: Project, make_judge: MakeJudge, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "SLOWNESS_SECONDS", 0.3)
    judge = make_judge(small_project, use_steps=False)
    judge.endpoint.requests_per_minute = 10  # type: ignore[union-attr]
    judge.endpoint.save()  # type: ignore[union-attr]
    run = start_run(judge, list(small_project.criteria.all()))
    ends = time.monotonic() + 2

    work_on_run(run.pk, "tester", shift=Shift(ends=ends))

    held_back = [line for line in lines.all if line["event"] == "run is held back"]
    assert len(held_back) >= 2
    assert all(line["reasons"] == ["limits of the endpoint"] for line in held_back)
    assert [held_back[0][name] for name in ("run", "project", "judge")] == ids(run)
