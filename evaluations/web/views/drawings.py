"""The report's figures drawn by the server: on its page, as downloads, and the outputs behind a
circle."""

import math
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify

from evaluations.models import CandidateOutput, Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.data import options_of
from evaluations.reports.serving.view import report_view
from evaluations.web.parameters import PSEUDONYMS, REPORT, reads, wants_pseudonyms
from evaluations.web.views.reports import (
    chosen_figures,
    number_in_view,
    options_in,
    view_shown,
    waits,
    waits_as_text,
)
from geval.reports.downloads.latex import as_latex_figure
from geval.reports.drawings.drawn import KINDS, drawing_of
from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.reports.drawings.rendering import PicturesMissingError, as_file, as_picture
from geval.reports.drawings.shapes import UNITS_PER_MM, WIDTHS_MM, Drawing
from geval.reports.options import ReportOptions

TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "tex": "application/x-tex; charset=utf-8",
}


@reads(*REPORT, "drawn", "by", "on")
@waits_as_text
def piece(request: HttpRequest, project: Project) -> HttpResponse:
    """The figures of one criterion and judge, for a page that switches between them."""
    options, _errors = options_of(request.GET, project)
    base = request.path.removesuffix("drawings/")
    figures = chosen_figures(request, view_shown(request, project, options), base=base)
    context = {"project": project, "figures": figures, "base": base, "options": options}
    return render(request, "evaluations/report_drawings.html", context)


@reads(*REPORT, "mm", PSEUDONYMS)
@waits_as_text
def download(
    request: HttpRequest, project: Project, kind: str, criterion: int, judge: int, ending: str
) -> HttpResponse:
    """A figure as a file, one column wide in print, or two with `mm=174`."""
    if kind not in KINDS or ending not in TYPES:
        raise Http404(f"Figures can be downloaded as {', '.join(TYPES)}.")
    options = options_in(request, project)
    shown = wants_pseudonyms(request, usually=True)
    numbers, of_judge = _numbers(project, options, criterion, judge, pseudonyms=shown)
    wide = _width(request)
    drawing = drawing_of(kind, numbers, of_judge, wide * UNITS_PER_MM)
    if drawing is None:
        raise Http404("This figure has nothing to show.")
    name = f"{project.slug}-{slugify(numbers.name) or numbers.pk}-{kind}-{slugify(of_judge.name)}"
    if wide != WIDTHS_MM[0]:
        name += f"-{wide}mm"
    try:
        content = _content(drawing, ending, name)
    except PicturesMissingError as error:
        return HttpResponse(str(error), "text/plain; charset=utf-8", status=501)
    response = HttpResponse(content, TYPES[ending])
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response


def _width(request: HttpRequest) -> int:
    """Return the width in millimetres.

    Raises:
        Http404: figures are not available in this width.
    """
    asked = request.GET.get("mm", str(WIDTHS_MM[0]))
    if asked not in map(str, WIDTHS_MM):
        raise Http404(f"Figures are {' or '.join(map(str, WIDTHS_MM))} mm wide.")
    return int(asked)


def _content(drawing: Drawing, ending: str, name: str) -> str | bytes:
    if ending == "svg":
        return as_file(drawing)
    if ending == "tex":
        return as_latex_figure(drawing, name)
    return as_picture(drawing, "png" if ending == "png" else "pdf")


def _numbers(
    project: Project,
    options: ReportOptions,
    criterion: int,
    judge: int,
    *,
    pseudonyms: bool = True,
) -> tuple[CriterionNumbers, JudgeNumbers]:
    """Return the numbers of a criterion and of a judge on it.

    Raises:
        Http404: the view does not contain them.
    """
    number_in_view(project, options, criterion, judge)
    numbers = report_view(project, options, pseudonyms=pseudonyms).figure_numbers(criterion)
    by_pk = {other.pk: other for other in numbers.judges} if numbers else {}
    if numbers is None or judge not in by_pk:
        raise Http404("This view does not contain this figure.")
    return numbers, by_pk[judge]


@reads(*REPORT, "human", "score")
@project_view(READERS)
@waits
def report_bubble(
    request: HttpRequest, project: Project, criterion: int, judge: int
) -> HttpResponse:
    """The outputs with one human mean and one score."""
    options = options_in(request, project)
    numbers, of_judge = _numbers(project, options, criterion, judge)
    human, score = (_number(request.GET.get(name, "")) for name in ("human", "score"))
    same = [
        bubble
        for bubble in of_judge.bubbles
        if f"{bubble.human:g} {bubble.score:g}" == f"{human} {score}"
    ]
    members = same[0].members if same else ()
    outputs = CandidateOutput.objects.of_project(project).select_related("document", "system")
    query = urlencode([*options.pairs, ("on", numbers.pk), ("by", of_judge.pk)])
    back = reverse("evaluations:report_numbers", args=[project.slug])
    context: dict[str, Any] = {
        "project": project,
        "tab": "report",
        "numbers": numbers,
        "judge": of_judge,
        "bubble": same[0] if same else None,
        "outputs": outputs.filter(pk__in=members).order_by("document__doc_id", "system__name"),
        "options": options,
        "back": f"{back}?{query}#figures",
    }
    return render(request, "evaluations/report_bubble.html", context)


def _number(text: str) -> str:
    """Return a number as written in addresses; "" for anything else."""
    try:
        value = float(text)
    except ValueError:
        return ""
    return f"{value:g}" if math.isfinite(value) else ""


report_drawings, report_drawing = project_view(READERS)(piece), project_view(READERS)(download)
