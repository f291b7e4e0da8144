"""One process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(lock: int) -> Iterator[bool]:
    """Whether this process got a database lock that no other process holds; it keeps the lock until
    it ends.

    Args:
        lock: any number not used elsewhere.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
        is_alone = cursor.fetchone()[0]
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [lock])
