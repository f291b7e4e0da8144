"""Apply a function to each row, so that one failing row does not hold up the others; progress
written during long work; a full disk."""

import errno
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connection, connections

from geval_site.logs import kind_of

log = structlog.stdlib.get_logger(__name__)
Row = TypeVar("Row")


class RowsFailedError(Exception):
    """Some rows failed; the message says how many, and what kind of error."""


def for_each(rows: Iterable[Row], act: Callable[[Row], object], *, job: str) -> None:
    """Call `act` with each row; failures are logged, each with its row and traceback.

    Raises:
        RowsFailedError: some rows failed; all others were processed.
        OperationalError, InterfaceError: the database is unavailable, which is no error of a row.
    """
    count, errors = 0, []
    for row in rows:
        count += 1
        try:
            act(row)
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            log.exception("upkeep failed for a row", job=job, row=getattr(row, "pk", row))
            errors.append(error)
    if errors:
        message = f"{len(errors)} of {count}: {kind_of(errors[0])}"
        raise RowsFailedError(message) from errors[0]


@contextmanager
def writing_progress(
    write: Callable[[], object], *, seconds: float
) -> Iterator[Callable[[], None]]:
    """Have a thread call `write` every so many seconds; what is yielded stops it earlier.

    Inside an outer transaction nothing is written: the row would be invisible to others, and the
    second connection would wait for the first.
    """
    ended = threading.Event()

    def keep_writing() -> None:
        try:
            while not ended.wait(seconds):
                write()
        finally:
            connections.close_all()

    def stop() -> None:
        ended.set()
        if thread.is_alive():
            thread.join()

    thread = threading.Thread(target=keep_writing, daemon=True)
    if not connection.in_atomic_block:
        thread.start()
    try:
        yield stop
    finally:
        stop()


FULL = (
    "The site's disk is full, so nothing was stored. Ask the administrator to free some space, "
    "then try again."
)
# https://www.postgresql.org/docs/current/errcodes-appendix.html
POSTGRESQL_DISK_FULL = "53100"


def is_disk_full(error: BaseException) -> bool:
    if isinstance(error, DatabaseError):
        return getattr(error.__cause__, "sqlstate", None) == POSTGRESQL_DISK_FULL
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
