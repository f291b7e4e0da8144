"""One process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(lock: int) -> Iterator[bool]:
    """Whether no other process holds this lock of the database; this one does until the end.

    Args:
        lock: any number that nothing else uses.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
        mine = cursor.fetchone()[0]
        try:
            yield mine
        finally:
            if mine:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [lock])
