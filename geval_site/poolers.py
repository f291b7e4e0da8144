"""Detect a connection pooler that the site does not work behind.

A pooler that reassigns a connection after each transaction, such as PgBouncer in transaction mode,
passes no notifications, which the job queue in the database needs. Before version 1.21, or without
`max_prepared_statements`, it also loses prepared statements: the site works until a statement was
already prepared by another connection, or is missing when used. So workers and web servers check
before they start.
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
# A pooler gives the most recently used connection to the next client, unless others ask in between.
TRIES = 5
# A command that starts waits for this check.
CONNECT_SECONDS = 5


def pooler_advice() -> list[str]:
    """Return what to do about the pooler in front of the database, if the site does not work behind
    it; empty if the database is unavailable."""
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
    """The pooler between the site and its database; usually there is none, and both flags are
    False."""

    shares_connections: bool = False
    loses_statements: bool = False


def look(database: Mapping[str, Any]) -> Pooler:
    """Detect a pooler with two simultaneous connections.

    Args:
        database: Django's settings of the database.

    Raises:
        psycopg.OperationalError: the database is unavailable.
    """
    parameters = libpq_parameters(database) | {"connect_timeout": str(CONNECT_SECONDS)}
    return Pooler(
        any(_share_connection(parameters) for _ in range(TRIES)),
        any(_lose_statement(parameters) for _ in range(TRIES)),
    )


def _share_connection(parameters: Mapping[str, str]) -> bool:
    """Whether a single PostgreSQL process answers two connections that are open at once."""
    with _connect(parameters) as first, _connect(parameters) as second:
        processes = [
            connection.execute("SELECT pg_backend_pid()").fetchone()
            for connection in (first, second)
        ]
    return processes[0] == processes[1]


def _lose_statement(parameters: Mapping[str, str]) -> bool:
    """Whether two connections that prepare a statement under the same name conflict. They must not:
    each should have its own process, or the pooler should tell them apart."""
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
