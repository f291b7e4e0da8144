"""Use the ORM from coroutines: one thread and connection per worker, which wait while the server
restarts."""

import asyncio
import contextlib
import contextvars
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from evaluations.models.disk import is_disk_full

# A restart or a failover of PostgreSQL takes less; answers that were paid for are kept.
DATABASE_PATIENCE_SECONDS = 120.0

Result = TypeVar("Result")


class DatabaseAwayError(Exception):
    """The database did not come back in time."""


class DiskFullError(DatabaseAwayError):
    """The database had no disk space left for all of that time."""

    def __init__(self) -> None:
        super().__init__(
            "The database's disk is full, so nothing can be stored. Free some space: the run tries"
            " again by itself."
        )


class Database:
    """The ORM for coroutines: one thread, one connection, and retries while the server restarts."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")

    async def call(self, function: Callable[[], Result]) -> Result:
        """Run a repeatable function in the database thread.

        Raises:
            DatabaseAwayError, DiskFullError: the server did not come back in time, or has no room
                left.
        """
        # With the context variables that the coroutine has bound for the log.
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, functools.partial(context.run, patiently, function)
        )

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, _close_connection)
        self._thread.shutdown()


def _close_connection() -> None:
    """Close the calling thread's connection: `connection` is a different one in each thread."""
    connection.close()


def patiently(function: Callable[[], Result]) -> Result:
    """Run a repeatable function, retrying while the database is unavailable or its disk is full, so
    that paid results are not lost.

    Raises:
        DatabaseAwayError, DiskFullError: as for `Database.call`.
    """
    deadline = time.monotonic() + DATABASE_PATIENCE_SECONDS
    while True:
        try:
            close_old_connections()
            return function()
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() > deadline:
                if is_disk_full(error):
                    raise DiskFullError from error
                raise DatabaseAwayError(str(error)) from error
            with contextlib.suppress(DatabaseError):
                connection.close()
            time.sleep(0.5)
