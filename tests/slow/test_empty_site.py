"""The whole way by commands: a project of one site comes into another, empty one, and its report is
the same."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from evaluations.models import Project
from tests.archive.test_round_trip import rich
from tests.conftest import CHECKOUT

__all__ = ["rich"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def empty_site(database_url: str) -> Iterator[Callable[..., str]]:
    """Runs manage.py on a database of its own, which is migrated and has nothing in it; returns
    what it prints."""
    parts = urlsplit(database_url)
    name = f"{parts.path[1:]}_elsewhere"
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        server.execute(f'CREATE DATABASE "{name}"')
    environment = {**os.environ, "DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}"))}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("migrate", "-v0")
    yield run
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def test_the_report_in_an_empty_site_is_equal_byte_for_byte(
    rich: Project,
    manage: Callable[..., subprocess.CompletedProcess[str]],
    empty_site: Callable[..., str],
    tmp_path: Path,
) -> None:
    archive = tmp_path / "small.zip"
    here = manage("report", "small", "--format", "json").stdout
    assert manage("export_project", "small", str(archive)).returncode == 0

    empty_site("import_project", str(archive))

    assert len(here) > 1000
    assert empty_site("report", "small", "--format", "json") == here
