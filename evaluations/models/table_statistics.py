"""Refresh PostgreSQL's statistics of tables to which many rows were added at once.

The planner uses the statistics last gathered. Autovacuum refreshes them within a minute or so;
until then the planner expects few rows in a new run of half a million items.
"""

from collections.abc import Iterable

import structlog
from django.db import OperationalError, connection, transaction

log = structlog.stdlib.get_logger(__name__)
# With fewer rows, a wrong plan costs no more than some milliseconds.
MANY_ROWS = 1000
LOCK_WAIT = "10s"


def refresh_statistics(tables: Iterable[str]) -> None:
    """Analyse tables again; PostgreSQL samples each, so that the size hardly matters.

    Rows added in the open transaction are included.
    """
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ANALYZE {table}")


def refresh_after_commit(tables: Iterable[str], *, added: int) -> None:
    """Refresh statistics once the transaction is committed, if many rows were added.

    Two sessions that analyse the same table wait for each other. Longer operations, such as
    building an index or VACUUM, are not waited for: pages may be slow in the meantime.
    """
    if added >= MANY_ROWS:
        transaction.on_commit(lambda: _refresh_unless_busy(list(tables)))


def _refresh_unless_busy(tables: list[str]) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'")
            refresh_statistics(tables)
    except OperationalError as error:
        log.warning("statistics not refreshed", tables=tables, error=str(error))
