"""Backups of whole sites, as processes: killed with `kill -9` in the middle, made during a run, of
an earlier version, and on a server that is not the embedded one."""

import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from geval_site.embedded.runner import SYSTEM_USER, system_account
from tests.conftest import CHECKOUT
from tests.earlier_sites import FIRST, database_of, report_of
from tests.processes import StandInProcess, free_port
from tests.sites_of_their_own import temporary_folder
from tests.slow.test_kills import ITEMS, Site, begin, expire_leases

pytestmark = pytest.mark.processes
DEBIANS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
DOCUMENTS = 20_000
OTHERS = """
    SELECT 1 FROM pg_stat_activity
    WHERE application_name IN ('psql', 'pg_restore') AND datname = 'geval'
"""
# Enough for a dump and a restore to take seconds.
FILL = (
    "import os; from evaluations.models import *;"
    " p = Project.objects.create(name='Large', slug='large');"
    " Document.objects.bulk_create([Document(project=p, doc_id=str(n),"
    f" source=os.urandom(1000).hex()) for n in range({DOCUMENTS})], batch_size=2000)"
)


@pytest.fixture
def make_folder() -> Iterator[Callable[[], Path]]:
    with ExitStack() as folders:
        yield lambda: folders.enter_context(temporary_folder())


@pytest.fixture
def site(make_folder: Callable[[], Path]) -> Iterator[Site]:
    """A site whose server runs all the time, because of a process that is connected to another of
    its databases."""
    made = Site(make_folder())
    keeper = start(made, "shell", "--no-imports", "-v", "0", "-c", KEEP_RUNNING)
    ready = made.folder / "postgres" / "postmaster.pid"
    made.wait_for(lambda: ready.exists() and made.query("SELECT 1") == [(1,)])
    yield made
    made.stop()
    keeper.terminate()
    keeper.wait(30)


KEEP_RUNNING = (
    "from django.db import connection; connection.settings_dict['NAME'] = 'postgres';"
    " connection.ensure_connection(); import time; time.sleep(600)"
)


