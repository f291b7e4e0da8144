"""A pooler that the site does not work behind is named before anything begins; with what the
message says, it does."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from django.conf import settings

from evaluations.models import Judge, Project
from geval_site.databases import PGMQ, database_settings
from geval_site.embedded.runner import SYSTEM_USER
from geval_site.poolers import (
    LOSES_STATEMENTS,
    PASSES_NO_NOTIFICATIONS,
    Pooler,
    look,
    pooler_advice,
)
from tests.brokers import broker, has_broker
from tests.processes import free_port

# Debian keeps it where the path of ordinary users does not lead.
PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin") or ""
pytestmark = pytest.mark.django_db(transaction=True)
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@contextmanager
def pooled(database_url: str, *, mode: str = "transaction") -> Iterator[str]:
    """PgBouncer in front of the test database; the address at which it answers."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _pooled(database_url, Path(folder), mode)


def _pooled(database_url: str, folder: Path, mode: str) -> Iterator[str]:
    parts, port = urlsplit(database_url), free_port()
    server = parse_qs(parts.query)
    name = parts.path.lstrip("/")
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        f"""[databases]
{name} = host={server["host"][0]} port={server["port"][0]} user={parts.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 10
ignore_startup_parameters = extra_float_digits
"""
    )
    account = []
    if os.geteuid() == 0:  # as which it refuses to run: as the account of our own server then
        account = ["--user", SYSTEM_USER]
        shutil.chown(folder, SYSTEM_USER)
    process = subprocess.Popen(
        [PGBOUNCER, "--quiet", *account, str(configuration)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"postgresql://{parts.username}@127.0.0.1:{port}/{name}"
    try:
        deadline = time.monotonic() + 20
        while True:
            assert process.poll() is None, "PgBouncer ended instead of starting"
            assert time.monotonic() < deadline
            with suppress(psycopg.OperationalError), psycopg.connect(address):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(20)


def is_of_old() -> bool:
    """Whether the PgBouncer that is installed is older than 1.21."""
    if not PGBOUNCER:
        return False
    shown = subprocess.run([PGBOUNCER, "--version"], capture_output=True, text=True, check=True)
    major, minor = shown.stdout.split()[1].split(".")[:2]
    return (int(major), int(minor)) < (1, 21)


needs_pooler = pytest.mark.skipif(
    not is_of_old(), reason="no PgBouncer before 1.21 is installed, which loses statements"
)


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say that the site's database is at an address."""

    def be_behind(address: str, *, prepare: bool = True, broker: str = PGMQ) -> None:
        database = database_settings(address, Path("/nowhere"), prepare=prepare)
        monkeypatch.setitem(settings.DATABASES, "default", database)
        monkeypatch.setattr(settings, "CELERY_BROKER_URL", broker)

    return be_behind


def test_postgresql_itself_is_no_pooler(database_url: str, behind: Callable[..., None]) -> None:
    behind(database_url)

    assert look(settings.DATABASES["default"]) == Pooler()
    assert pooler_advice() == []


def test_a_database_that_is_away_says_nothing_about_poolers(behind: Callable[..., None]) -> None:
    behind(f"postgresql://geval@127.0.0.1:{free_port()}/geval")

    assert pooler_advice() == []


@needs_pooler
@pytest.mark.parametrize(
    ("mode", "prepare", "broker", "advice"),
    [
        ("transaction", True, PGMQ, [LOSES_STATEMENTS, PASSES_NO_NOTIFICATIONS]),
        ("transaction", True, "redis://h", [LOSES_STATEMENTS]),
        ("transaction", False, PGMQ, [PASSES_NO_NOTIFICATIONS]),
        ("transaction", False, "redis://h", []),
        ("session", True, PGMQ, []),
    ],
)
def test_each_thing_that_the_pooler_does_not_do_is_named(
    database_url: str,
    behind: Callable[..., None],
    mode: str,
    prepare: bool,
    broker: str,
    advice: list[str],
) -> None:
    with pooled(database_url, mode=mode) as address:
        behind(address, prepare=prepare, broker=broker)

        assert pooler_advice() == advice


@needs_pooler
@pytest.mark.parametrize("command", [("worker",), ("web", "--bind", "127.0.0.1:0"), ("doctor",)])
def test_workers_web_servers_and_the_doctor_name_the_settings(
    database_url: str, manage: Command, command: tuple[str, ...]
) -> None:
    with pooled(database_url) as address:
        done = manage(*command, DATABASE_URL=address)

    assert done.returncode != 0
    shown = done.stdout + done.stderr
    assert "GEVAL_PREPARE_STATEMENTS=0" in shown
    assert "CELERY_BROKER_URL" in shown
    assert "Traceback" not in shown


@needs_pooler
@pytest.mark.skipif(not has_broker("Redis"), reason="no Redis is installed")
def test_with_these_settings_a_run_ends_behind_it(
    database_url: str,
    tmp_path: Path,
    manage: Command,
    small_project: Project,
    make_judge: Callable[..., Judge],
) -> None:
    judge = make_judge(small_project, use_steps=False)
    with pooled(database_url) as address, broker("Redis", tmp_path) as queue:
        done = manage(
            "judge", small_project.slug, "--judge", judge.name, timeout=120,
            DATABASE_URL=address, GEVAL_PREPARE_STATEMENTS="0", CELERY_BROKER_URL=queue,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert judge.runs.get().scores.count() == 12
