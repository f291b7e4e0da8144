"""The items of a run are committed in parts: the first can be judged before the others exist, and
whoever continues lays out the others, none twice."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from evaluations.judging.runs import layout, leases, lifecycle, results
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
ALL = 2 * (6 + OUTPUTS)
PART = 10


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven parts and two items for all; three parts are listed at once."""
    monkeypatch.setattr(layout, "PART_ITEMS", PART)
    for module in (layout, lifecycle):
        monkeypatch.setattr(module, "LISTED_PARTS", 3)


@pytest.fixture
def partly(start: Callable[..., EvaluationRun]) -> EvaluationRun:
    """A run with its first items."""
    run = start()
    assert lay_out_run(run.pk) == FIRST_PART
    run.refresh_from_db()
    return run


def after(parts: int) -> Callable[[], bool]:
    """What asks a layout to stop after some parts."""
    asked = itertools.count()
    return lambda: next(asked) >= parts


def again(run: EvaluationRun) -> EvaluationRun:
    return EvaluationRun.objects.get(pk=run.pk)


def in_threads(count: int, act: Callable[[], object]) -> None:
    """Do something in some threads, which begin together."""
    together = threading.Barrier(count)

    def do() -> None:
        try:
            together.wait(timeout=20)
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(do) for _ in range(count)]:
            done.result(timeout=60)


def lay_out_all(run: EvaluationRun) -> None:
    lay_out_run(run.pk)
    lay_out_rest(run.pk)


