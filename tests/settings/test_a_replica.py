"""Reports and lists read from a streaming replica, and never from one that has not replayed what
was written before they were asked for."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psycopg
import pytest
from django.db import connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from psycopg import sql

from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import Document, Judge, Project
from evaluations.operations import doctor
from evaluations.operations.doctor import replica_findings
from evaluations.pages.browsing import browse
from evaluations.pages.runs.run_items import ItemsView, item_rows
from evaluations.reports.data import load_data
from geval_site import replica
from geval_site.databases import EMBEDDED, REPLICA
from geval_site.embedded.cluster import DatabaseCluster
from geval_site.embedded.paths import USER
from geval_site.embedded.programs import current_programs
from geval_site.embedded.runner import Runner
from geval_site.replica import from_replica, read_alias
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def standby(database_url: str) -> Iterator[DatabaseCluster]:
    """A server that follows the one of the tests."""
    if connection.settings_dict["ENGINE"] != EMBEDDED:
        pytest.skip("the tests' PostgreSQL is not the embedded one, so nothing may follow it")
    primary = parse_qs(urlsplit(database_url).query)["host"][0]
    with tempfile.TemporaryDirectory(prefix="gv-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        runner, programs = Runner(folder), current_programs()
        runner.prepare()
        for part in ("data", "run"):
            runner.make_folder(folder / part)
        follower = DatabaseCluster(runner, programs, folder / "data", folder / "run")
        runner.run(
            programs, "pg_basebackup", "-h", primary, "-U", USER, "-D", str(folder / "data"),
            "--write-recovery-conf", "--checkpoint=fast",
        )  # fmt: skip
        follower.start("-c max_connections=200")
        yield follower
        follower.stop()


class Following(DatabaseWrapper):
    """A connection to a replica, which Django's tests would forbid."""

    def ensure_connection(self) -> None:
        if self.connection is None:
            with self.wrap_database_errors:
                self.connect()


@pytest.fixture
def replicated(
    standby: DatabaseCluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[DatabaseCluster]:
    """The site of this test with that replica."""
    settings = connection.settings_dict | {"HOST": str(standby.socket_dir), "OPTIONS": {}}
    monkeypatch.setitem(connections.settings, REPLICA, settings)
    connections[REPLICA] = Following(settings, REPLICA)
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 20.0)
    ask_again()
    yield standby
    ask_again()
    connections[REPLICA].close()
    del connections[REPLICA]


def ask_again() -> None:
    """Have a replica that was passed over asked at once."""
    replica._passed_over_until[REPLICA] = float("-inf")


def on_standby(standby: DatabaseCluster, statement: str) -> None:
    with psycopg.connect(
        host=str(standby.socket_dir), user=USER, dbname="postgres", autocommit=True
    ) as connected:
        connected.execute(statement)


@contextmanager
def lagging(standby: DatabaseCluster) -> Iterator[None]:
    """The replica receives what is written, and replays nothing."""
    on_standby(standby, "SELECT pg_wal_replay_pause()")
    try:
        yield
    finally:
        on_standby(standby, "SELECT pg_wal_replay_resume()")


@contextmanager
def cut_off(standby: DatabaseCluster) -> Iterator[None]:
    """The replica answers, and receives nothing."""

    def receivers() -> int:
        return int(ask("SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'"))

    def ask(query: str) -> Any:
        with psycopg.connect(
            host=str(standby.socket_dir), user=USER, dbname="postgres"
        ) as connected:
            row = connected.execute(query).fetchone()
            assert row
            return row[0]

    def follow(primary: str) -> None:
        statement = sql.SQL("ALTER SYSTEM SET primary_conninfo = {}").format(primary)
        on_standby(standby, statement.as_string())
        on_standby(standby, "SELECT pg_reload_conf()")
        wait_until(lambda: receivers() == bool(primary))

    primary = ask("SHOW primary_conninfo")
    follow("")
    try:
        yield
    finally:
        follow(primary)


@from_replica
def names(project: Project) -> tuple[str, list[str]]:
    """Which database was read, and the documents in it."""
    documents = Document.objects.filter(project=project).order_by("pk")
    return read_alias(), [document.doc_id for document in documents]


def test_what_was_just_written_is_read_from_the_replica(
    replicated: DatabaseCluster, project: Project
) -> None:
    for number in range(5):
        Document.objects.create(project=project, doc_id=f"d{number}", source="A text.")

        assert names(project) == (REPLICA, [f"d{n}" for n in range(number + 1)])


def test_a_replica_that_lags_is_passed_over(
    replicated: DatabaseCluster, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 0.2)
    with lagging(replicated):
        Document.objects.create(project=project, doc_id="new", source="A text.")

        assert names(project) == ("default", ["new"])

    assert names(project)[0] == "default"  # it is not tried again at once
    ask_again()
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 20.0)
    assert names(project) == (REPLICA, ["new"])


