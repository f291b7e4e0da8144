"""No run goes on for ever: waits end when it stops, odd items fail by themselves, and what nobody
foresaw pauses it."""

import datetime
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.judging.runs import leases
from evaluations.judging.runs.lifecycle import cancel_run, lay_out_run, pause_run
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project, RunItem, RunState
from geval.evaluators.geval import GEval
from geval.llm.advice import FAILURES_IN_A_ROW
from geval.llm.calls import RetryPolicy
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.01)
MakeJudge = Callable[..., Judge]


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()))


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("stop", ["pause", "cancel", "worker told to stop"])
def test_a_wait_ends_when_the_run_stops(
    small_project: Project, make_judge: MakeJudge, stop: str
) -> None:
    judge = make_judge(
        small_project, "--rate-limit-rate", "1", "--retry-after", "250", use_steps=False
    )
    run = started(judge)
    told = threading.Event()
    worker = threading.Thread(
        target=lambda: (
            work_on_run(run.pk, "tester", shift=Shift(stop_requested=told.is_set)),
            connection.close(),
        )
    )
    worker.start()
    wait_until(lambda: EvaluationRun.objects.filter(pk=run.pk, waits_until__isnull=False).exists())

    {"pause": lambda: pause_run(run.pk, "."), "cancel": lambda: cancel_run(run.pk, ".")}.get(
        stop, told.set
    )()
    worker.join(30)

    assert not worker.is_alive()
    assert not RunItem.objects.filter(run=run, state="leased").exists()


