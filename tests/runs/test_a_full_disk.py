"""A full disk of the database: for a while results wait to be stored, then the run pauses and tries
again by itself. No reply is paid for twice."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from evaluations.judging.runs import database
from evaluations.judging.runs.resuming import FIRST_OUTAGE_WAIT, resume_due_runs
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Judge, ModelReply, Project, RunState
from tests.processes import StandInProcess
from tests.sites_of_their_own import FILL_DISK, MAKE_ROOM

pytestmark = pytest.mark.django_db(transaction=True)
ITEMS = 12


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def fill_up() -> None:
    execute(FILL_DISK)


def make_room() -> None:
    execute(MAKE_ROOM)


@pytest.fixture(autouse=True)
def room_in_the_end() -> Iterator[None]:
    yield
    make_room()


@pytest.fixture
def run(
    small_project: Project,
    make_judge: Callable[..., Judge],
    start_standin: Callable[..., StandInProcess],
) -> EvaluationRun:
    judge = make_judge(
        small_project, base_url=start_standin().base_url, use_steps=False, concurrency=2
    )
    return start_run(judge, list(small_project.criteria.all()))


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


def resumed(run: EvaluationRun) -> EvaluationRun:
    EvaluationRun.objects.filter(pk=run.pk).update(resumes_at=timezone.now())
    resume_due_runs()
    return worked_on(run)


def test_results_wait_for_room_and_nobody_notices(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up()
    worker = threading.Thread(target=work_on_run, args=(run.pk, "tester"))
    worker.start()
    try:
        while not EvaluationRun.objects.get(pk=run.pk).calls:
            time.sleep(0.05)
        time.sleep(1.0)  # it has tried to store them by now
        assert run.scores.count() == 0
        run.refresh_from_db()
        assert run.is_waiting
        assert "disk is full" in run.waits_for
    finally:
        make_room()
        worker.join(60)

    run.refresh_from_db()
    assert (run.state, run.message, run.calls) == (RunState.DONE, "", ITEMS)
    assert run.scores.count() == ITEMS


def test_a_run_without_room_for_long_pauses_and_goes_on_by_itself(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "DATABASE_PATIENCE_SECONDS", 0.2)
    fill_up()

    worked_on(run)

    assert run.state == RunState.PAUSED
    assert "disk is full" in run.message
    assert "tries again by itself" in run.message
    assert run.outage_since
    assert run.resumes_at
    assert run.resumes_at - run.outage_since >= FIRST_OUTAGE_WAIT
    assert not run.items.exclude(state=ItemState.PENDING).exists()

    make_room()
    resumed(run)

    assert (run.state, run.message, run.outage_since) == (RunState.DONE, "", None)
    assert (run.scores.count(), ModelReply.objects.count()) == (ITEMS, ITEMS)


def test_a_disk_too_full_for_a_pause_leaves_the_run_to_the_next_worker(
    run: EvaluationRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "DATABASE_PATIENCE_SECONDS", 0.2)
    fill_up()
    execute(
        "CREATE TRIGGER disk_is_full BEFORE UPDATE OF resumes_at ON evaluations_evaluationrun"
        " EXECUTE FUNCTION refuse_for_lack_of_space()"
    )

    with pytest.raises(database.DatabaseAwayError):
        work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.is_active
    make_room()
    run.items.update(lease_until=timezone.now())
    assert worked_on(run).state == RunState.DONE
    assert run.scores.count() == ITEMS


def test_a_command_says_in_one_sentence_that_the_disk_is_full(tmp_path: Path) -> None:
    fill_up()
    file = tmp_path / "outputs.csv"
    file.write_text("doc_id,system,source,output,gpt\na,s,A text,An output,3\n")

    with pytest.raises(CommandError, match="disk is full, so nothing was stored"):
        call_command("load", "new", str(file), columns=['gpt=scores["Depth","gpt"]'])
