"""Template tags for pages of the report and links to related pages."""

from dataclasses import replace
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from evaluations.models import GapCause, Project
from geval.reports.gap_view import GapView
from geval.reports.options import ReportOptions

register = template.Library()
PARTS = (
    ("verdicts", "Verdicts", "report_detail"),
    ("numbers", "Evidence", "report_numbers"),
    ("disagreements", "Disagreements", "disagreement_list"),
    ("compare", "Compare judges", "judge_compare"),
    ("paper", "For the paper", "report_paper"),
    ("frozen", "Frozen reports", "snapshot_list"),
)


def address_of(project: Project, page: str) -> str:
    """Return the address of a page; empty if its app is not installed."""
    try:
        return reverse(f"evaluations:{page}", args=[project.slug])
    except NoReverseMatch:
        return ""


@register.simple_tag
def gap_address(project: Project, options: ReportOptions, **about: Any) -> str:
    """Return the address of the disagreements in a view of the report, or of one case if `output`
    is given; empty if their app is not installed."""
    view = replace(GapView(options), **about)
    address = address_of(project, "disagreement_list")
    return address and f"{address}?{view.query}{'#case' if view.output else ''}"


@register.filter
def report_parts(project: Project, options: ReportOptions) -> list[tuple[str, str, str]]:
    """Return the pages of a report: key, name, and address in a view."""
    query = f"?{options.query}" if options.query else ""
    addresses = [(key, name, address_of(project, page)) for key, name, page in PARTS]
    return [(key, name, address + query) for key, name, address in addresses if address]


@register.filter
def report_part(request: HttpRequest) -> str:
    """Return the key of the requested page of a report; empty for other pages."""
    match = request.resolver_match
    return next((key for key, _name, page in PARTS if match and match.url_name == page), "")


@register.simple_tag
def cause_counts(project: Project) -> list[tuple[str, int]]:
    """Count a project's gaps by cause."""
    return GapCause.objects.of_project(project).counted()