def test_a_wait_of_a_day_pauses_the_run_with_the_time(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(
        small_project, "--rate-limit-rate", "1", "--retry-after", "86400", use_steps=False
    )

    run = worked_on(started(judge))

    assert run.state == RunState.PAUSED
    assert "asks to wait 24 hours" in run.message


def test_an_error_of_an_evaluator_fails_its_item_and_not_the_run(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = GEval.judge

    async def trips_over_one(self: GEval, question: Any, *more: Any) -> Any:
        if "1. ferry sails in" in question.prompt and question.criterion == "fluency":
            raise RuntimeError("nobody \0 foresaw this")
        return await usual(self, question, *more)

    monkeypatch.setattr(GEval, "judge", trips_over_one)

    run = worked_on(started(make_judge(small_project, use_steps=False)))

    assert run.state == RunState.DONE
    failed = run.items.get(state="failed")
    assert failed.reason == "unforeseen"
    assert "nobody" in failed.detail
    assert run.scores.count() == 11


def test_items_that_fail_in_a_row_end_the_run_with_the_last_reason(
    project: Project, load: Callable[..., object], make_judge: MakeJudge
) -> None:
    rows = "\n".join(
        f'{{"doc_id": "d{n}", "system_id": "s", "source": "S.", "output": "Text {n}."}}'
        for n in range(100)
    )
    load(
        project,
        {
            "o.jsonl": rows,
            "r.csv": "doc_id,system_id,criterion,annotator,score\nd1,s,coherence,ann,4\n",
        },
    )
    judge = make_judge(project, "--error-rate", "1", use_steps=False, concurrency=2)

    run = worked_on(started(judge))

    assert run.state == RunState.FAILED
    assert f"{FAILURES_IN_A_ROW} items in a row failed" in run.message
    assert "Error 500" in run.message
    assert FAILURES_IN_A_ROW <= run.items.filter(state="failed").count() < 30
    assert run.items.filter(state="pending").count() > 60


def refuse(table: str, *, when: str, code: str) -> None:
    """Have the database refuse rows, as it does values no column holds, or a disk without room."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF {when} THEN RAISE EXCEPTION 'refused'
                    USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON {table}
                    FOR EACH ROW EXECUTE FUNCTION refuse()"""
        )


@pytest.fixture
def refusing() -> Any:
    yield refuse
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION IF EXISTS refuse CASCADE")


def test_a_result_that_the_database_refuses_fails_its_item_and_its_calls_count(
    small_project: Project, make_judge: MakeJudge, refusing: Callable[..., None]
) -> None:
    run = started(make_judge(small_project, use_steps=False))
    lay_out_run(run.pk)
    odd = run.items.order_by("pk")[4]
    refusing(
        "evaluations_score",
        when=f"NEW.output_id = {odd.output_id} AND NEW.criterion_id = {odd.criterion_id}",
        code="22003",
    )

    worked_on(run)

    assert run.state == RunState.DONE
    assert run.scores.count() == 11
    assert run.items.get(state="failed").reason == "unforeseen"
    assert run.calls == 12
    assert run.prompt_tokens > 0


def test_an_error_that_nobody_foresaw_pauses_the_run_with_its_message(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "claim", lambda *_args, **_more: [].pop())

    run = worked_on(started(make_judge(small_project, use_steps=False)))

    assert run.state == RunState.PAUSED
    assert "IndexError: pop from empty list" in run.message
    assert waiting_run() is None


def test_a_run_that_workers_are_lost_with_while_they_prepare_it_pauses(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_args: object) -> None:
        raise SystemExit

    monkeypatch.setattr("evaluations.judging.runs.worker.missing_steps", dies)
    run = started(make_judge(small_project, use_steps=False))

    for _ in range(3):
        with pytest.raises(SystemExit):
            work_on_run(run.pk, "tester", policy=QUICK)
        EvaluationRun.objects.filter(pk=run.pk).update(preparer_until=None)
    worked_on(run)

    assert run.state == RunState.PAUSED
    assert "3 workers ended while they prepared" in run.message


def test_a_clock_that_was_set_back_does_not_keep_an_item_for_hours(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = started(make_judge(small_project, use_steps=False))
    lay_out_run(run.pk)
    leases.claim(run.pk, "lost", most=100)
    run.items.update(lease_until=timezone.now() + datetime.timedelta(hours=3))

    assert waiting_run() == run.pk
    assert worked_on(run).state == RunState.DONE


def test_a_worker_asked_to_stop_gives_up_calls_that_take_long(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluations.judging.runs.calling.GRACE_SECONDS", 0.2)
    run = started(
        make_judge(small_project, "--hang-rate", "1", use_steps=False, timeout_seconds=3000)
    )
    told = threading.Event()
    shift = Shift(stop_requested=told.is_set)
    worker = threading.Thread(
        target=lambda: (work_on_run(run.pk, "tester", shift=shift), connection.close())
    )
    worker.start()
    wait_until(lambda: EvaluationRun.objects.filter(pk=run.pk, calls__gt=0).exists())

    told.set()
    worker.join(30)

    assert not worker.is_alive()
    assert run.items.filter(state="pending").count() == 12


def test_a_shift_is_over_when_its_time_is() -> None:
    assert not Shift(ends=time.monotonic() + 60).is_over
    assert Shift(ends=time.monotonic() - 1).is_over


@pytest.mark.parametrize("stop", ["pause", "worker told to stop"])
def test_a_wait_before_there_are_items_ends_as_well_and_its_calls_count(
    small_project: Project, make_judge: MakeJudge, stop: str
) -> None:
    judge = make_judge(small_project, "--rate-limit-rate", "1", "--retry-after", "250")
    run = started(judge)
    told = threading.Event()
    shift = Shift(stop_requested=told.is_set)
    worker = threading.Thread(
        target=lambda: (work_on_run(run.pk, "tester", shift=shift), connection.close())
    )
    worker.start()
    wait_until(lambda: EvaluationRun.objects.filter(pk=run.pk, waits_until__isnull=False).exists())

    {"pause": lambda: pause_run(run.pk, ".")}.get(stop, told.set)()
    worker.join(30)

    assert not worker.is_alive()
    run.refresh_from_db()
    assert run.calls == 1
    if stop == "worker told to stop":
        assert (run.preparations, run.preparer_until) == (0, None)
