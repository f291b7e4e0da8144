"""The report page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.access import READERS, project_view
from evaluations.models import Project
from evaluations.reports.figures import scatter_figures
from evaluations.reports.report import build_report


@project_view(READERS)
def report_detail(request: HttpRequest, project: Project) -> HttpResponse:
    return render(
        request,
        "evaluations/report_detail.html",
        {
            "project": project,
            "tab": "report",
            "report": build_report(project),
            "figures": scatter_figures(project),
        },
    )
