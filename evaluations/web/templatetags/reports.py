"""Template tags for pages of the report and links to related pages."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse

from evaluations.models import GapCause, Project
from geval.reports.gap_view import GapView
from geval.reports.options import ReportOptions
from geval.reports.report import CriterionResult

register = template.Library()
# Key, name and page of each part.
PARTS = (
    ("verdicts", "Verdicts", "report_detail"),
    ("numbers", "Evidence", "report_numbers"),
    ("groups", "Groups", "report_groups"),
    ("disagreements", "Disagreements", "disagreement_list"),
    ("compare", "Compare judges", "judge_compare"),
)


@register.simple_tag
def gap_address(project: Project, options: ReportOptions, **about: Any) -> str:
    """Return the address of the disagreements in a view of the report, or of one case if `output`
    is given."""
    view = replace(GapView(options), **about)
    address = reverse("evaluations:disagreement_list", args=[project.slug])
    return f"{address}?{view.query}{'#case' if view.output else ''}"


@register.filter
def report_parts(project: Project, options: ReportOptions) -> list[tuple[str, str, str]]:
    """Return the pages of a report: key, name, and address in a view."""
    query = f"?{options.query}" if options.query else ""
    return [
        (key, name, reverse(f"evaluations:{page}", args=[project.slug]) + query)
        for key, name, page in PARTS
    ]


@register.filter
def report_part(request: HttpRequest) -> str:
    """Return the key of the requested page of a report; empty for other pages."""
    match = request.resolver_match
    name = match.view_name.removeprefix("evaluations:") if match else ""
    return next((key for key, _name, page in PARTS if page == name), "")


@register.filter
def without_pass_fail(criteria: Iterable[CriterionResult]) -> list[CriterionResult]:
    """Return the criteria whose judges have correlations."""
    return [criterion for criterion in criteria if not criterion.has_pass_fail]


@register.simple_tag
def cause_counts(project: Project) -> list[tuple[str, int]]:
    """Count a project's gaps by cause."""
    return GapCause.objects.of_project(project).counted()
