"""DATABASE_URL and the queue's connection string: every part arrives, however odd its
characters."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import example, given
from hypothesis import strategies as st
from pgmq.base import PGMQConfig
from psycopg.conninfo import conninfo_to_dict

from geval_site.databases import PREPARED, broker_options, database_settings, queue_conninfo

VALUES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)


def test_a_url_is_taken_apart(tmp_path: Path) -> None:
    found = database_settings(
        "postgresql://ann:p%40ss@db.example:6543/geval?sslmode=require", tmp_path
    )

    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert [found[key] for key in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "ann",
        "p@ss",
        "db.example",
        "6543",
        "geval",
    ]
    assert found["OPTIONS"] == {"sslmode": "require", **PREPARED}


def test_without_a_url_the_embedded_server_is_used(tmp_path: Path) -> None:
    assert database_settings("", tmp_path)["ENGINE"] == "geval_site.embedded.backend"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://x/y", "must start with postgresql://"),
        ("postgresql://host/", "names no database"),
        ("postgresql://h:x y/d", "cannot be read"),
    ],
)
def test_a_url_that_will_not_do(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        database_settings(url, tmp_path)


@example("h", "u", "d", "://")
@given(VALUES, VALUES, VALUES.filter(bool), VALUES)
def test_the_queue_connects_to_the_same_database(
    host: str, user: str, name: str, password: str
) -> None:
    settings = {
        "HOST": host,
        "USER": user,
        "NAME": name,
        "PASSWORD": password,
        "OPTIONS": {"sslmode": "disable"},
    }

    dsn = PGMQConfig(conn_string=queue_conninfo(settings)).dsn

    assert conninfo_to_dict(dsn) == {
        "host": host,
        "port": "",
        "dbname": name,
        "user": user,
        "password": password,
        "sslmode": "disable",
    }


def test_a_broker_url_replaces_the_queue_in_the_database() -> None:
    assert broker_options("amqp://guest@broker//", {})[0] == "amqp://guest@broker//"
