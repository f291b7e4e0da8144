"""Queries that Django compiles to SQL once, for polls by many workers several times a second."""

from collections.abc import Callable
from typing import Any

from django.db import connection, models


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
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
