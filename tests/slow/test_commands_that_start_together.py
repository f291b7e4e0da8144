"""Processes that start together on an empty database: one creates the tables, the others wait."""

import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.conftest import CHECKOUT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def empty_database(database_url: str) -> Iterator[str]:
    """The address of a database with nothing in it."""
    parts = urlsplit(database_url)
    name = f"{parts.path[1:]}_together"
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        server.execute(f'CREATE DATABASE "{name}"')
        yield urlunsplit(parts._replace(path=f"/{name}"))
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def test_none_waits_for_another_for_ever(empty_database: str) -> None:
    environment = {**os.environ, "DATABASE_URL": empty_database}
    started = [
        subprocess.Popen(
            [sys.executable, "manage.py", "create_token", "nobody", "name"],
            cwd=CHECKOUT, env=environment, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip

    said = [process.communicate(timeout=240)[1] for process in started]

    # The tables are there, and the user is not.
    assert [line for text in said for line in text.splitlines() if "Error" in line] == [
        line for text in said for line in text.splitlines() if "nobody" in line
    ], said
    with psycopg.connect(empty_database) as server:
        invalid = server.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone()
        found = server.execute("SELECT to_regclass('document_conversation') IS NOT NULL").fetchone()
    assert invalid == (0,)
    assert found == (True,)
