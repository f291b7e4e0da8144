"""Read a query's numbers into an array without an object per number: millions in a second or
two."""

import struct
from collections.abc import Iterator

import numpy as np
from django.db import connection

from geval.statistics.types import FloatArray

# The server packs this many rows into one message; a message per row would spend most of the time
# in the driver.
PACKED_ROWS = 2**16
# PostgreSQL's binary COPY format: a header, then rows of a field count and a length before each
# value, then -1. An array of one dimension begins with its dimensions, whether it has NULLs, the
# type, its size and its lower bound; each element has its length before it.
_HEADER_BYTES = 19
_FIELD_COUNT = struct.Struct(">h")
_KEY = struct.Struct(">4x q")
_FIELD = struct.Struct(">i 4x i 4x i 4x")
_ELEMENT = np.dtype([("length", ">i4"), ("value", ">f8")])


def fetch_numbers(columns: list[str], rest: str) -> FloatArray:
    """Return all rows of `SELECT columns rest` as floats, unordered; ids up to 2^53 are exact.

    Args:
        columns: SQL expressions that are never NULL.
        rest: the query from FROM on, without parameters, which COPY does not take: only our own
            numbers may be inserted into it.

    Returns:
        Shape (rows, columns).

    Raises:
        ValueError: an expression was NULL.
    """
    pack = f"(row_number() OVER () - 1) / {PACKED_ROWS}"
    packs = [arrays for _key, arrays in _fetched(pack, columns, rest)]
    numbers = np.empty((sum(len(arrays[0]) for arrays in packs), len(columns)))
    for index, parts in enumerate(zip(*packs, strict=True)):
        np.concatenate(parts, out=numbers[:, index])
    return numbers


def fetch_groups(key: str, columns: list[str], rest: str) -> dict[int, list[FloatArray]]:
    """Return the columns of all rows, grouped by an integer key.

    Args:
        key: an SQL expression of a bigint that is never NULL, with few values.
        columns, rest: as for `fetch_numbers`.
    """
    return {
        group: [column.astype(float) for column in arrays]
        for group, arrays in _fetched(key, columns, rest)
    }


def two_ids(first: str, second: str) -> str:
    """Return an SQL key made of two expressions of ids below 2^31; `ids_of_key` splits it."""
    return f"({first})::bigint * 2147483648 + ({second})"


def ids_of_key(key: int) -> tuple[int, int]:
    return divmod(key, 2**31)


def _fetched(key: str, columns: list[str], rest: str) -> Iterator[tuple[int, list[FloatArray]]]:
    selected = ", ".join(f"({column})::float8 AS c{index}" for index, column in enumerate(columns))
    packed = ", ".join(f"array_agg(c{index})" for index in range(len(columns)))
    # OFFSET hides the key from the planner, which would otherwise expect many values and sort.
    statement = f"""
        COPY (SELECT key, {packed} FROM (
            SELECT ({key})::bigint AS key, {selected} {rest} OFFSET 0
        ) numbers GROUP BY key) TO STDOUT (FORMAT binary)"""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        position = _HEADER_BYTES
        for message in copy:
            yield from _packs(bytes(message), position)
            position = 0


def _packs(message: bytes, at: int) -> Iterator[tuple[int, list[FloatArray]]]:
    """Yield the rows of a message, each a key and arrays."""
    while at < len(message):
        (count,) = _FIELD_COUNT.unpack_from(message, at)
        at += _FIELD_COUNT.size
        if count < 0:
            return
        (key,) = _KEY.unpack_from(message, at)
        at += _KEY.size
        pack = []
        for _ in range(count - 1):
            length, has_null, size = _FIELD.unpack_from(message, at)
            if has_null:
                raise ValueError("A query for numbers returned NULL.")
            pack.append(np.frombuffer(message, _ELEMENT, size, at + _FIELD.size)["value"])
            at += 4 + length
        yield key, pack


def id_list(ids: list[int]) -> str:
    """Format ids as the inside of an SQL `IN (…)`; integers only, and never empty."""
    return ", ".join(str(int(pk)) for pk in ids) or "NULL"
