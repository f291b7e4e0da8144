"""Execute SQL; queries that are asked many times a second, where Django needs longer to build them
than PostgreSQL to answer: an annotator's next item and submission, a worker's poll, a run's
results. Slow queries of all kinds leave a line in the log.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import structlog
from django.conf import settings
from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

# Of a slow query in the log: its beginning names the tables.
MOST_CHARACTERS = 200
log = structlog.stdlib.get_logger(__name__)


Parameters = Sequence[Any] | Mapping[str, Any] | None


def execute_sql(statement: str, parameters: Parameters = None) -> int:
    """Execute a statement; return how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def fetch_rows(statement: str, parameters: Parameters = None) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def fetch_row(statement: str, parameters: Parameters = None) -> Any:
    """Return the first row of a statement; None without one."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()


def fetch_value(statement: str, parameters: Parameters = None) -> Any:
    """Return the first value of a statement that has a row."""
    return fetch_row(statement, parameters)[0]


class JoinedQuery:
    """A query over some tables, written once; a row becomes one record per table, then the other
    columns."""

    def __init__(
        self, tables: Mapping[str, type[models.Model]], rest: str, *, others: Sequence[str] = ()
    ) -> None:
        """Args:
        tables: models by the alias that `rest` (from FROM on) gives them.
        others: further expressions to select.
        """
        self._models = [(model, self._readers(model)) for model in tables.values()]
        columns = [
            f"{alias}.{connection.ops.quote_name(str(field.column))}"
            for alias, model in tables.items()
            for field in model._meta.concrete_fields
        ]
        self._sql = f"SELECT {', '.join([*columns, *others])} {rest}"

    @staticmethod
    def _readers(model: type[models.Model]) -> tuple[list[str], list[Any]]:
        fields = model._meta.concrete_fields
        return [field.attname for field in fields], [
            getattr(field, "from_db_value", None) for field in fields
        ]

    def all(self, parameters: Sequence[Any] | Mapping[str, Any]) -> list[list[Any]]:
        return [self._records(row) for row in fetch_rows(self._sql, parameters)]

    def first(self, parameters: Sequence[Any] | Mapping[str, Any]) -> list[Any] | None:
        rows = self.all(parameters)
        return rows[0] if rows else None

    def _records(self, row: tuple[Any, ...]) -> list[Any]:
        records: list[Any] = []
        position = 0
        for model, (names, readers) in self._models:
            values = row[position : position + len(names)]
            position += len(names)
            read = [
                value if reader is None else reader(value, None, connection)
                for value, reader in zip(values, readers, strict=True)
            ]
            records.append(model.from_db(connection.alias, names, read))
        return [*records, *row[position:]]


class CompiledQuery:
    """A query without arguments, compiled to SQL at its first use.

    Django takes ten times as long to compile a query with many conditions as PostgreSQL takes to
    run it.

    Args:
        write: builds the query. Times must be the database's (`Now()`): this process's time would
            be frozen into the SQL.
    """

    def __init__(self, write: Callable[[], models.QuerySet[Any, Any]]) -> None:
        self._write = write
        self._written: tuple[str, tuple[Any, ...]] | None = None

    def rows(self, *, among: list[int] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows as the driver reads them.

        Args:
            among: ids (first column) of the rows to return; None for all.
        """
        if self._written is None:
            self._written = self._write().query.sql_with_params()
        sql, parameters = self._written
        if among is not None:
            # The columns need no names here, and the planner inlines the inner query.
            sql, parameters = (
                f"SELECT * FROM ({sql}) q(id) WHERE id = ANY(%s)",
                (*parameters, among),
            )
        return fetch_rows(sql, parameters)


def insert_rows(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Insert rows; columns that they do not name get their database default.

    `bulk_create` takes ten times as long, because it creates an object per row and resolves every
    value and default.

    Args:
        rows: values by column name; all rows have the same columns.

    Returns:
        The ids, in the order of the rows.

    Raises:
        DataError, IntegrityError: the database rejects a row.
        TypeError: a value is not valid in JSON.
    """
    if not rows:
        return []
    names = ", ".join(f'"{name}"' for name in rows[0])
    table = model._meta.db_table
    inserted = fetch_rows(
        f"""INSERT INTO "{table}" ({names})
            SELECT {names} FROM json_populate_recordset(NULL::"{table}", %s) ORDER BY id
            RETURNING id""",
        [orjson.dumps([{"id": index, **row} for index, row in enumerate(rows)]).decode()],
    )
    return sorted(pk for (pk,) in inserted)


@receiver(connection_created)
def watch_queries(connection: BaseDatabaseWrapper, **_kwargs: Any) -> None:
    """Measure every query of a new connection; one that reconnects is measured already."""
    if note_slow_query not in connection.execute_wrappers:
        connection.execute_wrappers.append(note_slow_query)


def note_slow_query(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Log how long a slow query took and how it begins, without its parameters."""
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        seconds = time.perf_counter() - started
        if seconds >= settings.SLOW_QUERY_SECONDS:
            statement = " ".join(str(sql)[: 2 * MOST_CHARACTERS].split())[:MOST_CHARACTERS]
            log.warning("slow query", seconds=round(seconds, 3), statement=statement)
