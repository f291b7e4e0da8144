"""A database of each earlier version migrates, and gives the same report to the last byte.

tests/data holds the demo project as each release left it (`make release-data`), and the report that
it made. The first is of version 0.1.0 before its folders and names were put in order: ratings of
people and of a release, runs of two judges (one of them twice), chrF, imported scores, and an
upload with an error. Its report was written by that version, and anew when intervals became those
of the jackknife, when ICC(1) began to count outputs that not everybody rated, numbers were cut to
12 digits, bias towards the own family was measured at equal rating, p-values were adjusted over all
criteria, verdicts came in, r without noise, families that may be given, the name of a test's
method, when scores were rounded as means are, which moved last digits, when the error of the best
constant was stated beside those of maps, when scores were compared by relative difference, verdicts
looked within systems, statistics that they replaced went (Fleiss' kappa, nominal alpha, ICC(2,k),
tau-c, bootstrap intervals, accuracy on pairs), the distance to a rater had its skewness taken
off, and what only this file had went (Williams' test, kappa of every two annotators, differences of
systems' means, the ordinal map's error, plain biases, effective levels, rho as a rater): all else
stayed the same.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection

from tests.conftest import CHECKOUT
from tests.earlier_sites import FIRST, VERSIONS, database_of, report_of

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def earlier(database_url: str, version: str) -> Iterator[str]:
    """The address of a database that holds the dump."""
    name = f"{connection.settings_dict['NAME']}_earlier"
    parts = urlsplit(database_url)
    address = urlunsplit(parts._replace(path=f"/{name}"))
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}"')
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            with psycopg.connect(address, autocommit=True) as database:
                database.execute(database_of(version))
            yield address
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def manage(address: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "manage.py"), *arguments],
        env=os.environ | {"DATABASE_URL": address},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_it_migrates_and_gives_the_same_report(earlier: str, version: str) -> None:
    manage(earlier, "migrate", "--verbosity", "0")

    assert manage(earlier, "report", "demo", "--format", "json") == report_of(version)
    if version == FIRST:
        check_the_first(earlier)


def check_the_first(address: str) -> None:
    """What later demos have not: an upload with an error."""
    with psycopg.connect(address) as database:
        found = database.execute("SELECT state, error_count, errors FROM evaluations_upload")
        state, count, errors = found.fetchone() or ("", 0, [])
        assert (state, count, errors[0]["message"]) == ("faulty", 1, "Not a number.")
        (runs,) = database.execute("SELECT count(*) FROM evaluations_evaluationrun").fetchone()  # type: ignore[misc]
        assert runs >= 6
