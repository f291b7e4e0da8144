"""Queries whose SQL Django writes once, for what many workers ask several times a second."""

from collections.abc import Callable
from typing import Any

from django.db import connection, models


class CompiledQuery:
    """A query without arguments, whose SQL is written when it is first asked.

    Django takes ten times as long to write a query of many conditions as PostgreSQL to answer it.

    Args:
        write: the query. Its moments have to be the database's (`Now()`): those of this process
            would be the ones at which the SQL was written.
    """

    def __init__(self, write: Callable[[], models.QuerySet[Any, Any]]) -> None:
        self._write = write
        self._written: tuple[str, tuple[Any, ...]] | None = None

    def rows(self, *, among: list[int] | None = None) -> list[tuple[Any, ...]]:
        """The rows, as the driver reads them.

        Args:
            among: the ids, in the first column, of the rows that are wanted; None for all.
        """
        if self._written is None:
            self._written = self._write().query.sql_with_params()
        sql, parameters = self._written
        if among is not None:
            # The columns need no names here, and the planner looks into the inner query.
            sql, parameters = (
                f"SELECT * FROM ({sql}) q(id) WHERE id = ANY(%s)",
                (*parameters, among),
            )
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
