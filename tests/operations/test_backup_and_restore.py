"""A site restored from a backup is the site that was backed up; one that fails changes nothing."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from psycopg import sql

from evaluations.models import Document, Project
from evaluations.operations import doctor
from evaluations.operations.backup import programs
from evaluations.operations.backup.swapping import at_database
from geval.files.backups.container import manifest_of, new_file, verify, write_container
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import BackupManifest
from geval_site.databases import libpq_parameters

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(database_url: str) -> Iterator["psycopg.Connection[tuple[str]]"]:
    """The server; databases that a test made are dropped at its end."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened
        for name in databases(opened):
            opened.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def elsewhere(server: "psycopg.Connection[tuple[str]]") -> str:
    """Another, empty database of the server, to which commands go while a test lasts."""
    name = f"{connection.settings_dict['NAME']}_elsewhere"
    server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return name


def databases(server: "psycopg.Connection[tuple[str]]") -> list[str]:
    """Those that tests here made."""
    begin = connection.settings_dict["NAME"].split("_elsewhere")[0]
    query = "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY datname"
    return [name for (name,) in server.execute(query, [f"{begin}_elsewhere"])]


def report(capsys: pytest.CaptureFixture[str]) -> str:
    call_command("report", "small", "--format", "json")
    return capsys.readouterr().out


def test_a_restored_site_gives_the_same_report(
    judged_project: Project,
    elsewhere: str,
    server: "psycopg.Connection[tuple[str]]",
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = report(capsys)
    call_command("backup", str(tmp_path / "b"))
    said = capsys.readouterr().out

    with at_database(elsewhere):
        call_command("restore", str(tmp_path / "b"))
        after = report(capsys)

    assert "small: 3 documents, 6 outputs, 24 ratings, 11 scores" in said
    assert "secret key" in said
    assert after.endswith(before)
    assert databases(server) == [elsewhere]


def test_sessions_are_not_in_a_backup_and_those_of_an_earlier_one_are_removed(
    small_project: Project,
    elsewhere: str,
    server: "psycopg.Connection[tuple[str]]",
    tmp_path: Path,
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Client().force_login(owner)
    call_command("backup", str(tmp_path / "b"))
    monkeypatch.setattr(programs, "NOT_IN_A_BACKUP", "none")
    monkeypatch.setattr("evaluations.operations.backup.counting.NOT_IN_A_BACKUP", "none")
    call_command("backup", str(tmp_path / "earlier"))
    monkeypatch.undo()

    assert verify(tmp_path / "b").tables["django_session"] == 0
    assert verify(tmp_path / "earlier").tables["django_session"] == 1
    with at_database(elsewhere):
        for name in ("b", "earlier"):
            call_command("restore", str(tmp_path / name), "--replace", "--drop")
            assert User.objects.filter(pk=owner.pk).exists()
            assert not Session.objects.exists()
    assert Session.objects.count() == 1


def test_a_backup_shows_one_moment_while_others_write(
    small_project: Project, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = "INSERT INTO auth_group (name) VALUES (%s)"
    with psycopg.connect(database_url) as writing, psycopg.connect(database_url) as other:
        writing.execute(add, ["not committed"])

        real = write_container

        def meanwhile(file: Any, dump: Any, manifest: BackupManifest) -> BackupManifest:
            """Others commit while the dump is being made."""
            writing.commit()
            other.execute(add, ["too late"])
            other.commit()
            return real(file, dump, manifest)

        monkeypatch.setattr("evaluations.operations.backup.saving.write_container", meanwhile)
        call_command("backup", str(tmp_path / "b"))

    manifest = verify(tmp_path / "b")
    assert manifest.tables["auth_group"] == 0
    assert manifest.tables["evaluations_document"] == 3


@pytest.fixture
def backup(small_project: Project, tmp_path: Path) -> Path:
    """A backup of the small project with three documents."""
    call_command("backup", str(tmp_path / "b"), verbosity=0)
    return tmp_path / "b"


def changed(backup: Path, *, dump: bytes | None = None, **fields: object) -> Path:
    """A complete backup with another manifest or another dump."""
    with zipfile.ZipFile(backup) as archive:
        manifest = replace(manifest_of(archive), **fields)
        content = archive.read("database.dump") if dump is None else dump
    with new_file(backup.with_name("changed")) as file:
        write_container(file, io.BytesIO(content), manifest)
    return backup.with_name("changed")


@pytest.mark.slow
def test_a_site_is_replaced_only_on_request_and_kept(
    backup: Path, elsewhere: str, server: "psycopg.Connection[tuple[str]]"
) -> None:
    with at_database(elsewhere):
        call_command("restore", str(backup))
        Document.objects.get(doc_id="d1").delete()
        with pytest.raises(CommandError, match="is not empty"):
            call_command("restore", str(backup))
        refused = Document.objects.count()

        call_command("restore", str(backup), "--replace")
        restored = Document.objects.count()

    kept = databases(server)[1]
    with at_database(kept):
        earlier = Document.objects.count()
    assert (refused, restored, earlier) == (2, 3, 2)
    assert kept.startswith(f"{elsewhere}_before_")


def test_a_database_in_use_is_left_alone_unless_others_are_to_be_disconnected(
    backup: Path, elsewhere: str, server: "psycopg.Connection[tuple[str]]"
) -> None:
    parameters = libpq_parameters(connection.settings_dict) | {"dbname": elsewhere}
    with psycopg.connect(**parameters, autocommit=True) as other:
        with at_database(elsewhere):
            with pytest.raises(CommandError, match="1 other connections use the database"):
                call_command("restore", str(backup))
            names = databases(server)

            call_command("restore", str(backup), "--disconnect")
            restored = Document.objects.count()

        with pytest.raises(psycopg.OperationalError):
            other.execute("SELECT 1")
    assert names == [elsewhere]
    assert restored == 3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"software": "9.1.0", "migrations": {"evaluations": "0999_later"}},
            r"newer version: it was made by geval_site 9\.1\.0.*evaluations 0999_later.* Install",
        ),
        ({"dumped_by": 990_000}, "too old to restore a backup of version 99"),
        ({"dump": b"PGDMP, but not for long"}, "pg_restore failed: "),
        ({"tables": {"evaluations_document": 4}}, "evaluations_document has 3 rows, not 4"),
    ],
)
def test_a_backup_that_does_not_fit_changes_nothing(
    backup: Path,
    elsewhere: str,
    server: "psycopg.Connection[tuple[str]]",
    fields: dict[str, object],
    message: str,
) -> None:
    bad = changed(backup, **fields)  # type: ignore[arg-type]

    with at_database(elsewhere), pytest.raises(CommandError, match=message):
        call_command("restore", str(bad), "--replace")

    assert databases(server) == [elsewhere]


