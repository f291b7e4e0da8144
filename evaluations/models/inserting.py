"""Many rows of a table, inserted by one statement that takes them as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.db import connection, models


def insert_rows(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Insert rows; what they do not name has its default of the database.

    `bulk_create` takes ten times as long: it makes an object of each row and resolves each of its
    values, defaults of the database included.

    Args:
        rows: values by the names of columns, the same ones in each.

    Returns:
        The ids, in the order of the rows.

    Raises:
        DataError, IntegrityError: the database refuses one.
        TypeError: a value is none of JSON's.
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