def start(site: Site, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT, env=site.environment, text=True, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill_alone(process: "subprocess.Popen[str]") -> None:
    """The command, and not the programs that it started: they have to notice."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait(20)


def test_a_backup_that_is_killed_leaves_no_backup(
    site: Site, make_folder: Callable[[], Path]
) -> None:
    target = make_folder() / "b"
    site.manage("migrate", "--verbosity", "0")
    site.shell(FILL)
    for least in (0, 2_000_000, 10_000_000):
        process = start(site, "backup", str(target))

        def has_begun(least: int = least) -> bool:
            return any(draft.stat().st_size >= least for draft in target.parent.glob("b.*"))

        site.wait_for(has_begun)
        assert process.poll() is None
        kill_alone(process)
        assert not target.exists()
        for draft in target.parent.glob("b.*"):
            draft.unlink()

    site.manage("backup", str(target))
    assert target.stat().st_size > 10_000_000


def test_a_restore_that_is_killed_leaves_the_old_site_or_the_new_one(
    site: Site, make_folder: Callable[[], Path]
) -> None:
    target = make_folder() / "b"
    site.manage("migrate", "--verbosity", "0")
    site.shell(FILL)
    site.manage("backup", str(target))
    site.query("DELETE FROM evaluations_document RETURNING 1")
    began = time.monotonic()
    site.manage("restore", str(target), "--replace")
    took = time.monotonic() - began
    seen = []
    for share in (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0):
        site.query("DELETE FROM evaluations_document RETURNING 1")
        process = start(site, "restore", str(target), "--replace")
        time.sleep(share * took)
        kill_alone(process)
        # psql goes on to its end, or the server ends its transaction.
        site.wait_for(lambda: not site.query(OTHERS))
        seen.append(site.query("SELECT count(*) FROM evaluations_document")[0][0])

    site.manage("restore", str(target), "--replace")
    assert set(seen) <= {0, DOCUMENTS}
    assert seen[0] == 0
    assert site.query("SELECT count(*) FROM evaluations_document") == [(DOCUMENTS,)]


def test_a_run_goes_on_in_the_restored_site(
    site: Site, make_folder: Callable[[], Path], standin: StandInProcess
) -> None:
    target = make_folder() / "b"
    begin(site, standin)
    site.start_worker()
    site.wait_for(lambda: site.scored() > ITEMS // 4)
    # Calls are under way and end only after the backup, however long it takes.
    standin.process.send_signal(signal.SIGSTOP)
    try:
        site.manage("backup", str(target))
        backed_up = site.scored()
    finally:
        standin.process.send_signal(signal.SIGCONT)
    site.stop()

    other = Site(make_folder())
    said = other.manage("restore", str(target))
    other.start_worker()
    other.wait_for(lambda: other.scored() >= backed_up)
    expire_leases(other)
    other.wait_for(other.is_done)

    assert "resume" in said
    assert ITEMS // 4 < backed_up < ITEMS
    query = "SELECT count(*), count(DISTINCT output_id) FROM evaluations_score"
    assert other.query(query) == [(ITEMS, ITEMS)]
    other.stop()


def test_a_backup_of_an_earlier_version_is_migrated(
    site: Site, make_folder: Callable[[], Path]
) -> None:
    target = make_folder() / "b"
    with psycopg.connect(host=str(site.folder / "run"), user="geval", dbname="geval") as database:
        database.execute(database_of(FIRST))
    site.manage("backup", str(target))

    site.manage("restore", str(target), "--replace")

    assert site.manage("report", "demo", "--format", "json") == report_of(FIRST)


@pytest.fixture
def served(make_folder: Callable[[], Path]) -> Iterator[str]:
    """The address of an empty database on the system's PostgreSQL, of a user who is nobody
    special."""
    if not DEBIANS:
        pytest.skip("the system has no PostgreSQL of its own in /usr/lib/postgresql")
    programs, folder = DEBIANS[0].parent, make_folder()
    cluster, port = folder / "cluster", free_port()
    cluster.mkdir()
    account: dict[str, int | str] = {}
    if os.geteuid() == 0:
        owner: pwd.struct_passwd = system_account(SYSTEM_USER)
        os.chown(cluster, owner.pw_uid, owner.pw_gid)
        account = {"user": owner.pw_uid, "group": owner.pw_gid}

    def run(name: str, *arguments: str) -> None:
        subprocess.run(
            [programs / name, "-D", str(cluster), *arguments],
            check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **account,  # type: ignore[call-overload]
        )  # fmt: skip

    run("initdb", "-U", "boss", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
    # The site's user has to say its password.
    (cluster / "pg_hba.conf").write_text(
        "host all boss all trust\nhost all all all scram-sha-256\n"
    )
    run("pg_ctl", "-w", "-o", f"-h 127.0.0.1 -p {port} -k ''", "start")
    try:
        with psycopg.connect(
            host="127.0.0.1", port=port, user="boss", dbname="postgres", autocommit=True
        ) as boss:
            boss.execute("CREATE ROLE site LOGIN PASSWORD 'pass word'")
            boss.execute("CREATE DATABASE site OWNER site")
        yield f"postgresql://site:pass%20word@127.0.0.1:{port}/site"
    finally:
        run("pg_ctl", "-w", "-m", "immediate", "stop")


def test_a_backup_moves_from_the_embedded_server_to_an_older_one_and_back(
    site: Site, make_folder: Callable[[], Path], served: str
) -> None:
    there, back = make_folder() / "there", make_folder() / "back"
    outputs = CHECKOUT / "evaluations" / "demo_data" / "outputs.jsonl"
    site.manage("load", "p", str(outputs))
    held = site.query("SELECT count(*) FROM evaluations_candidateoutput")
    site.manage("backup", str(there))
    remote = Site(make_folder(), DATABASE_URL=served)

    remote.manage("restore", str(there))
    remote.manage("backup", str(back))
    site.query("DELETE FROM evaluations_candidateoutput RETURNING 1")
    site.manage("restore", str(back), "--replace")

    assert held[0][0] > 10
    assert site.query("SELECT count(*) FROM evaluations_candidateoutput") == held
