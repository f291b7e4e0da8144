"""Read joined rows as records, with a statement that is built only once.

An annotator's next item and submission are asked for hundreds of times a second. Django would spend
more time on building a query of sixty columns than PostgreSQL on answering it, so these few queries
are written in SQL.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, models


class JoinedQuery:
    """A query over some tables; a row becomes one record per table, then the other columns."""

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
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            return [self._records(row) for row in cursor.fetchall()]

    def first(self, parameters: Sequence[Any] | Mapping[str, Any]) -> list[Any] | None:
        rows = self.all(parameters)
        return rows[0] if rows else None

    def _records(self, row: tuple[Any, ...]) -> list[Any]:
        records: list[Any] = []
        at = 0
        for model, (names, readers) in self._models:
            values = row[at : at + len(names)]
            at += len(names)
            read = [
                value if reader is None else reader(value, None, connection)
                for value, reader in zip(values, readers, strict=True)
            ]
            records.append(model.from_db(connection.alias, names, read))
        return [*records, *row[at:]]
