"""The embedded PostgreSQL takes over the data of an earlier version, and keeps them.

The wheel has the programs of the version before, with which these tests make a site's data.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from geval_site.embedded import programs
from geval_site.embedded.paths import DATABASE, USER, EmbeddedServerError
from geval_site.embedded.programs import BROUGHT, ServerPrograms, current_programs, earlier_programs
from geval_site.embedded.server import EmbeddedServer
from geval_site.embedded.upgrade import COMPLETE, WORK
from tests.conftest import CHECKOUT, wait_until
from tests.earlier_sites import FIRST, database_of, report_of

pytestmark = pytest.mark.processes
EARLIER = 16
COUNT = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*), current_setting('server_version_num')::int / 10000 FROM seen")
    print(*cursor.fetchone())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder that the account of PostgreSQL can reach."""
    with tempfile.TemporaryDirectory(prefix="gv-") as name:
        Path(name).chmod(0o755)
        yield Path(name) / "data"


@pytest.fixture
def earlier(folder: Path) -> Iterator[EmbeddedServer]:
    """A server of the earlier version on that folder, with one table."""
    server = EmbeddedServer(folder, earlier_programs(EARLIER, folder))
    server.ensure_running()
    with connected(server) as connection:
        connection.execute("CREATE TABLE seen AS SELECT generate_series(1, 1000) AS n")
        connection.execute("CREATE ROLE reader")
        connection.execute("GRANT SELECT ON seen TO reader")
    yield server
    server.release()


def connected(server: EmbeddedServer, name: str = DATABASE) -> "psycopg.Connection[tuple[int]]":
    return psycopg.connect(host=str(server.socket_dir), user=USER, dbname=name, autocommit=True)


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=CHECKOUT, text=True,
        env=environment
        | {"GEVAL_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "geval_site.settings"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(folder: Path, *arguments: str, status: int = 0) -> tuple[str, str]:
    process = started(folder, *arguments)
    out, err = process.communicate(timeout=200)
    assert process.returncode == status, err
    return out, err


def counted(folder: Path) -> tuple[list[int], str]:
    """The rows of the table and the server's major version, and what was said."""
    out, err = run(folder, "-c", COUNT)
    return [int(word) for word in out.split()], err


def major(folder: Path) -> str:
    return (folder / "PG_VERSION").read_text().strip()


def test_a_site_of_an_earlier_version_is_moved_and_gives_the_same_report(
    earlier: EmbeddedServer, folder: Path
) -> None:
    with connected(earlier) as connection:
        connection.execute(database_of(FIRST))
        connection.execute("CREATE DATABASE kept_by_a_restore")
    earlier.release()

    _, said = run(folder, "manage.py", "migrate", "--verbosity", "0")
    report, silent = run(folder, "manage.py", "report", "demo", "--format", "json")
    examined, _ = started(folder, "manage.py", "doctor").communicate(timeout=200)

    kept = folder / f"postgres-{EARLIER}-before-upgrade"
    assert f"moved from PostgreSQL {EARLIER} to 18" in said
    assert f"kept in {kept}" in said
    assert "PostgreSQL" not in silent
    assert report == report_of(FIRST)
    assert [major(kept), major(folder / "postgres")] == [str(EARLIER), "18"]
    assert str(kept) in examined
    assert not (folder / WORK).exists()
    with running(folder) as connection:
        databases = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
        assert {DATABASE, "kept_by_a_restore"} <= databases
        allowed = connection.execute("SELECT has_table_privilege('reader', 'seen', 'SELECT')")
        assert allowed.fetchone() == (True,)


def running(folder: Path) -> "psycopg.Connection[tuple[int]]":
    server = EmbeddedServer(folder)
    server.ensure_running()
    return connected(server)


@pytest.mark.parametrize("moment", ["data/PG_VERSION", "data/pg_upgrade_output.d"])
def test_a_killed_upgrade_is_done_again(earlier: EmbeddedServer, folder: Path, moment: str) -> None:
    earlier.release()
    process = started(folder, "-c", COUNT)
    wait_until((folder / WORK / moment).exists)
    process.kill()
    process.communicate()

    found, said = counted(folder)

    assert found == [1000, 18]
    assert "Done." in said
    assert major(folder / f"postgres-{EARLIER}-before-upgrade") == str(EARLIER)


def test_one_killed_before_the_last_renaming_is_finished(
    earlier: EmbeddedServer, folder: Path
) -> None:
    earlier.release()
    counted(folder)
    (folder / "postgres").rename(folder / COMPLETE)

    assert counted(folder)[0] == [1000, 18]


def test_a_copy_is_stale_if_the_earlier_version_has_worked_since(
    earlier: EmbeddedServer, folder: Path
) -> None:
    earlier.release()
    counted(folder)
    (folder / "postgres").rename(folder / COMPLETE)
    (folder / f"postgres-{EARLIER}-before-upgrade").rename(folder / "postgres")
    earlier.ensure_running()
    with connected(earlier) as connection:
        connection.execute("INSERT INTO seen VALUES (1001)")
    earlier.release()

    assert counted(folder)[0] == [1001, 18]


@pytest.fixture
def wheel_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServerPrograms:
    """The bundled programs, as if the wheel had none of the earlier version."""
    current = current_programs()
    monkeypatch.setattr(programs, "_package", lambda: tmp_path)
    monkeypatch.setattr(programs, "DEBIANS", tmp_path)
    return current


def test_without_programs_it_says_how_to_bring_them(
    earlier: EmbeddedServer, folder: Path, wheel_of_another_version: ServerPrograms
) -> None:
    earlier.release()
    before = sorted(path.name for path in (folder / "postgres").iterdir())

    with pytest.raises(EmbeddedServerError) as error:
        EmbeddedServer(folder, wheel_of_another_version).ensure_running()

    assert f"pip install --no-deps --target '{folder / BROUGHT}'" in str(error.value)
    assert f"apt-get install postgresql-{EARLIER}" in str(error.value)
    assert sorted(path.name for path in (folder / "postgres").iterdir()) == before


def test_data_of_a_later_version_are_refused(folder: Path) -> None:
    (folder / "postgres").mkdir(parents=True)
    (folder / "postgres" / "PG_VERSION").write_text("99\n")

    _, said = run(folder, "-c", COUNT, status=1)

    assert "were made by PostgreSQL 99," in said
    assert "of the site has 18" in said


def test_what_cannot_be_moved_stays_as_it_is(earlier: EmbeddedServer, folder: Path) -> None:
    with connected(earlier) as connection:  # by a number that differs between versions
        connection.execute("CREATE TABLE odd AS SELECT 'now'::regproc AS function")
    earlier.release()

    _, said = run(folder, "-c", COUNT, status=1)

    assert "They are as they were" in said
    assert "reg* data types" in said
    assert major(folder / "postgres") == str(EARLIER)
