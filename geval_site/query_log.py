"""Slow queries leave a line: how long they took and how they begin, without their parameters."""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

MOST_CHARACTERS = 200
log = structlog.stdlib.get_logger(__name__)


@receiver(connection_created)
def watch_queries(connection: BaseDatabaseWrapper, **_kwargs: Any) -> None:
    """Measure every query of a new connection; one that reconnects is measured already."""
    if note_slow_query not in connection.execute_wrappers:
        connection.execute_wrappers.append(note_slow_query)


def note_slow_query(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    started = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        seconds = time.perf_counter() - started
        if seconds >= settings.SLOW_QUERY_SECONDS:
            statement = " ".join(str(sql)[: 2 * MOST_CHARACTERS].split())[:MOST_CHARACTERS]
            log.warning("slow query", seconds=round(seconds, 3), statement=statement)
