"""Recognise a connection pooler that the site does not work behind.

One that hands a connection on after each transaction, as PgBouncer does in transaction mode, passes
no notifications, which the queue of jobs in the database needs. And before version 1.21, or without
`max_prepared_statements`, it loses the statements we prepare: the site works for a while, until a
statement is prepared that another connection has prepared, or is not there when it is used. So
workers and web servers look before they begin.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from django.conf import settings
from psycopg.conninfo import make_conninfo
from psycopg.errors import DuplicatePreparedStatement, InvalidSqlStatementName

from geval_site.databases import PGMQ, PREPARED, libpq_parameters

LOSES_STATEMENTS = (
    "The database is behind a connection pooler that loses prepared statements, such as PgBouncer"
    " before 1.21. Set GEVAL_PREPARE_STATEMENTS=0, or use PgBouncer 1.21 or newer with"
    " max_prepared_statements above 0."
)
PASSES_NO_NOTIFICATIONS = (
    "The queue of jobs is in a database behind a connection pooler that hands connections on after"
    " each transaction. Set CELERY_BROKER_URL to RabbitMQ or Redis, or the pooler to session mode."
)
# A pooler gives the connection that was used last to whoever asks next, unless others ask in
# between.
TRIES = 5
CONNECT_SECONDS = 5


def pooler_advice() -> list[str]:
    """What to do about the pooler in front of the database, if the site does not work behind it;
    nothing where the database is away."""
    database = settings.DATABASES["default"]
    try:
        pooler = look(database)
    except psycopg.OperationalError:
        return []
    prepares = bool(PREPARED.keys() & database.get("OPTIONS", {}).keys())
    needs_notifications = settings.CELERY_BROKER_URL == PGMQ
    return [
        *([LOSES_STATEMENTS] if prepares and pooler.loses_statements else []),
        *([PASSES_NO_NOTIFICATIONS] if needs_notifications and pooler.shares_connections else []),
    ]


@dataclass(frozen=True)
class Pooler:
    """What is between the site and its database: mostly nothing, which does neither."""

    shares_connections: bool = False
    loses_statements: bool = False


def look(database: Mapping[str, Any]) -> Pooler:
    """See what becomes of two connections at once.

    Args:
        database: Django's settings of it.

    Raises:
        psycopg.OperationalError: it is away.
    """
    parameters = libpq_parameters(database) | {"connect_timeout": str(CONNECT_SECONDS)}
    return Pooler(
        any(_share_connection(parameters) for _ in range(TRIES)),
        any(_lose_statement(parameters) for _ in range(TRIES)),
    )


def _share_connection(parameters: Mapping[str, str]) -> bool:
    """Whether one process of PostgreSQL answers two connections that are open at once."""
    with _connect(parameters) as first, _connect(parameters) as second:
        processes = [
            connection.execute("SELECT pg_backend_pid()").fetchone()
            for connection in (first, second)
        ]
    return processes[0] == processes[1]


def _lose_statement(parameters: Mapping[str, str]) -> bool:
    """Whether two connections that prepare a statement under the same name meet: each should have
    a process of its own, or the pooler tell them apart."""
    with _connect(parameters) as first, _connect(parameters) as second:
        try:
            first.execute("SELECT 1", prepare=True)
            second.execute("SELECT 2", prepare=True)
            first.execute("SELECT 1", prepare=True)
        except (DuplicatePreparedStatement, InvalidSqlStatementName):
            return True
    return False


def _connect(parameters: Mapping[str, str]) -> "psycopg.Connection[tuple[Any, ...]]":
    return psycopg.connect(make_conninfo(**parameters), autocommit=True)
