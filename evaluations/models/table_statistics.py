"""Fresh statistics of tables to which many rows were added at once.

PostgreSQL plans by what it last saw of a table. By itself it looks again within a minute or so, and
until then takes a new run of half a million items for one of a few.
"""

from collections.abc import Iterable

import structlog
from django.db import OperationalError, connection, transaction

log = structlog.stdlib.get_logger(__name__)
# The planner misjudges fewer rows by no more than some milliseconds.
MANY_ROWS = 1000
LOCK_WAIT = "10s"


def refresh_statistics(tables: Iterable[str]) -> None:
    """Have PostgreSQL look at tables again: at a sample of each, so that the size hardly counts.

    Rows that the open transaction has added are seen.
    """
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ANALYZE {table}")


def refresh_after_commit(tables: Iterable[str], *, added: int) -> None:
    """The same once the transaction is committed, where many rows were added.

    Of two that look at a table at once one waits for the other. What takes long, such as an index
    that is being made or a VACUUM, is not waited for: the pages of the table may be slow meanwhile.
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
