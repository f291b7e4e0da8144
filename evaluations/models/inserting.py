"""Insert many rows with a single statement that takes them as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.db import connection, models


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
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO "{table}" ({names})
                SELECT {names} FROM json_populate_recordset(NULL::"{table}", %s) ORDER BY id
                RETURNING id""",
            [orjson.dumps([{"id": at, **row} for at, row in enumerate(rows)]).decode()],
        )
        return sorted(pk for (pk,) in cursor.fetchall())
