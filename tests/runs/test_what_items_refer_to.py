"""An item refers to a run, outputs and a criterion that exist, whatever is deleted meanwhile; this
is checked for all items of a statement together."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotations.models import Rating
from evaluations.judging.runs.lifecycle import lay_out_rest, lay_out_run
from evaluations.models import (
    CandidateOutput,
    Criterion,
    EvaluationRun,
    Project,
    RunCriterion,
    RunItem,
)
from evaluations.projects.deletion import delete_project, remove_deleted
from tests.runs.laid_out import OUTPUTS, large, start

__all__ = ["large", "start"]
pytestmark = pytest.mark.django_db(transaction=True)
ALL = 2 * (6 + OUTPUTS)
NOWHERE = 10**9
WAITING = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock')"""
ORPHANS = """
    SELECT count(*) FROM evaluations_runitem i
    WHERE NOT EXISTS (SELECT FROM evaluations_evaluationrun WHERE id = i.run_id)
       OR NOT EXISTS (SELECT FROM evaluations_candidateoutput WHERE id = i.output_id)
       OR i.rival_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM evaluations_candidateoutput WHERE id = i.rival_id)
       OR i.criterion_id IS NOT NULL
          AND NOT EXISTS (SELECT FROM evaluations_criterion WHERE id = i.criterion_id)"""


@pytest.fixture(autouse=True)
def unrated(large: Project) -> None:
    """Other rows that refer to outputs and criteria have foreign keys."""
    delete_raw(Rating.objects.all())


def orphans() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ORPHANS)
        return int(cursor.fetchone()[0])


def delete_raw(rows: Any) -> None:
    rows._raw_delete(rows.db)


def in_both_parts(run: EvaluationRun) -> CandidateOutput:
    """An output with an item in the first part and one in the rest."""
    return run.items.order_by("pk")[30].output


def delete_output(run: EvaluationRun) -> None:
    delete_raw(CandidateOutput.objects.filter(pk=in_both_parts(run).pk))


def delete_document(run: EvaluationRun) -> None:
    in_both_parts(run).document.delete()


def delete_criterion(run: EvaluationRun) -> None:
    # By Django it is protected, as a run has it.
    with transaction.atomic():
        delete_raw(RunCriterion.objects.filter(run=run))
        delete_raw(Criterion.objects.filter(project=run.project))


def delete_run(run: EvaluationRun) -> None:
    EvaluationRun.objects.get(pk=run.pk).delete()


def delete_run_raw(run: EvaluationRun) -> None:
    with transaction.atomic():
        delete_raw(RunCriterion.objects.filter(run=run))
        delete_raw(EvaluationRun.objects.filter(pk=run.pk))


def empty_project(run: EvaluationRun) -> None:
    project = Project.objects.get(pk=run.project_id)
    project.archived_at = timezone.now()
    project.save()
    delete_project(project, by="a test")
    list(remove_deleted())


DELETIONS = [
    delete_output, delete_document, delete_criterion, delete_run, delete_run_raw, empty_project,
]  # fmt: skip


@contextmanager
def elsewhere(act: Callable[[], object]) -> Iterator[Future[None]]:
    """Do something in another session, and wait for it at the end."""

    def do() -> None:
        try:
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(do)
        yield doing
        doing.result(timeout=60)


def waits(doing: Future[None]) -> bool:
    """Whether another session waits for this one's locks, or has ended."""
    until = time.monotonic() + 20
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            while time.monotonic() < until and not doing.done():
                cursor.execute(WAITING)
                if cursor.fetchone()[0]:
                    return True
                time.sleep(0.02)
    finally:
        other.close()
    return False


@pytest.mark.parametrize("field", ["run", "output", "criterion", "rival"])
@pytest.mark.parametrize("exists", [True, False])
def test_items_that_refer_to_nothing_are_refused(
    start: Callable[..., EvaluationRun], field: str, exists: bool
) -> None:
    run = start()
    output, rival = CandidateOutput.objects.filter(document__doc_id="d1").order_by("pk")[:2]
    ids = {
        "run_id": run.pk,
        "output_id": output.pk,
        "rival_id": rival.pk,
        "criterion_id": run.judged_criteria()[0].pk,
    }
    rows = [RunItem(**ids), RunItem(**ids | {"rival_id": None})]
    if exists:
        assert len(RunItem.objects.bulk_create(rows)) == 2
        return
    rows.append(RunItem(**ids | {f"{field}_id": NOWHERE}))

    with pytest.raises(IntegrityError, match="an item refers to"):
        RunItem.objects.bulk_create(rows)

    assert not RunItem.objects.exists()


@pytest.mark.parametrize("delete", DELETIONS)
def test_items_go_with_what_they_refer_to(
    start: Callable[..., EvaluationRun], delete: Callable[[EvaluationRun], None]
) -> None:
    run = start()
    lay_out_run(run.pk)
    lay_out_rest(run.pk)

    delete(run)

    assert orphans() == 0
    assert RunItem.objects.count() < ALL
    if delete not in (delete_output, delete_document):
        assert not RunItem.objects.exists()


@pytest.mark.parametrize("delete", DELETIONS)
def test_what_is_deleted_while_a_part_is_laid_out_leaves_no_item(
    start: Callable[..., EvaluationRun], delete: Callable[[EvaluationRun], None]
) -> None:
    """It waits for the part's transaction, and takes its items with it."""
    run = start()
    lay_out_run(run.pk)
    deletion = elsewhere(lambda: delete(run))

    def insert_first(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        outcome = execute(sql, params, many, context)
        if sql.startswith("INSERT INTO evaluations_runitem"):
            assert waits(deletion.__enter__())
        return outcome

    with connection.execute_wrapper(insert_first):
        lay_out_rest(run.pk)
    deletion.__exit__(None, None, None)

    assert orphans() == 0
    assert RunItem.objects.count() < ALL


@pytest.mark.parametrize("delete", [delete_output, delete_document])
def test_a_part_waits_for_a_deletion_and_leaves_out_what_is_deleted(
    start: Callable[..., EvaluationRun], delete: Callable[[EvaluationRun], None]
) -> None:
    run = start()
    lay_out_run(run.pk)
    with transaction.atomic():
        delete(run)
        laying_out = elsewhere(lambda: lay_out_rest(run.pk))
        assert waits(laying_out.__enter__())
    laying_out.__exit__(None, None, None)

    assert orphans() == 0
    assert run.items.count() == 2 * CandidateOutput.objects.count() < ALL
    assert EvaluationRun.objects.get(pk=run.pk).is_laid_out
