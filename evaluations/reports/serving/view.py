"""From where the parts of a report come: computed here for a small project, or by a worker."""

from collections.abc import Sequence
from typing import Any

from evaluations.models import Project
from evaluations.reports.probes import Sensitivity
from evaluations.reports.serving.cached_report import cached_report
from evaluations.reports.serving.limits import is_large
from evaluations.reports.serving.parts import (
    REPORT,
    AnyView,
    ComputedReport,
    Page,
    Part,
    ReportView,
    pages,
)
from geval.reports.options import ReportOptions


def report_view(
    project: Project, options: ReportOptions, *, probed: Sequence[Sensitivity] | None = None
) -> ReportView:
    """A view of a project's report; a worker is asked for what it has to compute.

    Args:
        probed: what probes of its judges have found, where it is at hand.
    """
    return _view(project, REPORT, options, probed)


def page_view(project: Project, part: Part[Any], view: AnyView) -> ReportView:
    """A view of a page beside the report, whose numbers are one part."""
    page = next(page for page in pages() if part in page.parts)
    return _view(project, page, view)


def _view(
    project: Project, page: Page, view: AnyView, probed: Sequence[Sensitivity] | None = None
) -> ReportView:
    if page.is_slow or is_large(project):
        return cached_report(project, page, view)
    return ComputedReport(project, view, probed)
