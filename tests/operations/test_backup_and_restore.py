"""A site restored from a backup is the site that was backed up; one that fails changes nothing."""

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
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
from evaluations.operations import backups
from geval_site.databases import database_settings, libpq_parameters

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def at_database(name: str) -> Iterator[None]:
    """Have commands go to another database of the server."""
    settings = connection.settings_dict
    usual = settings["NAME"]
    connection.close()
    settings["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        settings["NAME"] = usual


@pytest.fixture
def elsewhere(database_url: str) -> Iterator[str]:
    """Another, empty database of the server."""
    name = f"{connection.settings_dict['NAME']}_elsewhere"
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield name
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def backup(small_project: Project, tmp_path: Path) -> Path:
    """A backup of the small project with three documents."""
    call_command("backup", str(tmp_path / "b"))
    return tmp_path / "b"


def report(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    call_command("report", "small", "--format", "json")
    return capsys.readouterr().out


def test_a_restored_site_gives_the_same_report_without_sessions(
    judged_project: Project,
    owner: User,
    elsewhere: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Client().force_login(owner)
    before = report(capsys)
    call_command("backup", str(tmp_path / "b"))
    with at_database(elsewhere):
        call_command("restore", str(tmp_path / "b"))
        assert report(capsys) == before
        assert User.objects.filter(pk=owner.pk).exists()
        assert not Session.objects.exists()
    assert Session.objects.count() == 1
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_a_backup_in_a_folder_has_the_time_and_leaves_no_draft(
    small_project: Project, tmp_path: Path
) -> None:
    (tmp_path / "backups").mkdir()
    call_command("backup", str(tmp_path / "backups"))
    (made,) = (tmp_path / "backups").iterdir()
    assert made.match("20??-??-??-????.backup")


def test_an_existing_file_is_never_overwritten(backup: Path) -> None:
    content = backup.read_bytes()
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(backup))
    assert backup.read_bytes() == content
    assert list(backup.parent.glob("b*")) == [backup]


def test_a_site_is_replaced_only_on_request(backup: Path, elsewhere: str) -> None:
    with at_database(elsewhere):
        call_command("migrate", verbosity=0)
        call_command("restore", str(backup))
        Document.objects.get(doc_id="d1").delete()
        with pytest.raises(CommandError, match="is not empty"):
            call_command("restore", str(backup))
        assert Document.objects.count() == 2
        call_command("restore", str(backup), "--replace")
        assert Document.objects.count() == 3


def test_tables_of_something_else_are_no_empty_database(backup: Path, elsewhere: str) -> None:
    with at_database(elsewhere):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE theirs ()")
        with pytest.raises(CommandError, match="is not empty"):
            call_command("restore", str(backup))


def damaged(content: bytes) -> bytes:
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 255] * 40) + content[place + 40 :]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damaged, "pg_restore failed"),
        (lambda content: content[: len(content) // 2], "pg_restore failed"),
        (lambda _content: b"", "pg_restore failed"),
        (lambda _content: b"PGDMP, but not for long", "pg_restore failed"),
        (lambda _content: b"PK\x03\x04...", "earlier version: restore what `unzip"),
    ],
)
def test_a_damaged_backup_changes_nothing(
    backup: Path, elsewhere: str, change: Any, message: str
) -> None:
    with at_database(elsewhere):
        call_command("restore", str(backup))
        backup.write_bytes(change(backup.read_bytes()))
        with pytest.raises(CommandError, match=message):
            call_command("restore", str(backup), "--replace")
        assert Document.objects.count() == 3


def test_the_dump_in_a_container_of_version_1_0_0_is_restored(
    backup: Path, elsewhere: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "old", "w") as archive:
        archive.write(backup, "database.dump")
    with zipfile.ZipFile(tmp_path / "old") as archive:
        (tmp_path / "site.dump").write_bytes(archive.read("database.dump"))
    with at_database(elsewhere):
        call_command("restore", str(tmp_path / "site.dump"))
        assert Document.objects.count() == 3


def test_a_backup_of_a_newer_version_is_refused(
    small_project: Project, elsewhere: str, tmp_path: Path
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('evaluations', '0999_later', now()), ('theirs', '0001_initial', now())"
        )
    try:
        call_command("backup", str(tmp_path / "b"))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE app = 'theirs' OR name ~ '^0999'")
    with at_database(elsewhere), pytest.raises(CommandError, match=r"newer .* 0999_later\)"):
        call_command("restore", str(tmp_path / "b"))


def test_a_database_in_use_is_left_alone(backup: Path, elsewhere: str) -> None:
    parameters = libpq_parameters(connection.settings_dict) | {"dbname": elsewhere}
    with at_database(elsewhere):
        call_command("restore", str(backup))
        with psycopg.connect(**parameters) as other:  # type: ignore[arg-type]
            other.execute("SELECT 1 FROM evaluations_document")
            with pytest.raises(CommandError, match="lock timeout"):
                call_command("restore", str(backup), "--replace")
        assert Document.objects.count() == 3


def test_what_the_server_refuses_is_said_in_its_words_and_changes_nothing(
    backup: Path, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_database(elsewhere):
        call_command("restore", str(backup))
        monkeypatch.setattr(backups, "EMPTIED", f"{backups.EMPTIED} SELECT 1/0;")
        with pytest.raises(CommandError, match=r"psql failed: .*division by zero"):
            call_command("restore", str(backup), "--replace")
        assert Document.objects.count() == 3


def test_a_database_without_a_site_cannot_be_backed_up(elsewhere: str, tmp_path: Path) -> None:
    with at_database(elsewhere), pytest.raises(CommandError, match="holds no site"):
        call_command("backup", str(tmp_path / "b"))
    assert list(tmp_path.iterdir()) == []


def test_no_secret_is_on_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://kim:pass-secret@h/d?sslmode=require"
    about = SimpleNamespace(settings_dict=database_settings(address, tmp_path))
    monkeypatch.setattr(backups, "connection", about)
    assert "secret" not in " ".join(backups._connected())

    about.settings_dict = database_settings(f"{address}&sslpassword=key-secret", tmp_path)
    with pytest.raises(backups.BackupError, match="sslpassword of DATABASE_URL"):
        backups._connected()
