"""Read reports and lists from a streaming replica of PostgreSQL, if the site has one.

What is read there is never older than the moment at which it was asked for: the replica has to have
replayed what the primary had written by then. One that lags, is away, or ends a query that takes
long is passed over, and the primary is asked.
"""

import functools
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import structlog
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper

from geval_site.databases import REPLICA

# A healthy replica is some milliseconds behind.
PATIENCE_SECONDS = 1.0
# About as far as a healthy replica is behind.
POLL_SECONDS = 0.01
# A replica that was passed over is not asked again for so long.
PASSED_OVER_SECONDS = 10.0
P = ParamSpec("P")
Result = TypeVar("Result")
_is_read: ContextVar[bool] = ContextVar("replica_is_read", default=False)
_passed_over_until = {REPLICA: float("-inf")}
log = structlog.stdlib.get_logger(__name__)


class ReplicaRouter:
    """Sends what `from_replica` functions read to the replica, and all else to the primary: also
    what belongs to an object that was read from the replica."""

    def db_for_read(self, _model: object, **_hints: object) -> str:
        return read_alias()

    def db_for_write(self, _model: object, **_hints: object) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *_objects: object, **_hints: object) -> bool:
        return True

    def allow_migrate(self, alias: str, *_names: object, **_hints: object) -> bool:
        return alias != REPLICA


def read_alias() -> str:
    """The alias of the database that is read right now."""
    return REPLICA if _is_read.get() else DEFAULT_DB_ALIAS


def read_connection() -> BaseDatabaseWrapper:
    """The connection to it, for SQL of one's own."""
    return connections[read_alias()]


def from_replica(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function read from the replica, and again from the primary if that fails there. It must
    read only, and do no harm when it is repeated."""

    @functools.wraps(function)
    def read(*args: P.args, **kwargs: P.kwargs) -> Result:
        if _is_read.get() or not _is_usable():
            return function(*args, **kwargs)
        token = _is_read.set(True)
        try:
            return function(*args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            # Such as a query that was in the way of what the replica has to replay.
            _pass_over(error)
        finally:
            _is_read.reset(token)
        return function(*args, **kwargs)

    return read


def replica_lag() -> float | None:
    """How many seconds the replica is behind; None without one, or where it is none any more.

    Raises:
        django.db.Error: it is away.
    """
    if REPLICA not in connections.settings:
        return None
    # Not what the replica received: one that is cut off has replayed all of that.
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        (written,) = cursor.fetchone()
    # Its last transaction may be long ago where nobody wrote, and it be behind for a moment only.
    if _has_replayed(written):
        return 0.0
    with connections[REPLICA].cursor() as cursor:
        cursor.execute(
            """SELECT extract(epoch FROM clock_timestamp() - coalesce(
                   pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
               WHERE pg_is_in_recovery()"""
        )
        row = cursor.fetchone()
    return float(row[0]) if row else None


def _is_usable() -> bool:
    """Whether there is a replica that has what was committed until now."""
    if REPLICA not in connections.settings or time.monotonic() < _passed_over_until[REPLICA]:
        return False
    primary = connections[DEFAULT_DB_ALIAS]
    if primary.in_atomic_block:
        return False  # nobody else sees yet what this transaction has written
    with primary.cursor() as cursor:
        # Not what is on its disk: with `synchronous_commit` off a commit is not, for a moment.
        cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
        (written,) = cursor.fetchone()
    try:
        is_there = _has_replayed(written)
    except DatabaseError as error:
        _pass_over(error)
        return False
    if not is_there:
        _pass_over(None)
    return is_there


def _has_replayed(position: str) -> bool:
    """Whether the replica comes to a position of the primary's log before patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with connections[REPLICA].cursor() as cursor:
            # Of a database that is no replica, or none any more, it is unknown.
            cursor.execute(
                "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position]
            )
            (is_there,) = cursor.fetchone()
        if is_there:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)


def _pass_over(error: Exception | None) -> None:
    _passed_over_until[REPLICA] = time.monotonic() + PASSED_OVER_SECONDS
    log.warning("replica passed over", reason=str(error).strip() if error else "it lags")
    if error:
        connections[REPLICA].close()
