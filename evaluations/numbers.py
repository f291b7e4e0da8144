"""The numbers of a query as an array, without an object a number: millions of scores come in a second or two."""

import numpy as np
from django.db import connection

from evaluations.statistics.pairing import FloatArray

# PostgreSQL's binary COPY format: a header, then rows of a field count and a length before each value, then a trailer.
_HEADER_BYTES = 19
_TRAILER_BYTES = 2


def fetch_numbers(columns: list[str], rest: str) -> FloatArray:
    """All rows of `SELECT columns rest` as floats; ids up to 2^53 are exact.

    Args:
        columns: SQL expressions that are never NULL.
        rest: from FROM on, complete: COPY takes no parameters, so only our own numbers may be written into it.

    Returns:
        Shape (rows, columns).
    """
    selected = ", ".join(f"({column})::float8" for column in columns)
    statement = f"COPY (SELECT {selected} {rest}) TO STDOUT (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        received = b"".join(copy)
    fields = [("count", ">i2")] + [
        part for index in range(len(columns)) for part in ((f"length{index}", ">i4"), (f"value{index}", ">f8"))
    ]
    rows = np.frombuffer(received[_HEADER_BYTES : len(received) - _TRAILER_BYTES], dtype=np.dtype(fields))
    found = np.empty((len(rows), len(columns)))
    for index in range(len(columns)):
        found[:, index] = rows[f"value{index}"]
    return found


def id_list(ids: list[int]) -> str:
    """Ids as the inside of an SQL `IN (…)`; whole numbers only, and never empty."""
    return ", ".join(str(int(pk)) for pk in ids) or "NULL"


def positions(ids: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Where each id stands among the known ones, which rise."""
    return np.searchsorted(known, ids.astype(np.int64))
