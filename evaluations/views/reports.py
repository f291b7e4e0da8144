"""Pages of the report: live numbers, figures, the documents behind a number, downloads."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render

from evaluations.models import Project
from evaluations.people.access import READERS, project_view
from evaluations.reports.data import ids_of
from evaluations.reports.drilldown import documents_behind
from evaluations.reports.figures import FIGURES, Subject
from evaluations.reports.formats import BY_ENDING, FORMATS
from evaluations.reports.live import live_data, mark_of
from evaluations.reports.options import WORDS, ReportOptions, read_options
from evaluations.reports.page import report_now, report_page
from evaluations.reports.report import criterion_result


def choices_of(project: Project) -> dict[str, list[Any]]:
    """The choices of the filters, by field name."""
    return {
        "judges": list(project.judges.all()),
        "criteria": list(project.criteria.all()),
        "annotators": list(project.annotators.filter(kind="person")),
        "systems": list(project.systems.all()),
    }


def options_of(query: QueryDict, project: Project) -> tuple[ReportOptions, list[str]]:
    """The view that an address asks for, and its errors."""
    return read_options(query, known=ids_of(project.pk))


@project_view(READERS)
def report_detail(request: HttpRequest, project: Project) -> HttpResponse:
    context = report_context(request, project)
    context["links"] = project.share_links.valid() if request.may_edit else []  # type: ignore[attr-defined]
    context["snapshots"] = project.snapshots.all()[:20]
    return render(request, "evaluations/report_detail.html", context)


def report_context(request: HttpRequest, project: Project, *, base: str = "") -> dict[str, object]:
    """The page's context; `base` is the address of its parts, for a shared report."""
    options, errors = options_of(request.GET, project)
    choices = choices_of(project)
    return {
        "project": project,
        # Names can change without a change of scores.
        "names": repr(
            [(record.pk, str(record)) for records in choices.values() for record in records]
        ),
        "tab": "report",
        "page": report_page(project, options),
        "errors": errors,
        "choices": choices,
        "words": WORDS,
        "base": base or request.path,
        "options": options,
        "formats": FORMATS,
    }


@project_view(READERS)
def report_piece(request: HttpRequest, project: Project) -> HttpResponse:
    return piece(request, project, base=request.path.removesuffix("live/"))


def piece(request: HttpRequest, project: Project, *, base: str) -> HttpResponse:
    """Only the numbers, if they have changed since `mark`; else 204, which costs one query."""
    mark = mark_of(project)
    if request.GET.get("mark") == mark:
        return HttpResponse(status=204)
    options, _errors = options_of(request.GET, project)
    found = report_page(project, options, mark=mark)
    context = {
        "project": project,
        "page": found,
        "base": base,
        "options": options,
        "piece": True,
    }
    part = "more" if request.GET.get("part") == "more" else "numbers"
    response = render(request, f"evaluations/report_{part}.html", context)
    response["X-Mark"] = found.mark
    return response


@project_view(READERS)
def report_figure(
    request: HttpRequest, project: Project, kind: str, criterion: int
) -> HttpResponse:
    return figure(request, project, kind, criterion)


def figure(request: HttpRequest, project: Project, kind: str, criterion: int) -> HttpResponse:
    """A figure for Plotly as JSON, or as a table for readers."""
    options, _errors = options_of(request.GET, project)
    about = project.criteria.filter(pk=criterion).first()
    is_shown = not options.criteria or criterion in options.criteria
    if kind not in FIGURES or about is None or not is_shown:
        raise Http404("There is no such figure.")
    data = live_data(project).selected(options)
    result = criterion_result(project, about, options=options, data=data)
    if not result.judges:
        raise Http404("There is no such figure.")
    drawn = FIGURES[kind](Subject(about, result, data))
    if "table" in request.GET:
        return render(
            request,
            "evaluations/report_figure.html",
            {"project": project, "tab": "report", "figure": drawn},
        )
    return JsonResponse(drawn.as_json())


@project_view(READERS)
def report_cell(request: HttpRequest, project: Project, criterion: int, judge: int) -> HttpResponse:
    """The documents behind a judge's number on a criterion."""
    return cell(request, project, criterion, judge, may_open=True)


def cell(
    request: HttpRequest, project: Project, criterion: int, judge: int, *, may_open: bool
) -> HttpResponse:
    options, _errors = options_of(request.GET, project)
    if (options.criteria and criterion not in options.criteria) or (
        options.judges and judge not in options.judges
    ):
        raise Http404("This view does not contain this number.")
    context = {
        "project": project,
        "tab": "report",
        "criterion": get_object_or_404(project.criteria, pk=criterion),
        "judge": get_object_or_404(project.judges, pk=judge),
        "behind": documents_behind(live_data(project).selected(options), criterion, judge),
        "may_open": may_open,
        "options": options,
    }
    return render(request, "evaluations/report_cell.html", context)


@project_view(READERS)
def report_export(request: HttpRequest, project: Project, ending: str) -> HttpResponse:
    return export(request, project, ending)


def export(request: HttpRequest, project: Project, ending: str) -> HttpResponse:
    if ending not in BY_ENDING:
        raise Http404(f"A report can be downloaded as {', '.join(BY_ENDING)}.")
    options, _errors = options_of(request.GET, project)
    report, _data = report_now(project, options)
    response = HttpResponse(BY_ENDING[ending].write(report), BY_ENDING[ending].content_type)
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-report.{ending}"'
    return response