def is_whole(run: EvaluationRun) -> bool:
    """Each item once, counted in the run's row, in the same order for both criteria."""
    run = again(run)
    rows = rows_of(run)
    outputs = [output for _, output in rows]
    return (
        run.is_laid_out
        and len(set(rows)) == len(rows) == run.item_count == ALL
        and outputs[: ALL // 2] == outputs[ALL // 2 :]
    )


@pytest.mark.parametrize(
    "request_for", [{}, {"fresh": True}, {"transport": Transport.BATCH}], ids=str
)
def test_parts_follow_in_the_order_of_the_whole(
    start: Callable[..., EvaluationRun],
    monkeypatch: pytest.MonkeyPatch,
    request_for: dict[str, Any],
) -> None:
    run = start(**request_for)
    lay_out_all(run)
    in_parts = rows_of(run)

    run.items.all().delete()
    parameters = {name: value for name, value in run.parameters.items() if name != "items"}
    EvaluationRun.objects.filter(pk=run.pk).update(
        state=RunState.PREPARING, started_at=None, parameters=parameters
    )
    monkeypatch.setattr(layout, "PART_ITEMS", 1000)
    lay_out_all(run)

    assert rows_of(run) == in_parts
    assert is_whole(run)


def test_a_part_that_is_committed_can_be_judged(start: Callable[..., EvaluationRun]) -> None:
    run = start()
    lay_out_run(run.pk)
    lay_out_rest(run.pk, stopped=after(1))
    judge_all_that_are_free(run)

    assert run.scores.count() == FIRST_PART + PART
    assert not close_if_finished(run.pk)
    assert EvaluationRun.objects.with_work().filter(pk=run.pk).exists()


@pytest.mark.parametrize("transport", [Transport.LIVE, Transport.BATCH])
def test_the_next_worker_continues_after_a_lost_one(
    start: Callable[..., EvaluationRun], transport: Transport
) -> None:
    """PostgreSQL ends its connection in the middle of a part."""
    run = start(transport=transport)
    if transport == Transport.LIVE:
        lay_out_run(run.pk)
    parts = itertools.count(1)

    def end_second(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        outcome = execute(sql, params, many, context)
        if sql.startswith("INSERT INTO evaluations_runitem") and next(parts) == 2:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return outcome

    before = run.items.count()
    act = lay_out_rest if transport == Transport.LIVE else lay_out_run
    with suppress(OperationalError), connection.execute_wrapper(end_second):
        act(run.pk)
    connection.close()

    assert run.items.count() == before + PART == again(run).item_count
    assert not again(run).is_laid_out
    assert not close_if_finished(run.pk)
    assert act(run.pk) == ALL - before - PART
    assert is_whole(run)


@pytest.mark.parametrize("workers", [2, 5])
def test_several_workers_lay_out_each_item_once(
    start: Callable[..., EvaluationRun], workers: int
) -> None:
    run = start()
    in_threads(workers, lambda: lay_out_run(run.pk))
    assert again(run).item_count == FIRST_PART

    def lay_out_and_judge() -> None:
        while not again(run).is_laid_out:
            lay_out_rest(run.pk, stopped=after(2))
            judge_all_that_are_free(run)

    in_threads(workers, lay_out_and_judge)
    judge_all_that_are_free(run)

    assert len(set(rows_of(run))) == run.items.count() == again(run).item_count == ALL
    assert run.scores.count() == ALL
    assert close_if_finished(run.pk)


def test_two_lists_that_overlap_add_each_item_once(start: Callable[..., EvaluationRun]) -> None:
    """A worker that was slow continues with a list that another has laid out meanwhile."""
    run = start()
    lay_out_run(run.pk)
    calls = itertools.count()

    def slow() -> bool:
        if next(calls) == 1:
            in_threads(1, lambda: lay_out_rest(run.pk, stopped=after(2)))
        return False

    lay_out_rest(run.pk, stopped=slow)

    assert is_whole(run)


@pytest.mark.parametrize("transport", [Transport.LIVE, Transport.BATCH])
def test_a_run_that_is_paused_between_parts_continues_when_it_is_resumed(
    start: Callable[..., EvaluationRun], transport: Transport
) -> None:
    run = start(transport=transport)
    if transport == Transport.LIVE:
        lay_out_run(run.pk)
    act = lay_out_rest if transport == Transport.LIVE else lay_out_run
    act(run.pk, stopped=after(1))
    so_far = run.items.count()
    pause_run(run.pk, "Enough for today.")

    assert act(run.pk) == 0
    assert again(run).has_open_items
    assert resume_run(again(run))
    assert act(run.pk) == ALL - so_far
    assert is_whole(run)
    assert again(run).state == RunState.RUNNING


def test_what_is_judged_as_a_whole_is_not_claimed_before_its_last_part(
    start: Callable[..., EvaluationRun],
) -> None:
    run = start(transport=Transport.BATCH)
    criterion = run.judged_criteria()[0]
    lay_out_run(run.pk, stopped=after(2))
    prompts = list(run.run_criteria.values_list("template", flat=True))
    criterion.definition = "Something else."
    criterion.save()

    assert run.items.count() == 2 * PART == again(run).item_count
    assert again(run).state == RunState.PREPARING
    assert not leases.claim(run.pk, "t", most=1000)
    assert not close_if_finished(run.pk)
    lay_out_run(run.pk)
    assert again(run).state == RunState.RUNNING
    # Its items were chosen by these prompts.
    assert list(run.run_criteria.values_list("template", flat=True)) == prompts
    assert is_whole(run)


def test_a_worker_that_lays_out_keeps_its_claim(start: Callable[..., EvaluationRun]) -> None:
    run = start(transport=Transport.BATCH)
    EvaluationRun.objects.filter(pk=run.pk).update(preparer_until=None)

    lay_out_run(run.pk, stopped=after(1))

    assert not EvaluationRun.objects.unattended().filter(pk=run.pk).exists()


def test_removed_outputs_are_left_out(start: Callable[..., EvaluationRun]) -> None:
    """One is removed between two parts of a list that names it."""
    run = start()
    lay_out_run(run.pk)
    calls = itertools.count()
    second = run.items.filter(criterion=run.judged_criteria()[1])

    def remove() -> bool:
        if next(calls) == 1:
            open_ = CandidateOutput.objects.exclude(pk__in=second.values("output"))
            open_.filter(pk=open_.values("pk")[:1]).delete()
        return False

    lay_out_rest(run.pk, stopped=remove)

    assert again(run).is_laid_out
    assert run.items.count() == ALL - 2
    assert not run.items.exclude(output__in=CandidateOutput.objects.all()).exists()


def test_failed_items_of_the_first_part_are_no_part_of_the_rest(partly: EvaluationRun) -> None:
    items = leases.claim(partly.pk, "t", most=1000)
    failure = Failure(Reason.ENDPOINT, "No.")
    results.store(partly, [results.FinishedItem(item, "", failure) for item in items], "t")

    lay_out_rest(partly.pk)

    assert len(set(rows_of(partly))) == partly.items.count() == ALL


def test_a_budget_sets_aside_what_an_output_added_in_between_can_cost(
    start: Callable[..., EvaluationRun],
) -> None:
    run = start()
    parameters = run.parameters | {"price_in": "1", "price_out": "1"}
    EvaluationRun.objects.filter(pk=run.pk).update(parameters=parameters)
    lay_out_run(run.pk)
    before = again(run).frozen.most_each
    added = CandidateOutput.objects.filter(document__doc_id="more0").update(text="Long. " * 10_000)

    lay_out_rest(run.pk)

    after = again(run).frozen.most_each
    assert added == 1
    assert before is not None
    assert after is not None
    assert after > before


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
            in_threads(1, lambda: stopped.append(act(partly.pk, "Enough.")))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(stop):
        assert lay_out_rest(partly.pk) == 0

    assert stopped == [True]
    assert partly.items.count() == FIRST_PART


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


def test_a_worker_that_comes_when_the_first_part_is_judged_lays_out_the_rest(
    large: Project, make_judge: Callable[..., Judge]
) -> None:
    run = start_run(make_judge(large, use_steps=False), list(large.criteria.all()))
    lay_out_run(run.pk)
    judge_all_that_are_free(run)

    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.scores.count() == ALL
