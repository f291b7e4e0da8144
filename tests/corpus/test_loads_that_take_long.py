"""A load of many rows is planned for many rows, its statements are limited in time, and a load that
was killed blocks no other."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from evaluations.corpus.store import load_files
from evaluations.models import CandidateOutput, Project
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from tests.conftest import OUTPUTS, wait_until
from tests.processes import start_python

pytestmark = pytest.mark.django_db(transaction=True)
Load = Callable[..., object]
FILLED = (
    "evaluations_document",
    "evaluations_candidateoutput",
    "annotations_rating",
    "annotations_preference",
    "evaluations_score",
)


@pytest.fixture
def other() -> Iterator[BaseDatabaseWrapper]:
    """A second connection to the database, as autovacuum or another load has."""
    made = connection.copy()
    yield made
    made.close()


def many_rows(documents: int) -> dict[str, str]:
    pairs = [(f"d{d}", system) for d in range(documents) for system in "ab"]
    outputs = (
        f'{{"doc_id": "{d}", "system_id": "{system}", "source": "s {d}", "output": "o"}}'
        for d, system in pairs
    )
    ratings = [f"{d},{system},fluency,ann,3" for d, system in pairs]
    preferences = [f"d{d},a,b,tie,ann" for d in range(documents)]
    return {
        "outputs.jsonl": "\n".join(outputs),
        # Everything twice, so that existing rows are compared with staged ones.
        "ratings.csv": "\n".join(
            ["doc_id,system_id,criterion,annotator,score", *ratings, *ratings]
        ),
        "scores.csv": "\n".join(["doc_id,system_id,criterion,judge,score", *ratings, *ratings]),
        "preferences.csv": "\n".join(
            ["doc_id,system_a,system_b,winner,annotator", *preferences, *preferences]
        ),
    }


def test_no_plan_grows_with_the_square_of_the_rows_whatever_autovacuum_saw(
    project: Project, tmp_path: Path, other: BaseDatabaseWrapper
) -> None:
    files = []
    for name, content in many_rows(400).items():
        (tmp_path / name).write_text(content)
        files.append(InputFile(tmp_path / name, name))
    plans: list[dict[str, Any]] = []

    def look(_step: str) -> None:
        # Sees no row of the open transaction.
        with other.cursor() as cursor:
            for table in FILLED:
                cursor.execute(f"ANALYZE {table}")

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "stage_" in sql and sql.lstrip().startswith("SELECT"):
            look("")
            with connection.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
                plans.append(cursor.fetchone()[0][0]["Plan"])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        result = load_files(project, files, watch=look)

    assert (result.ratings.created, result.ratings.unchanged) == (800, 800)
    assert (result.preferences.created, result.preferences.unchanged) == (400, 400)
    assert len(plans) >= 5
    assert max(compared(plan) for plan in plans) <= 2 * 1600


def compared(plan: dict[str, Any]) -> float:
    """The most rows that a part of a plan gives, or compares and leaves out."""
    own = sum(
        plan["Actual Loops"] * plan.get(name, 0)
        for name in ("Actual Rows", "Rows Removed by Join Filter", "Rows Removed by Filter")
    )
    return max([own, *(compared(part) for part in plan.get("Plans", ()))])


def test_the_limits_of_a_load_end_with_it(project: Project, load: Load) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('statement_timeout'), current_setting('enable_nestloop')"
        )
        assert cursor.fetchone() == ("0", "on")


@pytest.mark.parametrize(
    ("blocking", "step"),
    [
        ("LOCK TABLE evaluations_document IN SHARE MODE", "documents and outputs"),
        (
            "SELECT FROM evaluations_project FOR UPDATE",
            "waiting for another load into this project",
        ),
    ],
)
def test_a_statement_that_takes_too_long_ends_the_load_and_says_where(
    project: Project,
    load: Load,
    other: BaseDatabaseWrapper,
    settings: Any,
    blocking: str,
    step: str,
) -> None:
    settings.LOAD_STATEMENT_SECONDS = 1
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute(blocking)

    with pytest.raises(LoadError) as refused:
        load(project, {"outputs.jsonl": OUTPUTS})

    message = str(refused.value.errors[0])
    assert message.startswith(f"outputs.jsonl: loading stopped at “{step}”: ")
    assert "longer than 1 s" in message
    assert "GEVAL_LOAD_STATEMENT_SECONDS" in message
    assert not CandidateOutput.objects.exists()


@pytest.mark.processes
def test_a_load_that_was_killed_lets_go_of_its_locks_and_the_next_one_loads(
    project: Project, load: Load, tmp_path: Path, database_url: str, other: BaseDatabaseWrapper
) -> None:
    (tmp_path / "killed.jsonl").write_text(OUTPUTS)
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("LOCK TABLE evaluations_document IN SHARE MODE")
    killed = start_python(
        "manage.py", "load", project.slug, str(tmp_path / "killed.jsonl"), DATABASE_URL=database_url
    )
    waiting: list[int] = []
    wait_until(lambda: bool(waiting.extend(writing_servers()) or waiting))

    killed.kill()
    killed.wait()
    # The lock that it waits for is still held, so the statement itself does not end.
    wait_until(lambda: waiting[0] not in writing_servers())

    other.rollback()
    load(project, {"outputs.jsonl": OUTPUTS})
    assert CandidateOutput.objects.count() == 6


def writing_servers() -> list[int]:
    """The server processes that are writing documents."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT pid FROM pg_stat_activity WHERE datname = current_database()
               AND wait_event_type = 'Lock' AND query LIKE '%%evaluations_document%%'
               AND query LIKE '%%stage_document%%' AND pid <> pg_backend_pid()"""
        )
        return [pid for (pid,) in cursor.fetchall()]
