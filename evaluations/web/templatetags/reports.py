"""Template tags for pages of the report and links to related pages."""

from dataclasses import replace
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse

from evaluations.models import GapCause, Project
from geval.reports.gap_view import GapView
from geval.reports.options import ReportOptions
from geval_site.extensions import added_page, link_to

register = template.Library()
# Key, name and page of each part; what has no page here is a link of an added app.
PARTS = (
    ("verdicts", "Verdicts", "report_detail"),
    ("numbers", "Evidence", "report_numbers"),
    ("disagreements", "Disagreements", ""),
    ("compare", "Compare judges", ""),
    ("paper", "For the paper", "report_paper"),
    ("frozen", "Frozen reports", "snapshot_list"),
)


def _parts() -> list[tuple[str, str, str]]:
    """Return the parts that this site has, with the whole names of their pages."""
    parts = [(key, name, f"evaluations:{p}" if p else added_page(key)) for key, name, p in PARTS]
    return [part for part in parts if part[-1]]


@register.simple_tag
def gap_address(project: Project, options: ReportOptions, **about: Any) -> str:
    """Return the address of the disagreements in a view of the report, or of one case if `output`
    is given; empty if their app is not installed."""
    view = replace(GapView(options), **about)
    address = link_to("disagreements", project.slug)
    return address and f"{address}?{view.query}{'#case' if view.output else ''}"


@register.filter
def report_parts(project: Project, options: ReportOptions) -> list[tuple[str, str, str]]:
    """Return the pages of a report: key, name, and address in a view."""
    query = f"?{options.query}" if options.query else ""
    return [(key, name, reverse(page, args=[project.slug]) + query) for key, name, page in _parts()]


@register.filter
def report_part(request: HttpRequest) -> str:
    """Return the key of the requested page of a report; empty for other pages."""
    match = request.resolver_match
    return next((key for key, _name, page in _parts() if match and match.view_name == page), "")


@register.simple_tag
def cause_counts(project: Project) -> list[tuple[str, int]]:
    """Count a project's gaps by cause."""
    return GapCause.objects.of_project(project).counted()
