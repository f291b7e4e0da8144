"""Choose the source of a report's parts: computed here for a small project, or by a worker."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluations.models import Project
from evaluations.reports.probes import Sensitivity
from evaluations.reports.ratings.pseudonyms import pseudonyms_by_name
from evaluations.reports.serving.cached_report import cached_report
from evaluations.reports.serving.limits import is_large
from evaluations.reports.serving.parts import (
    REPORT,
    AnyView,
    ComputedReport,
    PagePart,
    PageParts,
    ReportView,
    pages,
)
from geval.reports.options import ReportOptions


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
    view = _view(project, REPORT, options, probed)
    return replace(view, names=pseudonyms_by_name(project.pk)) if pseudonyms else view


def page_view(project: Project, part: PagePart[Any], view: AnyView) -> ReportView:
    """Return a view of an additional page, whose numbers are a single part."""
    page = next(page for page in pages() if part in page.parts)
    return _view(project, page, view)


def _view(
    project: Project, page: PageParts, view: AnyView, probed: Sequence[Sensitivity] | None = None
) -> ReportView:
    if page.is_slow or is_large(project):
        return cached_report(project, page, view)
    return ComputedReport(project, view, probed)
