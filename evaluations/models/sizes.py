"""The numbers of documents, systems, outputs and ratings in projects, and which documents are
rated, for pages that always show them: read once in each process until the project's texts or
ratings change, as `evaluations.models.changes` records.

Slow reads are cached for some seconds in each process, and longer if reading takes long, so that it
never takes more than a small share of the time, however many people ask. Statistics of tables are
refreshed where many rows were added at once: until autovacuum does so, the planner expects few rows
in a new run of half a million items.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
import structlog
from cachetools import TLRUCache, cached
from django.db import OperationalError, transaction
from django.db.models import Count, Exists, Max, Model, OuterRef

from evaluations.models import CandidateOutput, Document, Project, System
from evaluations.models.changes import ScoreChange
from geval.statistics.types import IntArray
from geval_site.sql import execute_sql

# Values are cached until a change, but only about as long as a person may look at them.
KEPT_SECONDS = 600.0


def with_sizes(projects: Iterable[Project]) -> list[Project]:
    """Return projects with `document_count`, `system_count` and `output_count`, in a handful of
    queries however many projects there are."""
    sized = list(projects)
    documents, outputs = _until_change(
        "texts",
        sized,
        lambda: (
            _counts(Document, "project", sized),
            _counts(CandidateOutput, "document__project", sized),
        ),
    )
    systems = _counts(System, "project", sized)
    for project in sized:
        project.document_count = documents.get(project.pk, 0)
        project.system_count = systems.get(project.pk, 0)
        project.output_count = outputs.get(project.pk, 0)
    return sized


def rating_count(project: Project) -> int:
    """Return how many ratings people gave in a project."""
    count: int = _until_change(
        "ratings", [project], lambda: project.annotators.aggregate(n=Count("ratings"))["n"]
    )
    return count


def rated_documents(project: Project) -> IntArray:
    """Return the ids of documents with a rated output, shape (n,)."""
    has_ratings = CandidateOutput.objects.filter(document=OuterRef("pk"), ratings__isnull=False)
    rated = project.documents.filter(Exists(has_ratings)).order_by().values_list("pk", flat=True)
    ids: IntArray = _until_change("rated", [project], lambda: np.fromiter(rated, np.int64))
    return ids


def _until_change(what: str, projects: list[Project], read: Callable[[], Any]) -> Any:
    """Return `read()`, or its cached value if nothing has changed in the projects since."""
    changes = ScoreChange.objects.filter(project__in=projects, judge=None).order_by("project")
    if what == "texts":
        changes = changes.filter(criterion=None)
    # Marks are read before the values: a concurrent change makes these count as old.
    marks = changes.values_list("project").annotate(Count("pk"), Max("pk"))
    key = (what, *(project.pk for project in projects), *marks)
    return read_seldom(key, read, seconds=KEPT_SECONDS)


def _counts(model: type[Model], of_project: str, projects: list[Project]) -> dict[int, int]:
    rows = model._default_manager.filter(**{f"{of_project}__in": projects}).order_by()
    return dict(rows.values_list(of_project).annotate(Count("pk")))


log = structlog.stdlib.get_logger(__name__)
# With fewer rows, a wrong plan costs no more than some milliseconds.
MANY_ROWS = 1000
LOCK_WAIT = "10s"


def refresh_statistics(tables: Iterable[str]) -> None:
    """Analyse tables again; PostgreSQL samples each, so that the size hardly matters.

    Rows added in the open transaction are included.
    """
    for table in tables:
        execute_sql(f"ANALYZE {table}")


def refresh_after_commit(tables: Iterable[str], *, added: int) -> None:
    """Refresh statistics once the transaction is committed, if many rows were added.

    Two sessions that analyse the same table wait for each other. Longer operations, such as
    building an index or VACUUM, are not waited for: pages may be slow in the meantime.
    """
    if added >= MANY_ROWS:
        transaction.on_commit(lambda: _refresh_unless_busy(list(tables)))


def _refresh_unless_busy(tables: list[str]) -> None:
    try:
        with transaction.atomic():
            execute_sql(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'")
            refresh_statistics(tables)
    except OperationalError as error:
        log.warning("statistics not refreshed", tables=tables, error=str(error))


Read = TypeVar("Read")
# A value is cached for this many times the time that reading it took.
TIMES_AS_LONG = 20
# Cache size per process: counts, and arrays of ids.
MOST_BYTES = 32 * 2**20


# Values, with the seconds for which each is cached.
_kept: TLRUCache[Hashable, tuple[Any, float]] = TLRUCache(
    MOST_BYTES,
    lambda _key, kept, now: now + kept[1],
    getsizeof=lambda kept: 1000 + int(getattr(kept[0], "nbytes", 0)),
)


def read_seldom(key: Hashable, read: Callable[[], Read], *, seconds: float) -> Read:
    """Return `read()`, or its cached value of some seconds ago.

    Args:
        key: what is read, with everything that it depends on.
        seconds: how long the value is cached at least.
    """
    value: Read = _read(key, read, seconds)[0]
    return value


# Of several threads that read the same key, one reads and the others wait for it.
@cached(_kept, key=lambda key, _read, _seconds: key, condition=threading.Condition())
def _read(_key: Hashable, read: Callable[[], Any], seconds: float) -> tuple[Any, float]:
    began = time.monotonic()
    value = read()
    return value, max(seconds, TIMES_AS_LONG * (time.monotonic() - began))


def forget() -> None:
    """Clear the cache, for tests."""
    _read.cache_clear()
