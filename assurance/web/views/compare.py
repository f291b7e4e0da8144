"""The page that compares two judges."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assurance.two_judges.page import two_judges
from evaluations.models import Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.data import options_of
from evaluations.web.parameters import REPORT, reads
from evaluations.web.views.reports import waits
from geval.reports.pairs import read_pair_view


@reads(*REPORT, "only", "page")
@project_view(READERS)
@waits
def judge_compare(request: HttpRequest, project: Project) -> HttpResponse:
    """Two judges on the same outputs: paired differences, scores, agreement and cost."""
    options, errors = options_of(request.GET, project)
    context = {
        "project": project,
        "tab": "report",
        "part": "compare",
        "found": two_judges(project, read_pair_view(request.GET, options)),
        "errors": errors,
        "options": options,
    }
    return render(request, "assurance/judge_compare.html", context)