def test_a_replica_that_is_away_is_passed_over(
    replicated: DatabaseCluster, project: Project
) -> None:
    Document.objects.create(project=project, doc_id="d1", source="A text.")
    assert names(project)[0] == REPLICA
    replicated.stop()
    try:
        assert names(project) == ("default", ["d1"])
        assert names(project) == ("default", ["d1"])
    finally:
        replicated.start("-c max_connections=200")


def test_a_query_that_the_replica_gives_up_is_asked_of_the_primary(
    replicated: DatabaseCluster, project: Project
) -> None:
    asked = []

    @from_replica
    def ask() -> int:
        asked.append(read_alias())
        with replica.read_connection().cursor() as cursor:
            if read_alias() == REPLICA:  # as when it is in the way of what is to be replayed
                cursor.execute("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)")
            cursor.execute("SELECT 7")
            return int(cursor.fetchone()[0])

    assert ask() == 7
    assert asked == [REPLICA, "default"]


def test_a_database_that_follows_nobody_is_no_replica(
    replicated: DatabaseCluster, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 0.1)
    connections[REPLICA].settings_dict["HOST"] = connection.settings_dict["HOST"]

    assert names(project)[0] == "default"
    assert [finding.severity for finding in replica_findings()] == ["error"]


def test_within_a_transaction_the_primary_is_read(
    replicated: DatabaseCluster, project: Project
) -> None:
    with transaction.atomic():
        Document.objects.create(project=project, doc_id="unseen", source="A text.")

        assert names(project) == ("default", ["unseen"])


def test_what_was_read_there_is_changed_in_the_primary(
    replicated: DatabaseCluster, project: Project
) -> None:
    Document.objects.create(project=project, doc_id="d1", source="A text.")

    @from_replica
    def first() -> Document:
        return Document.objects.filter(project=project).get()

    document = first()
    assert document._state.db == REPLICA
    document.doc_id = "renamed"
    document.save()
    document.project.delete()

    assert not Document.objects.exists()


def test_a_report_reads_its_numbers_there(
    replicated: DatabaseCluster, small_project: Project
) -> None:
    criteria = list(small_project.criteria.all())

    with (
        CaptureQueriesContext(connection) as of_primary,
        CaptureQueriesContext(connections[REPLICA]) as of_replica,
    ):
        data = load_data(small_project, [], criteria)

    assert len(of_primary) == 1  # how much the primary has written
    assert len(of_replica) > 3
    with transaction.atomic():
        of_own = load_data(small_project, [], criteria)
    for criterion in criteria:
        human = data.humans[criterion.pk].mean
        assert np.isfinite(human).any()
        np.testing.assert_array_equal(human, of_own.humans[criterion.pk].mean)


def test_pages_show_what_the_primary_holds_whatever_the_replica_does(
    replicated: DatabaseCluster,
    project: Project,
    as_role: Callable[[str], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 0.1)
    client = as_role("owner")

    def page() -> str:
        response = client.get(reverse("evaluations:document_list", args=[project.slug]))
        assert response.status_code == 200
        return response.content.decode()

    assert "sudden-document" not in page()
    with lagging(replicated):
        Document.objects.create(project=project, doc_id="sudden-document", source="A text.")
        assert "sudden-document" in page()
    assert "sudden-document" in page()


def test_the_doctor_says_how_far_it_is_behind(
    replicated: DatabaseCluster, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 0.1)
    assert [finding.severity for finding in replica_findings()] == ["ok"]
    replicated.stop()
    try:
        (finding,) = replica_findings()
    finally:
        replicated.start("-c max_connections=200")
    assert finding.severity == "error"
    assert "GEVAL_REPLICA_URL" in finding.advice


def test_a_replica_that_was_cut_off_is_behind_once_something_is_written(
    replicated: DatabaseCluster, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "MOST_LAG_SECONDS", 0.0)

    def severities() -> list[str]:
        return [finding.severity for finding in replica_findings()]

    assert severities() == ["ok"]
    with cut_off(replicated):
        monkeypatch.setattr(replica, "PATIENCE_SECONDS", 0.1)
        Document.objects.create(project=project, doc_id="new", source="A text.")
        wait_until(lambda: severities() == ["warning"])
    monkeypatch.setattr(replica, "PATIENCE_SECONDS", 20.0)
    assert severities() == ["ok"]


def test_without_a_replica_nothing_is_said_and_nothing_asked(project: Project) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert names(project) == ("default", [])

    assert len(queries) == 1
    assert list(replica_findings()) == []


def test_lists_of_documents_and_items_read_there(
    replicated: DatabaseCluster, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    run.refresh_from_db()

    with CaptureQueriesContext(connections[REPLICA]) as of_replica:
        listed = browse(small_project, {}, [], page=None)
        rows = item_rows(run, ItemsView.of(QueryDict()), page=1)

    assert len(of_replica) > 4
    assert len(listed.rows) == small_project.documents.count()
    assert len(rows) == run.items.count()
