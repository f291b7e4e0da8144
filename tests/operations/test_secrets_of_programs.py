"""Programs of PostgreSQL get secrets where no other user of the machine can see them."""

import subprocess
import sys
from pathlib import Path

import pytest

from evaluations.operations.backup import programs
from geval_site.databases import database_settings

URL = "postgresql://kim:pass-secret@h/d?sslpassword=key-secret&sslkey=/k.pem&sslmode=require"
SAY = """
import os
print(os.environ.get("PGPASSWORD"))
path = os.environ.get("PGSERVICEFILE")
if path:
    print(oct(os.stat(path).st_mode & 0o777), *open(path).read().split())
"""


def said(url: str, tmp_path: Path) -> list[str]:
    database = database_settings(url, tmp_path)
    command = (sys.executable, "-c", SAY)
    with programs._running(command, database, stdout=subprocess.PIPE) as running:
        return running.output.read().decode().splitlines()


def test_no_secret_is_on_the_command_line(tmp_path: Path) -> None:
    conninfo = programs._conninfo(database_settings(URL, tmp_path))

    assert "secret" not in conninfo
    assert "service=site" in conninfo
    assert "sslkey=/k.pem" in conninfo


def test_the_password_is_in_a_variable_and_others_are_in_a_private_file(tmp_path: Path) -> None:
    assert said(URL, tmp_path) == ["pass-secret", "0o600 [site] sslpassword=key-secret"]


@pytest.mark.parametrize("query", ["", "?service=own&sslpassword=x"])
def test_there_is_no_file_where_there_is_nothing_to_put_into_it(
    tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGSERVICEFILE", raising=False)

    assert said(f"postgresql://kim:p@h/d{query}", tmp_path) == ["p"]
