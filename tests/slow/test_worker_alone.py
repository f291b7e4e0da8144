"""`celery -A geval_site worker` alone, on a fresh data folder: starts the embedded PostgreSQL or
says what to do."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT, wait_until

pytestmark = pytest.mark.processes


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gv-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def start_celery(folder: Path) -> subprocess.Popen[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
    }
    settings = {"GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(folder), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "geval_site", "worker", "--concurrency", "1",
            "--loglevel", "INFO"],
        cwd=CHECKOUT, env={**kept, **settings, "DJANGO_SETTINGS_MODULE": "geval_site.settings"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_it_starts_the_database_and_ends_with_it(root: Path) -> None:
    worker = start_celery(root / "data")
    assert worker.stdout is not None
    lines: list[str] = []
    for line in worker.stdout:
        lines.append(line)
        if "worker started" in line:
            break
    assert worker.poll() is None, "".join(lines[-20:])

    worker.terminate()
    worker.communicate(timeout=60)

    wait_until(lambda: not (root / "data" / "postgres" / "postmaster.pid").exists())


def test_it_says_what_to_do_where_the_database_cannot_start(root: Path) -> None:
    (root / "postgres").write_text("not a folder")

    said, _ = start_celery(root).communicate(timeout=60)

    assert "does not start" in said
    assert "with the same GEVAL_DATA_DIR, or set DATABASE_URL" in said
