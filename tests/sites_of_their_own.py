"""Sites with a PostgreSQL of their own, of which everything may be killed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from geval_site.embedded.paths import DATABASE, USER, socket_dir
from tests.conftest import CHECKOUT

# A full disk, as PostgreSQL says it when a file cannot grow, and room again.
FILL_DISK = """
    CREATE OR REPLACE FUNCTION refuse_for_lack_of_space() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER disk_is_full BEFORE INSERT ON evaluations_score
        EXECUTE FUNCTION refuse_for_lack_of_space()"""
MAKE_ROOM = "DROP FUNCTION IF EXISTS refuse_for_lack_of_space() CASCADE"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that a server's own user may enter; its short path leaves room for a socket's."""
    folder = Path(tempfile.mkdtemp(prefix="gv-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Site:
    """A data folder with its server, and workers on it. Looks at the database without going through
    Django."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
        }
        self.environment = {
            **kept,
            "GEVAL_DATA_DIR": str(folder),
            "PYTHONWARNINGS": "ignore",
            **environment,
        }
        self.processes: list[subprocess.Popen[str]] = []

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=CHECKOUT, env=self.environment, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, code: str) -> str:
        return self.manage("shell", "--no-imports", "-v", "0", "-c", code)

    def start_worker(self, *, threads: int = 1) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "geval_site", "--quiet", "worker",
                "--concurrency", str(threads),
                "--loglevel", "CRITICAL", "--without-mingle", "--without-gossip",
                "--hostname", f"k{time.monotonic_ns()}@%h",
            ],
            cwd=CHECKOUT, env=self.environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, text=True,
            start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a statement, waiting while the server is away."""
        deadline = time.monotonic() + 90
        while True:
            try:
                host = str(socket_dir(self.folder))
                with psycopg.connect(
                    host=host, user=USER, dbname=DATABASE, autocommit=True
                ) as connection:
                    cursor = connection.execute(sql)  # type: ignore[arg-type]
                    return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the database did not come back"
                time.sleep(0.1)

    def scored(self) -> int:
        return int(self.query("SELECT count(*) FROM evaluations_score")[0][0])

    def wait_for(self, condition: Callable[[], bool], *, seconds: float = 180) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.query(
                "SELECT state, count(*) FROM evaluations_runitem GROUP BY 1"
            )
            time.sleep(0.1)

    def is_done(self) -> bool:
        return self.query("SELECT state FROM evaluations_evaluationrun")[0][0] == "done"

    def kill_server(self) -> None:
        """The whole PostgreSQL at once, as a machine that loses power."""
        pid = int((self.folder / "postgres" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for process in (pid, *map(int, children)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)


def expire_leases(site: Site, *killed: subprocess.Popen[str]) -> None:
    """The clock is the one thing mocked: lost workers' leases and heartbeats would run out within
    the minute. Those of others go on: their items are not asked twice."""
    for worker in killed:
        site.query(
            "UPDATE evaluations_runitem SET lease_until = now() WHERE state = 'leased'"
            f" AND leased_by LIKE '%:{worker.pid}:%' RETURNING 1"
        )
        site.query(
            f"DELETE FROM evaluations_workerheartbeat WHERE name LIKE '%:{worker.pid}' RETURNING 1"
        )
