"""How many items of a run are in each state is known without counting them, in each transaction,
whatever happened to them."""

import itertools
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from django.db import OperationalError, connection, transaction

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.batches import _gather
from evaluations.judging.runs.lifecycle import (
    cancel_run,
    close_if_finished,
    lay_out_rest,
    lay_out_run,
    pause_run,
    resume_run,
)
from evaluations.judging.runs.starting import start_run
from evaluations.models import CandidateOutput, EvaluationRun, ItemState, RunItem, RunTally
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from tests.runs.laid_out import OUTPUTS, large, start

__all__ = ["large", "start"]
pytestmark = pytest.mark.django_db(transaction=True)
ALL = 2 * (6 + OUTPUTS)


def counted(run: EvaluationRun) -> dict[str, int]:
    states = Counter(run.items.order_by().values_list("state", flat=True))
    return {state: states[state] for state in ItemState.values}


def again(run: EvaluationRun) -> EvaluationRun:
    return EvaluationRun.objects.get(pk=run.pk)


def store(run: EvaluationRun, items: list[leases.ClaimedItem], worker: str = "t") -> None:
    """Every third fails."""
    outcomes = itertools.cycle(
        [Scored(4.0, {4.0: 1.0}, 0.9), Scored(2.0, {2.0: 1.0}, 0.9), Failure(Reason.ENDPOINT, "No")]
    )
    finished = [results.FinishedItem(item, "", next(outcomes)) for item in items]
    results.store_each(run, finished, worker)


def claim_and_store(run: EvaluationRun) -> None:
    store(run, leases.claim(run.pk, "t", most=7))


def claim_and_give_back(run: EvaluationRun) -> None:
    leases.claim(run.pk, "t", most=7)
    leases.give_back(run.pk, "t")


def lose_workers(run: EvaluationRun) -> None:
    """All items fail, because their workers end again and again."""
    for _ in range(leases.MOST_LOST_WORKERS + 1):
        leases.claim(run.pk, "t", most=7)
        run.items.filter(state=ItemState.LEASED).update(lease_until="2000-01-01T00:00Z")


def retry(run: EvaluationRun) -> None:
    claim_and_store(run)
    pause_run(run.pk, "For now.")
    assert resume_run(again(run), retry_failed=True)


def gather(run: EvaluationRun) -> None:
    batch = _gather(run)
    assert batch is not None
    leases.lease_batch(batch.pk, "t")


def roll_back(run: EvaluationRun) -> None:
    claim_and_store(run)
    with transaction.atomic():
        claim_and_store(run)
        transaction.set_rollback(True)
    with transaction.atomic():
        with transaction.atomic():
            claim_and_store(run)
            transaction.set_rollback(True)
        claim_and_give_back(run)


def lose_the_connection(run: EvaluationRun) -> None:
    claim_and_store(run)
    with suppress(OperationalError), transaction.atomic(), connection.cursor() as cursor:
        claim_and_store(run)
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    connection.close()


def remove_an_output(run: EvaluationRun) -> None:
    claim_and_store(run)
    CandidateOutput.objects.filter(document__doc_id="more1").delete()


def remove_items(run: EvaluationRun) -> None:
    claim_and_store(run)
    items = run.items.filter(pk__in=list(run.items.values_list("pk", flat=True)[:5]))
    items._raw_delete(items.db)


def lay_out(run: EvaluationRun) -> None:
    lay_out_rest(run.pk)


CHANGES = [
    claim_and_store, claim_and_give_back, lose_workers, retry, gather, roll_back,
    lose_the_connection, remove_an_output, remove_items, lay_out,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_numbers_follow_each_change(
    start: Callable[..., EvaluationRun], change: Callable[[EvaluationRun], None]
) -> None:
    run = start()
    lay_out_run(run.pk)
    before = counted(run)

    change(run)

    assert run.items_by_state() == counted(run)
    assert (counted(run) != before) is (change is not claim_and_give_back)


def test_numbers_are_those_of_the_transaction(start: Callable[..., EvaluationRun]) -> None:
    run = start()
    lay_out_run(run.pk)
    before = run.items_by_state()
    other = connection.copy()
    try:
        with transaction.atomic(), other.cursor() as cursor:
            claim_and_store(run)
            assert run.items_by_state() == counted(run) != before
            cursor.execute("SELECT sum(pending) FROM evaluations_runtally")
            assert cursor.fetchone()[0] == before[ItemState.PENDING]
    finally:
        other.close()


def test_nobody_waits_for_another_transaction(start: Callable[..., EvaluationRun]) -> None:
    """Two workers store results of one run at the same time."""
    run = start()
    lay_out_run(run.pk)

    def fail_some() -> None:
        failure = Failure(Reason.ENDPOINT, "No.")
        items = leases.claim(run.pk, "t", most=7)
        results.store(run, [results.FinishedItem(item, "", failure) for item in items], "t")

    def elsewhere() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        fail_some()
        connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        fail_some()
        pool.submit(elsewhere).result(timeout=30)

    assert run.items_by_state() == counted(run)
    assert run.items_by_state()[ItemState.FAILED] == 14
    assert run.tallies.count() == 2


def test_a_run_ends_by_its_items(start: Callable[..., EvaluationRun]) -> None:
    """Its end is looked up, and does not depend on numbers."""
    run = start()
    lay_out_run(run.pk)
    lay_out_rest(run.pk)
    RunTally.objects.update(pending=0, done=ALL)

    assert not close_if_finished(run.pk)


def test_of_several_runs_each_has_its_own(start: Callable[..., EvaluationRun]) -> None:
    first = start()
    runs: list[EvaluationRun] = []
    for number in range(2):
        run = start_run(first.judge, first.judged_criteria()) if number else first
        lay_out_run(run.pk)
        claim_and_store(run)
        cancel_run(run.pk, "Enough.")
        runs.append(run)

    items = RunItem.objects.filter(run__in=runs, state=ItemState.DONE)
    items.update(state=ItemState.FAILED)

    assert [run.items_by_state() for run in runs] == [counted(run) for run in runs]
    assert RunTally.objects.all().by_run() == {run.pk: counted(run) for run in runs}