def test_a_damaged_backup_is_refused_before_anything_is_touched(
    backup: Path, elsewhere: str, server: "psycopg.Connection[tuple[str]]"
) -> None:
    content = bytearray(backup.read_bytes())
    content[len(content) // 2] ^= 1
    backup.write_bytes(content)

    with at_database(elsewhere), pytest.raises(CommandError, match="is damaged"):
        call_command("restore", str(backup), "--replace")

    assert databases(server) == [elsewhere]


@pytest.mark.slow
def test_another_secret_key_is_reported(
    backup: Path, elsewhere: str, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SECRET_KEY = "another " * 8

    with at_database(elsewhere):
        call_command("restore", str(backup))

    assert "secret key is not that of" in capsys.readouterr().out


@pytest.mark.slow
def test_what_a_killed_restore_left_behind_is_dropped_by_the_next(
    backup: Path, elsewhere: str, server: "psycopg.Connection[tuple[str]]"
) -> None:
    name = sql.Identifier(f"{elsewhere}_restoring")
    server.execute(sql.SQL("CREATE DATABASE {}").format(name))

    with at_database(elsewhere):
        call_command("restore", str(backup))

    assert databases(server) == [elsewhere]


def test_what_the_database_refuses_is_said_in_its_words(elsewhere: str, tmp_path: Path) -> None:
    psql = programs.packaged_programs() / "psql"
    (tmp_path / "psql").write_text(f'#!/bin/sh\nexec {psql} "$@"\n')
    (tmp_path / "pg_restore").write_text("#!/bin/sh\necho 'SELECT 1/0;'\nyes 'SELECT 1;'\n")
    for name in ("psql", "pg_restore"):
        (tmp_path / name).chmod(0o755)

    found = programs.BackupPrograms(tmp_path, 180_004)

    with at_database(elsewhere) as settings, pytest.raises(BackupError) as refused:
        programs.load_dump(found, settings, server=180_004, copy=lambda target: target.close())

    assert str(refused.value).startswith("psql failed: ")
    assert "division by zero" in str(refused.value)


@pytest.mark.slow
def test_databases_that_restores_left_are_listed_and_dropped(
    backup: Path,
    elsewhere: str,
    server: "psycopg.Connection[tuple[str]]",
    capsys: pytest.CaptureFixture[str],
) -> None:
    with at_database(elsewhere):
        call_command("restore", str(backup))
        call_command("restore", str(backup), "--replace")
        kept = databases(server)[1]
        found = doctor.databases()

        call_command("tidy", "--replaced")

    assert kept in found.seen
    assert "tidy --replaced" in found.advice
    assert f"Database {kept}" in capsys.readouterr().out
    assert databases(server) == [elsewhere]


def test_a_database_without_tables_cannot_be_backed_up(elsewhere: str, tmp_path: Path) -> None:
    with at_database(elsewhere), pytest.raises(CommandError, match="holds no site"):
        call_command("backup", str(tmp_path / "b"))

    assert list(tmp_path.iterdir()) == []
