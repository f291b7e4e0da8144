"""Reports computed by a worker, as web processes see them: the last numbers, and newer ones in
progress.

A web process reads what a worker has stored (`worker.py`), and requests new numbers when these no
longer match the project.
"""

import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from cachetools import LRUCache, cached
from django.db import connection, transaction
from django.utils import timezone

from evaluations.models import KeptPart, KeptReport, KeptState, Project, WorkerHeartbeat
from evaluations.models.changes import state_of
from evaluations.models.kept_reports import OPEN
from evaluations.people.waking import wake_for_report
from evaluations.reports.serving.live import marks_of_runs
from evaluations.reports.serving.parts import (
    NUMBERS,
    AnyView,
    Key,
    PagePart,
    PageParts,
    ReportView,
    Value,
    code_of,
    page_and_query,
)
from geval.reports.page import ReportNumbers
from geval.reports.stored import restored
from geval.statistics.cache import digest_of

# A failed computation is retried when somebody views the report after this time, or requests it.
RETRY_AFTER = timedelta(minutes=10)
# How long pages and programs wait before they poll again for numbers that are being computed.
ASK_AGAIN_SECONDS = 5
# Number of reports cached in a web process; without texts and arrays each is small.
MOST_READ = 8
# Maximum number of a project's views that wait for a worker.
MOST_WAITING = 20
QUEUE = "reports"
# Every name and setting that a report shows or depends on.
_FRAME = " || ".join(
    f"""(SELECT md5(coalesce(string_agg(t::text, ';' ORDER BY t.id), ''))
         FROM {table} t WHERE t.{key} = %(project)s)"""
    for table, key in (
        ("evaluations_project", "id"),
        ("evaluations_criterion", "project_id"),
        ("evaluations_judge", "project_id"),
        ("evaluations_system", "project_id"),
        ("annotations_annotator", "project_id"),
    )
)


class NotComputedError(Exception):
    """There are no numbers to show yet; `cached` has their progress."""

    def __init__(self, cached: "CachedReport") -> None:
        super().__init__("a worker is computing this report")
        self.cached = cached


@dataclass
class CachedReport(ReportView):
    """The parts of a view, read from a worker's row.

    `last` has the newest finished numbers. `coming` are newer ones: waiting, being computed, or
    failed; None while `last` is up to date.
    """

    last: KeptReport | None
    coming: KeptReport | None

    @property
    def cached(self) -> "CachedReport":
        return self

    @property
    def mark(self) -> str:
        last = self.last.pk if self.last else 0
        return "-".join([f"kept.{last}", *marks_of_runs(self.project)])

    @property
    def has_numbers(self) -> bool:
        return self.last is not None

    is_at_hand = has_numbers

    def _read(self, part: PagePart[Value], *keys: Key) -> Value | None:
        if self.last is None:
            raise NotComputedError(self)
        row = KeptPart.objects.filter(kept=self.last, name=part.named(*keys))
        if part is NUMBERS:  # needed by every request of the report's page
            pk = row.values_list("pk", flat=True).first()
            return cast("Value | None", None if pk is None else _numbers(pk))
        content = row.values_list("content", flat=True).first()
        return None if content is None else restored(content, part.kind)

    def needed(self, part: PagePart[Value], *keys: Key) -> Value:
        value = self.part(part, *keys)
        if value is None:  # the row was just removed
            raise NotComputedError(self)
        return value

    @property
    def age_seconds(self) -> int | None:
        """Seconds since the data of the last numbers was read."""
        if self.last is None or self.last.computed_at is None:
            return None
        return round((timezone.now() - self.last.computed_at).total_seconds())

    @property
    def has_worker(self) -> bool:
        """Whether a worker that computes reports is alive."""
        return WorkerHeartbeat.objects.doing(QUEUE).exists()

    @property
    def is_of_large(self) -> bool:
        """Whether a worker computes the view because the project is large; some pages need a worker
        in any project."""
        row = self.coming or self.last
        return row is None or not page_and_query(row.view)[0].is_slow

    @property
    def in_words(self) -> str:
        """The state of newer numbers as a sentence."""
        coming = self.coming
        if coming is None:
            return "The report is up to date."
        if coming.has_failed:
            return coming.message
        if coming.state == KeptState.WAITING:
            return "A worker will compute this report; it waits for its turn."
        step = f": {coming.step}" if coming.step else ""
        return f"A worker is computing this report, {100 * coming.share:.0f} % done{step}."


@cached(LRUCache(MOST_READ), lock=threading.Lock())
def _numbers(pk: int) -> ReportNumbers | None:
    """Return a row's numbers; rows are written once. None if the row was removed."""
    part = KeptPart.objects.filter(pk=pk).first()
    return restored(part.content, ReportNumbers) if part else None


def cached_report(project: Project, page: PageParts, view: AnyView) -> CachedReport:
    """Return what workers have computed of a view. If it no longer matches the project, request new
    numbers."""
    row_view = page.row_view(view.query)
    rows = KeptReport.objects.filter(project=project, view=row_view, code=code_of(page))
    last, fingerprint = rows.done().first(), fingerprint_of(project)
    if last is not None and last.fingerprint == fingerprint:
        return CachedReport(project, view, last, None)
    coming = rows.exclude(state=KeptState.DONE).first()
    if coming is None or (coming.has_failed and _may_be_tried_again(coming, fingerprint)):
        coming = _request(project, row_view, code_of(page))
    return CachedReport(project, view, last, coming)


def try_again(project: Project, view: str) -> None:
    """Forget that computing a view has failed, so that it is requested at the next view."""
    KeptReport.objects.filter(project=project, view=view, state=KeptState.FAILED).delete()


def fingerprint_of(project: Project) -> str:
    """Return a digest that changes whenever anything that a report shows may have changed: ratings,
    scores, comparisons, and the names and settings of their records."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_FRAME}", {"project": project.pk})
        frame = cursor.fetchone()[0]
    return digest_of("fingerprint", [frame, sorted(state_of(project.pk).items(), key=repr)]).hex()


def _may_be_tried_again(failed: KeptReport, fingerprint: str) -> bool:
    is_old = failed.ended_at is not None and failed.ended_at < timezone.now() - RETRY_AFTER
    return is_old or failed.fingerprint != fingerprint


def _forget_waiting(project: Project) -> None:
    """Remove the oldest of too many waiting views; pages that still show them request them
    again."""
    waiting = KeptReport.objects.filter(project=project, state=KeptState.WAITING).order_by("-pk")
    waiting.filter(pk__in=list(waiting.values_list("pk", flat=True)[MOST_WAITING:])).delete()


def _request(project: Project, view: str, code: str) -> KeptReport:
    """Request new numbers from a worker; concurrent requests share the row."""
    with transaction.atomic():
        KeptReport.objects.filter(project=project, view=view, state=KeptState.FAILED).delete()
        wanted, made = KeptReport.objects.get_or_create(
            project=project, view=view, code=code, state__in=OPEN
        )
        if made:
            _forget_waiting(project)
            transaction.on_commit(lambda: wake_for_report(wanted.pk))
    return wanted
