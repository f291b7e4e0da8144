"""Compute reports of large projects in a worker, under a lease, and store them for web processes.

A row says what is wanted (`cached_report.py` makes it); a message only wakes a worker. All parts of
a view are computed at once and stored together, so that figures, tables and downloads are of the
same numbers.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.db import connection, connections, transaction
from django.db.models import F, QuerySet
from django.http import QueryDict
from django.utils import timezone

from evaluations.models import KeptPart, KeptReport, KeptState
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.models.kept_reports import OPEN
from evaluations.people.waking import wake_for_report
from evaluations.reports.data import load_data, options_of
from evaluations.reports.serving.cached_report import fingerprint_of
from evaluations.reports.serving.parts import REPORT, ComputedReport, codes, page_and_query
from geval.reports import memo
from geval.reports.stored import stored
from geval.reports.verdicts.steps import OnStep, between

# A worker that computes renews its lease twice a second; one that does not has died.
LEASE = timedelta(seconds=30)
EVERY_SECONDS = 0.5
# Each takes memory, so views of one project are computed one after the other.
MOST_IN_HAND = 1
# Of each view of a project, and of different views.
MOST_KEPT = 2
MOST_VIEWS = 20
# How long workers of another version may still compute what its web processes want.
OTHER_VERSION = timedelta(days=1)
_LOCK = (
    0x6B657074  # any constant: with a project's id it is the lock under which its views are taken
)
FAILED = (
    "Computing this report failed unexpectedly ({}). Try again. If that does not help, choose fewer"
    " judges or criteria with the filters, or contact the site's administrator: the workers' log"
    " has the details."
)
log = structlog.stdlib.get_logger(__name__)


class LeaseLostError(Exception):
    """Another worker took this one for dead, or nobody wants the report any more."""


def work_on_report(pk: int) -> None:
    """Compute a report, unless another worker does; then those of its project that waited."""
    kept = _claim(pk)
    if kept is None:
        return
    began = time.monotonic()
    try:
        with _renewing(kept) as on_step:
            parts = dict(_computed(kept, on_step))
        _finish(kept, parts, seconds=time.monotonic() - began)
    except Exception as error:
        _give_up(kept, error)
    finally:
        # Arrays of a large project, which this process need not hold until the next one.
        memo.forget()
    for waiting in KeptReport.objects.free().filter(project=kept.project_id).order_by("pk")[:1]:
        wake_for_report(waiting.pk)


def _give_up(kept: KeptReport, error: Exception) -> None:
    """Say what went wrong, unless nobody waits for this any more: the project may be deleted while
    its numbers are read."""
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
    """The ids of reports that nobody computes; those that were begun too often are ended, and those
    that another version of the software wanted long ago are removed."""
    old = KeptReport.objects.exclude(code__in=codes()).filter(state__in=OPEN)
    old.filter(wanted_at__lt=timezone.now() - OTHER_VERSION).delete()
    free = KeptReport.objects.free().filter(code__in=codes())
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
    """A report under a lease; None if it is not free, was wanted by another version of the
    software, or enough of its project is being computed."""
    wanted = KeptReport.objects.select_related("project").filter(pk=pk, code__in=codes()).first()
    if wanted is None:
        return None
    project = wanted.project
    # Before anything is read: what changes meanwhile makes these numbers old, never wrongly new.
    now, fingerprint = timezone.now(), fingerprint_of(project)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, project.pk % 2**31])
        if KeptReport.objects.in_progress().filter(project=project).count() >= MOST_IN_HAND:
            return None
        if (
            not KeptReport.objects.free()
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
        ):
            return None
        return KeptReport.objects.select_related("project").get(pk=pk)


def _mine(kept: KeptReport) -> QuerySet[KeptReport]:
    """The row, unless another worker has it now, or it was removed."""
    return KeptReport.objects.filter(pk=kept.pk, state=KeptState.COMPUTING, attempts=kept.attempts)


@contextmanager
def _renewing(kept: KeptReport) -> Iterator[OnStep]:
    """Renew the lease while a report is computed, and write down how far it is.

    The steps raise LeaseLostError once the lease is another's.
    """
    now = {"share": 0.0, "step": ""}
    ended, lost = threading.Event(), threading.Event()

    def on_step(share: float, step: str) -> None:
        now.update(share=share, step=step[:200])
        if lost.is_set():
            raise LeaseLostError

    def renew() -> None:
        try:
            while not ended.wait(EVERY_SECONDS):
                if not _mine(kept).update(taken_until=timezone.now() + LEASE, **now):
                    lost.set()
                    return
        finally:
            connections.close_all()

    thread = threading.Thread(target=renew, daemon=True)
    # A second connection does not see the row that a surrounding transaction has made.
    if not connection.in_atomic_block:
        thread.start()
    try:
        yield on_step
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()


def _computed(kept: KeptReport, on_step: OnStep) -> Iterator[tuple[str, bytes]]:
    """The parts of a view, by name."""
    project = kept.project
    page, written = page_and_query(kept.view)
    query = QueryDict(written)
    options, _errors = options_of(query, project)
    view = page.read(query, options)
    if page.row_view(view.query) != kept.view:
        # What a filter named was removed; without it the view would show more.
        _mine(kept).delete()
        raise LeaseLostError
    on_step(0.0, "reading ratings and scores")
    data = load_data(project, list(project.judges.all()), list(project.criteria.all()))
    report = ComputedReport(project, view, read=lambda _project: data, on_step=on_step)
    parts = [(part, keys) for part in page.parts for keys in part.keys(report)]
    step = between(on_step, 0.8 if page is REPORT else 0.5, 1.0)
    for index, (part, keys) in enumerate(parts):
        step(index / len(parts), part.step)
        value = part.compute(report, *keys)
        if value is not None:
            yield part.named(*keys), stored(part.shorten(value))


def _finish(kept: KeptReport, parts: dict[str, bytes], *, seconds: float) -> None:
    """Show the parts to all web processes, and remove what is too old to be looked at."""
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
    """Keep the newest few of this view, and of other views those that were computed last."""
    ended = KeptReport.objects.filter(project=kept.project_id).exclude(state__in=OPEN)
    of_view: dict[str, list[int]] = {}
    for pk, view in ended.order_by("-pk").values_list("pk", "view"):
        of_view.setdefault(view, []).append(pk)
    remaining = [pk for pks in list(of_view.values())[:MOST_VIEWS] for pk in pks[:MOST_KEPT]]
    ended.exclude(pk__in=remaining).delete()
