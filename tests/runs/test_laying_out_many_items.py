"""Laying out many items ends with fresh statistics, and waits for nobody who keeps the table."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, Judge, Project, RunState, sizes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(small_project: Project, make_judge: Callable[..., Judge]) -> EvaluationRun:
    """Not laid out yet; it will have 12 items."""
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    return start_run(judge, list(small_project.criteria.all()))


def analyzed(run: EvaluationRun) -> bool:
    with CaptureQueriesContext(connection) as queries:
        assert lay_out_run(run.pk) == 12
    return any(query["sql"] == "ANALYZE evaluations_runitem" for query in queries)


@pytest.mark.parametrize(("many", "expected"), [(11, True), (12, True), (13, False)])
def test_postgresql_looks_again_where_many_items_were_added(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch, many: int, expected: bool
) -> None:
    monkeypatch.setattr(sizes, "MANY_ROWS", many)

    assert analyzed(run) is expected


def test_it_looks_once_the_items_can_be_seen(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "MANY_ROWS", 1)
    seen: list[int] = []
    other = connection.copy()

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("ANALYZE"):
            with other.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM evaluations_runitem")
                seen.append(cursor.fetchone()[0])
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(look):
            lay_out_run(run.pk)
    finally:
        other.close()

    assert seen == [12]


def test_a_run_begins_although_an_index_of_the_table_is_being_made(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "MANY_ROWS", 1)
    monkeypatch.setattr(sizes, "LOCK_WAIT", "50ms")
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute("LOCK TABLE evaluations_runitem IN SHARE UPDATE EXCLUSIVE MODE")
            assert analyzed(run)
    finally:
        other.close()

    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert run.items.count() == 12
