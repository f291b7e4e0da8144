"""Views of a report: computed here for a small project, or by a worker.

Of the latter a web process shows the last numbers that a worker has stored (`worker.py`), and
requests new ones when these no longer match the project.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluations.models import KeptReport, KeptState, Project
from evaluations.models.changes import state_of
from evaluations.models.kept_reports import OPEN
from evaluations.people.waking import wake_for_report
from evaluations.reports.ratings.pseudonyms import pseudonyms_by_name
from evaluations.reports.report import Sensitivity
from evaluations.reports.serving.live import is_large
from evaluations.reports.serving.parts import REPORT, PageParts, ReportView, code
from geval.reports.options import ReportOptions
from geval.statistics.cache import digest_of
from geval_site.sql import fetch_value

# A failed computation is retried when somebody views the report after this time, or requests it.
RETRY_AFTER = timedelta(minutes=10)
# How long pages and programs wait before they poll again for numbers that are being computed.
ASK_AGAIN_SECONDS = 5
# Maximum number of a project's views that wait for a worker.
MOST_WAITING = 20
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


def report_view(
    project: Project,
    options: ReportOptions,
    *,
    probed: Sequence[Sensitivity] | None = None,
    pseudonyms: bool = False,
) -> ReportView:
    """Return a view of a project's report; what needs a worker is requested from one.

    Args:
        probed: findings of probes of its judges, if already known.
        pseudonyms: name annotators "annotator 1" and so on, as all that leaves the team does.
    """
    names = pseudonyms_by_name(project.pk) if pseudonyms else {}
    return replace(page_view(project, REPORT, options), names=names, probed=probed)


def page_view(project: Project, page: PageParts, view: Any) -> ReportView:
    """Return a view of the report, or of an additional page. If a worker computes it and its
    numbers no longer match the project, request new ones."""
    shown = ReportView(project, page, view)
    if not (page.is_slow or is_large(project)):
        return shown
    row_view = page.row_view(view.query)
    rows = KeptReport.objects.filter(project=project, view=row_view, code=code())
    last, fingerprint = rows.done().first(), fingerprint_of(project)
    coming = None
    if last is None or last.fingerprint != fingerprint:
        coming = rows.exclude(state=KeptState.DONE).first()
        if coming is None or (coming.has_failed and _may_be_tried_again(coming, fingerprint)):
            coming = _request(project, row_view)
    return replace(shown, is_kept=True, last=last, coming=coming)


def try_again(project: Project, view: str) -> None:
    """Forget that computing a view has failed, so that it is requested at the next view."""
    KeptReport.objects.filter(project=project, view=view, state=KeptState.FAILED).delete()


def fingerprint_of(project: Project) -> str:
    """Return a digest that changes whenever anything that a report shows may have changed: ratings,
    scores, comparisons, and the names and settings of their records."""
    frame = fetch_value(f"SELECT {_FRAME}", {"project": project.pk})
    return digest_of("fingerprint", [frame, sorted(state_of(project.pk).items(), key=repr)]).hex()


def _may_be_tried_again(failed: KeptReport, fingerprint: str) -> bool:
    is_old = failed.ended_at is not None and failed.ended_at < timezone.now() - RETRY_AFTER
    return is_old or failed.fingerprint != fingerprint


def _request(project: Project, view: str) -> KeptReport:
    """Request new numbers from a worker; concurrent requests share the row. The oldest of too many
    waiting views are removed; pages that still show them request them again."""
    with transaction.atomic():
        try_again(project, view)
        wanted, made = KeptReport.objects.get_or_create(
            project=project, view=view, code=code(), state__in=OPEN
        )
        if made:
            waiting = KeptReport.objects.filter(project=project, state=KeptState.WAITING)
            newest = waiting.order_by("-pk").values_list("pk", flat=True)[:MOST_WAITING]
            waiting.exclude(pk__in=list(newest)).delete()
            transaction.on_commit(lambda: wake_for_report(wanted.pk))
    return wanted
