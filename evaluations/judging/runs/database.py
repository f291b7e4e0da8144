"""Use the ORM from coroutines: one thread and connection per worker, which wait while the server
restarts."""

import asyncio
import contextlib
import contextvars
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import ParamSpec, TypeVar

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.utils import timezone

from evaluations.models.row_by_row import is_disk_full

# A restart or a failover of PostgreSQL takes less; answers that were paid for are kept.
DATABASE_PATIENCE_SECONDS = 120.0

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")
OnFull = Callable[[datetime], object]
FULL = (
    "The database's disk is full, so nothing can be stored. Free some space: the run tries again by"
    " itself."
)


class DatabaseAwayError(Exception):
    """The database did not come back in time."""


class DiskFullError(DatabaseAwayError):
    """The database had no disk space left for all of that time."""

    def __init__(self) -> None:
        super().__init__(FULL)


class Database:
    """The ORM for coroutines: one thread, one connection, and retries while the server restarts.

    Args:
        on_full: called with the time until which calls are repeated, when the disk becomes full;
            what it writes may not fit.
    """

    def __init__(self, on_full: OnFull | None = None) -> None:
        self._on_full = on_full
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database")

    async def call(
        self, function: Callable[Inputs, Result], *args: Inputs.args, **kwargs: Inputs.kwargs
    ) -> Result:
        """Run a repeatable function in the database thread.

        Raises:
            DatabaseAwayError, DiskFullError: the server did not come back in time, or has no room
                left.
        """
        # With the context variables that the coroutine has bound for the log.
        context, act = contextvars.copy_context(), functools.partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, context.run, patiently, act, self._on_full
        )

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, _close_connection)
        self._thread.shutdown()


def _close_connection() -> None:
    """Close the calling thread's connection: `connection` is a different one in each thread."""
    connection.close()


def patiently(function: Callable[[], Result], on_full: OnFull | None = None) -> Result:
    """Run a repeatable function, retrying while the database is unavailable or its disk is full, so
    that paid results are not lost; `on_full` as for `Database`.

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
                if on_full and is_disk_full(error):
                    on_full(timezone.now() + timedelta(seconds=deadline - time.monotonic()))
                    on_full = None
            time.sleep(0.5)
