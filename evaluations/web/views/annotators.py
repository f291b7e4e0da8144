"""The page on the value of each annotator's ratings."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.models import Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.data import options_of
from evaluations.reports.serving.parts import ANNOTATORS
from evaluations.reports.serving.view import page_view
from evaluations.web.parameters import REPORT, reads
from evaluations.web.views.reports import waits
from geval.reports.annotators import of_ratings
from geval.statistics.thresholds import SPLIT


@reads(*REPORT)
@project_view(READERS)
@partial(waits, tab="annotators")
def report_annotators(request: HttpRequest, project: Project) -> HttpResponse:
    """Severity and competence of each annotator on each criterion, outputs on which they are split,
    and agreement on spans."""
    options, errors = options_of(request.GET, project)
    view = of_ratings(options)
    numbers = page_view(project, ANNOTATORS, view)
    context = {
        "project": project,
        "tab": "annotators",
        "found": numbers.needed("page"),
        "cached": numbers.cached,
        "split_below": SPLIT,
        "errors": errors,
        "options": options,  # used by the links to other pages
        "is_part": bool(view.query),
    }
    return render(request, "evaluations/annotator_report.html", context)
