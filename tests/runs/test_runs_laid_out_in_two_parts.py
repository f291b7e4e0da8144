"""A run's first calls do not wait for the rows of all its items: the rest is laid out meanwhile."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.counts import seconds_left
from evaluations.judging.runs.lifecycle import (
    cancel_run,
    close_if_finished,
    lay_out_rest,
    lay_out_run,
    pause_run,
    resume_run,
)
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    CandidateOutput,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    Transport,
)
from evaluations.pages.runs.progress import run_progress
from geval.llm.parsing import Failure, Reason
from tests.runs.laid_out import (
    FIRST_PART,
    OUTPUTS,
    judge_all_that_are_free,
    large,
    rows_of,
    start,
)

__all__ = ["large", "start"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def partly(start: Callable[..., EvaluationRun]) -> EvaluationRun:
    """A run with its first items."""
    run = start()
    assert lay_out_run(run.pk) == FIRST_PART
    run.refresh_from_db()
    return run


def in_another_thread(act: Callable[[], bool]) -> bool:
    def do() -> bool:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(do).result(timeout=20)


def seen_within(seconds: float, look: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_the_first_items_can_be_judged_before_the_others_exist(partly: EvaluationRun) -> None:
    assert partly.state == RunState.RUNNING
    assert not partly.is_laid_out
    assert len(leases.claim(partly.pk, "t", most=1000)) == partly.item_count == FIRST_PART


@pytest.mark.parametrize("fresh", [False, True])
def test_the_rest_follows_in_the_order_of_the_whole(
    start: Callable[..., EvaluationRun], fresh: bool
) -> None:
    run = start(fresh=fresh)
    lay_out_run(run.pk)

    assert lay_out_rest(run.pk) == 2 * (6 + OUTPUTS) - FIRST_PART
    run.refresh_from_db()
    assert run.is_laid_out
    rows = rows_of(run)
    assert len(set(rows)) == len(rows) == run.item_count
    half = len(rows) // 2
    assert [output for _, output in rows[:half]] == [output for _, output in rows[half:]]


def test_failed_items_of_the_first_part_are_no_part_of_the_rest(partly: EvaluationRun) -> None:
    items = leases.claim(partly.pk, "t", most=1000)
    failure = Failure(Reason.ENDPOINT, "No.")
    results.store(partly, [results.FinishedItem(item, "", failure) for item in items], "t")

    lay_out_rest(partly.pk)

    assert len(set(rows_of(partly))) == partly.items.count() == 2 * (6 + OUTPUTS)


def test_a_budget_sets_aside_what_an_output_added_in_between_can_cost(
    start: Callable[..., EvaluationRun],
) -> None:
    run = start()
    parameters = run.parameters | {"price_in": "1", "price_out": "1"}
    EvaluationRun.objects.filter(pk=run.pk).update(parameters=parameters)
    lay_out_run(run.pk)
    before = EvaluationRun.objects.get(pk=run.pk).frozen.most_each
    added = CandidateOutput.objects.filter(document__doc_id="more0").update(text="Long. " * 10_000)

    lay_out_rest(run.pk)

    after = EvaluationRun.objects.get(pk=run.pk).frozen.most_each
    assert added == 1
    assert before is not None
    assert after is not None
    assert after > before


def test_it_is_laid_out_once(partly: EvaluationRun) -> None:
    assert lay_out_rest(partly.pk) > 0
    assert lay_out_rest(partly.pk) == 0


def test_a_worker_does_not_wait_for_another_that_lays_out(partly: EvaluationRun) -> None:
    other = connection.copy()

    def lay_out_elsewhere(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT INTO evaluations_runitem"):
            with other.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [0x7265737, partly.pk])
                assert cursor.fetchone() == (False,)
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(lay_out_elsewhere):
            assert lay_out_rest(partly.pk) > 0
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s, %s)", [0x7265737, partly.pk])
        EvaluationRun.objects.filter(pk=partly.pk).update(parameters=partly.parameters)
        assert lay_out_rest(partly.pk) == 0
    finally:
        other.close()


def test_a_run_does_not_end_before_the_rest_is_laid_out(partly: EvaluationRun) -> None:
    judge_all_that_are_free(partly)

    assert not close_if_finished(partly.pk)
    # Whoever finds it next has something to do.
    assert EvaluationRun.objects.with_work().filter(pk=partly.pk).exists()

    lay_out_rest(partly.pk)
    assert not close_if_finished(partly.pk)
    judge_all_that_are_free(partly)
    assert close_if_finished(partly.pk)


def test_a_paused_run_whose_first_items_are_judged_goes_on(partly: EvaluationRun) -> None:
    judge_all_that_are_free(partly)
    pause_run(partly.pk, "The endpoint is away.")
    assert lay_out_rest(partly.pk) == 0

    assert resume_run(partly)

    partly.refresh_from_db()
    assert partly.state == RunState.RUNNING
    assert lay_out_rest(partly.pk) > 0


@pytest.mark.parametrize("act", [cancel_run, pause_run])
def test_a_run_can_be_stopped_while_it_is_laid_out(
    partly: EvaluationRun, act: Callable[[int, str], bool]
) -> None:
    """What stops it does not wait, and it gets no more items."""
    stopped = []

    def stop(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT INTO evaluations_runitem"):
            stopped.append(in_another_thread(lambda: act(partly.pk, "Enough.")))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(stop):
        assert lay_out_rest(partly.pk) == 0

    assert stopped == [True]
    assert partly.items.count() == FIRST_PART


def test_the_run_is_held_for_a_moment_only(partly: EvaluationRun) -> None:
    """What the new rows refer to is looked up before: workers count their calls in the run's row,
    and pausing it waits for that row."""
    other = connection.copy()
    not_looked_up = []

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "FOR UPDATE OF" in sql:
            with other.cursor() as cursor:
                cursor.execute(
                    """SELECT count(*) FROM (SELECT FROM evaluations_candidateoutput
                       FOR UPDATE SKIP LOCKED) AS free"""
                )
                not_looked_up.append(cursor.fetchone()[0])
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(look):
            laid_out = lay_out_rest(partly.pk)
    finally:
        other.close()

    # Its items are all of one criterion, so each is about another output.
    assert not_looked_up == [6 + OUTPUTS - laid_out]


def test_results_are_stored_while_the_rest_is_laid_out(
    large: Project, make_judge: Callable[..., Judge]
) -> None:
    run = start_run(make_judge(large, use_steps=False, concurrency=1), list(large.criteria.all()))
    lay_out_run(run.pk)
    gate = connection.copy()
    with connection.cursor() as cursor, gate.cursor() as held:
        held.execute("SELECT pg_advisory_lock(4711)")
        cursor.execute(
            """CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN PERFORM pg_advisory_lock_shared(4711); RETURN NULL; END $$;
               CREATE TRIGGER gate BEFORE INSERT ON evaluations_runitem
                   EXECUTE FUNCTION wait_at_gate()"""
        )
        try:
            with ThreadPoolExecutor(1) as pool:
                working = pool.submit(work_on_run, run.pk, "tester")
                while_closed = seen_within(20, run.scores.exists)
                is_partly = not EvaluationRun.objects.get(pk=run.pk).is_laid_out
                held.execute("SELECT pg_advisory_unlock(4711)")
                working.result(timeout=60)
        finally:
            cursor.execute("DROP TRIGGER gate ON evaluations_runitem; DROP FUNCTION wait_at_gate()")
            gate.close()

    assert (while_closed, is_partly) == (True, True)
    assert run.scores.count() == 2 * (6 + OUTPUTS)


@pytest.mark.parametrize(
    "request_for",
    [{"transport": Transport.BATCH}, {"pilot": 30}, {"trial": FIRST_PART + 1, "fresh": True}],
)
def test_what_is_sent_or_read_as_a_whole_is_laid_out_as_a_whole(
    start: Callable[..., EvaluationRun], request_for: dict[str, Any]
) -> None:
    run = start(**request_for)

    assert lay_out_run(run.pk) > FIRST_PART
    run.refresh_from_db()
    assert run.is_laid_out


@pytest.mark.parametrize(
    ("outputs", "is_laid_out"),
    [(FIRST_PART - 1, True), (FIRST_PART, False), (FIRST_PART + 1, False)],
)
def test_a_run_of_few_items_is_laid_out_at_once(
    large: Project, make_judge: Callable[..., Judge], outputs: int, is_laid_out: bool
) -> None:
    document = large.documents.first()
    assert document is not None
    while CandidateOutput.objects.filter(document__project=large).count() < outputs:
        name = f"system {large.systems.count()}"
        system = large.systems.create(name=name)
        CandidateOutput.objects.create(document=document, system=system, text=f"By {name}.")
    judge = make_judge(large, base_url="http://127.0.0.1:1/v1", use_steps=False, concurrency=1)
    run = start_run(judge, list(large.criteria.all())[:1])

    lay_out_run(run.pk)

    run.refresh_from_db()
    assert run.is_laid_out is is_laid_out
    assert lay_out_rest(run.pk) == max(0, outputs - FIRST_PART)
    assert run.items.count() == outputs


def test_a_worker_judges_both_parts(large: Project, make_judge: Callable[..., Judge]) -> None:
    judge = make_judge(large, use_steps=False, concurrency=1)
    run = start_run(judge, list(large.criteria.all()))

    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert (run.state, run.is_laid_out) == (RunState.DONE, True)
    assert run.scores.count() == run.calls == 2 * (6 + OUTPUTS)


def test_a_worker_that_comes_when_the_first_part_is_judged_lays_out_the_rest(
    large: Project, make_judge: Callable[..., Judge]
) -> None:
    run = start_run(make_judge(large, use_steps=False), list(large.criteria.all()))
    lay_out_run(run.pk)
    judge_all_that_are_free(run)

    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.scores.count() == 2 * (6 + OUTPUTS)


def test_the_page_says_that_more_items_come(
    partly: EvaluationRun, client: Client, owner: User
) -> None:
    client.force_login(owner)
    judge_all_that_are_free(partly)
    EvaluationRun.objects.filter(pk=partly.pk).update(calls=1)
    progress = run_progress(EvaluationRun.objects.get(pk=partly.pk))

    assert (progress.left, progress.total) == (None, FIRST_PART)
    assert seconds_left(partly, remaining=1, rate=60.0) is None
    page = client.get(partly.get_absolute_url()).content.decode()
    assert "more items are being added" in " ".join(page.split())

    pause_run(partly.pk, "The budget of 1 would be exceeded by the next item.")
    page = client.get(partly.get_absolute_url()).content.decode()
    assert "more items follow when it is" in " ".join(page.split())
    resume_run(partly)

    lay_out_rest(partly.pk)
    whole = EvaluationRun.objects.get(pk=partly.pk)
    assert run_progress(whole).left is not None
    assert [seconds_left(whole, 30, rate) for rate in (None, 0.0, 60.0)] == [None, None, 30.0]
    assert "more items" not in client.get(partly.get_absolute_url()).content.decode()
