"""Compute reports of large projects in a worker, under a lease, and store them for web processes.

A row holds the request (`view.py` creates it); a message only wakes a worker. All parts of
a view are computed and stored together, so that figures, tables and downloads show the same
numbers.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import QueryDict
from django.utils import timezone

from evaluations.models import KeptPart, KeptReport, KeptState
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.models.kept_reports import OPEN
from evaluations.models.row_by_row import writing_progress
from evaluations.people.waking import wake_for_report
from evaluations.reports.data import load_data, options_of
from evaluations.reports.serving.parts import REPORT, ReportView, code, page_and_query, row_name
from evaluations.reports.serving.view import fingerprint_of
from geval.reports.stored import stored
from geval.reports.verdicts.steps import OnStep, between
from geval.statistics import cache
from geval_site.sql import execute_sql

# A computing worker renews its lease twice a second; one that does not has died.
LEASE = timedelta(seconds=30)
EVERY_SECONDS = 0.5
# Computing takes memory, so views of one project are computed one at a time.
MOST_IN_HAND = 1
# How many reports to keep per view of a project, and of how many of its views.
MOST_KEPT = 2
MOST_VIEWS = 20
# How long requests for another software version are kept for workers of that version.
OTHER_VERSION = timedelta(days=1)
_LOCK = (
    # any constant: with a project's id it forms the lock under which its views are claimed
    0x6B657074
)
FAILED = (
    "Computing this report failed unexpectedly ({}). Try again. If that does not help, choose fewer"
    " judges or criteria with the filters, or contact the site's administrator: the workers' log"
    " has the details."
)
log = structlog.stdlib.get_logger(__name__)


class LeaseLostError(Exception):
    """Another worker took over, or the report is no longer wanted."""


def work_on_report(pk: int) -> None:
    """Compute a report, unless another worker does; then the waiting reports of its project."""
    kept = _claim(pk)
    if kept is None:
        return
    began = time.monotonic()
    try:
        with _renewing(kept) as on_step:
            parts = dict(_compute_parts(kept, on_step))
        _finish(kept, parts, seconds=time.monotonic() - began)
    except Exception as error:
        _give_up(kept, error)
    finally:
        # Release the arrays of a large project, which this process need not hold until the next
        # report.
        cache.forget()
    for waiting in KeptReport.objects.free().filter(project=kept.project_id).order_by("pk")[:1]:
        wake_for_report(waiting.pk)


def _give_up(kept: KeptReport, error: Exception) -> None:
    """Record an error, unless the report is no longer wanted: the project may be deleted while its
    data is read."""
    failed = not isinstance(error, LeaseLostError) and _mine(kept).update(
        state=KeptState.FAILED,
        message=FAILED.format(type(error).__name__),
        taken_until=None,
        ended_at=timezone.now(),
    )
    about = {"kept": kept.pk, "project": kept.project.slug}
    if failed:
        log.error("report failed", **about, exc_info=error)
    else:
        log.warning("report given up", **about)


def neglected_reports() -> list[int]:
    """Return the ids of reports that no worker computes. Those that were started too often are
    ended, and old requests for another software version are removed."""
    old = KeptReport.objects.exclude(code=code()).filter(state__in=OPEN)
    old.filter(wanted_at__lt=timezone.now() - OTHER_VERSION).delete()
    free = KeptReport.objects.free().filter(code=code())
    free.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=KeptState.FAILED,
        message=(
            f"{MOST_ATTEMPTS} workers started to compute this report and none finished. Is a "
            "worker being stopped or running out of memory? Choose fewer judges or criteria with "
            "the filters, or try again."
        ),
        ended_at=timezone.now(),
    )
    return list(free.values_list("pk", flat=True)[:100])


def _claim(pk: int) -> KeptReport | None:
    """Lease a report; None if it is not free, is for another software version, or enough of its
    project is being computed."""
    wanted = KeptReport.objects.select_related("project").filter(pk=pk, code=code()).first()
    if wanted is None:
        return None
    # Before any data is read: a concurrent change then makes these numbers count as old, never
    # wrongly as new.
    now, fingerprint = timezone.now(), fingerprint_of(wanted.project)
    with transaction.atomic():
        execute_sql("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, wanted.project_id % 2**31])
        if (
            KeptReport.objects.in_progress().filter(project=wanted.project_id).count()
            >= MOST_IN_HAND
        ):
            return None
        claimed = (
            KeptReport.objects.free()
            .filter(pk=pk, attempts__lt=MOST_ATTEMPTS)
            .update(
                state=KeptState.COMPUTING,
                attempts=F("attempts") + 1,
                taken_until=timezone.now() + LEASE,
                fingerprint=fingerprint,
                computed_at=now,
                step="",
                share=0.0,
            )
        )
        return KeptReport.objects.select_related("project").get(pk=pk) if claimed else None


def _mine(kept: KeptReport) -> QuerySet[KeptReport]:
    """Return the row, unless another worker has it now, or it was removed."""
    return KeptReport.objects.filter(pk=kept.pk, state=KeptState.COMPUTING, attempts=kept.attempts)


@contextmanager
def _renewing(kept: KeptReport) -> Iterator[OnStep]:
    """Renew the lease while a report is computed, and record its progress.

    The steps raise LeaseLostError once another worker holds the lease.
    """
    now = {"share": 0.0, "step": ""}
    lost = threading.Event()

    def on_step(share: float, step: str) -> None:
        now.update(share=share, step=step[:200])
        if lost.is_set():
            raise LeaseLostError

    def renew() -> None:
        if not _mine(kept).update(taken_until=timezone.now() + LEASE, **now):
            lost.set()

    with writing_progress(renew, seconds=EVERY_SECONDS):
        yield on_step


def _compute_parts(kept: KeptReport, on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """Return the parts of a view, by name."""
    project = kept.project
    page, written = page_and_query(kept.view)
    query = QueryDict(written)
    view = page.read(query, options_of(query, project)[0])
    if page.row_view(view.query) != kept.view:
        # A record named by a filter was removed; without the filter the view would show more.
        _mine(kept).delete()
        raise LeaseLostError
    on_step(0.0, "reading ratings and scores")
    data = load_data(
        project, list(project.judges.all()), list(project.criteria.all()), with_labels=True
    )
    report = ReportView(project, page, view, read=lambda _project: data, on_step=on_step)
    parts = [(name, part, keys) for name, part in page.parts.items() for keys in part.keys(report)]
    step = between(on_step, 0.8 if page is REPORT else 0.5, 1.0)
    for index, (name, part, keys) in enumerate(parts):
        step(index / len(parts), part.step)
        value = part.compute(report, *keys)
        if value is not None:
            yield row_name(name, *keys), stored(part.shorten(value))


def _finish(kept: KeptReport, parts: dict[str, bytes], *, seconds: float) -> None:
    """Publish the parts to all web processes, and remove reports that are too old."""
    with transaction.atomic():
        if not _mine(kept).update(
            state=KeptState.DONE,
            taken_until=None,
            step="",
            share=1.0,
            message="",
            seconds=seconds,
            ended_at=timezone.now(),
        ):
            raise LeaseLostError
        KeptPart.objects.bulk_create(
            [KeptPart(kept=kept, name=name, content=content) for name, content in parts.items()]
        )
        _remove_old(kept)
    log.info("report computed", kept=kept.pk, project=kept.project.slug, seconds=round(seconds, 1))


def _remove_old(kept: KeptReport) -> None:
    """Keep the newest few reports of this view, and of other views the most recently computed."""
    ended = KeptReport.objects.filter(project=kept.project_id).exclude(state__in=OPEN)
    of_view: dict[str, list[int]] = {}
    for pk, view in ended.order_by("-pk").values_list("pk", "view"):
        of_view.setdefault(view, []).append(pk)
    remaining = [pk for pks in list(of_view.values())[:MOST_VIEWS] for pk in pks[:MOST_KEPT]]
    ended.exclude(pk__in=remaining).delete()
