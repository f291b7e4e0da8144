"""Pages of the report: live numbers, figures, the documents behind a number, downloads.

For a large project they show what a worker has computed, with its age and the progress of newer
numbers.
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify

from evaluations.models import Criterion, Judge, Project
from evaluations.pages.document_texts import document_texts
from evaluations.people.access import READERS, project_action, project_view
from evaluations.reports.by_field import FieldView, fields_of
from evaluations.reports.chosen_figures import ChosenFigures
from evaluations.reports.data import options_of, rounds_of
from evaluations.reports.report import Sensitivity
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.live import mark_of
from evaluations.reports.serving.parts import (
    ANNOTATORS,
    BY_FIELD,
    NotComputedError,
    ReportView,
    page_and_query,
)
from evaluations.reports.serving.view import (
    ASK_AGAIN_SECONDS,
    page_view,
    report_view,
    try_again,
)
from evaluations.web.parameters import PSEUDONYMS, REPORT, reads, wants_pseudonyms
from geval.reports.annotators import of_ratings
from geval.reports.downloads.formats import BY_ENDING, FORMATS
from geval.reports.figures import FIGURES, figures_of
from geval.reports.options import MEAN, WORDS, ReportOptions
from geval.reports.page import ReportPage
from geval.statistics.thresholds import SPLIT
from geval.texts.numbers import whole_number
from geval.texts.sentences import listed
from geval_site.extensions import added
from geval_site.version import __version__

# URL suffixes of the report's other pages: the evidence on one criterion, and the table for a
# paper.
NUMBERS, PAPER = "numbers/", "paper/"
# Parts of these pages that refresh themselves, and their templates.
PIECES = {"numbers": "report_numbers", "more": "report_more", "table": "report_table"}
# The session key of a new link's address, kept until it has been shown once.
NEW_LINK = "new_share_link"


def waits(
    view: Callable[..., HttpResponse], tab: str = "report", *, as_text: bool = False
) -> Callable[..., HttpResponse]:
    """Make a page whose numbers a worker is still computing show the progress.

    Args:
        as_text: the response is a figure or a download, not a page.
    """

    @wraps(view)
    def guarded(request: HttpRequest, project: Project, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, project, *args, **kwargs)
        except NotComputedError as error:
            cached = error.cached
        if as_text:
            response = HttpResponse(cached.in_words, "text/plain; charset=utf-8", status=202)
        else:
            options, _errors = options_of(request.GET, project)
            context = {"project": project, "tab": tab, "cached": cached, "options": options}
            response = render(request, "evaluations/report_waiting.html", context, status=202)
        response["Retry-After"] = str(ASK_AGAIN_SECONDS)
        return response

    return guarded


waits_as_text = partial(waits, as_text=True)


def choices_of(project: Project) -> dict[str, list[Any]]:
    """Return the choices of the filters, by field name."""
    return {
        "judges": list(project.judges.all()),
        "criteria": list(project.criteria.all()),
        "annotators": list(project.annotators.filter(kind="person")),
        "systems": list(project.systems.all()),
    }


def criterion_in_view(project: Project, options: ReportOptions, criterion: int) -> Criterion:
    """Return the criterion named in an address.

    Raises:
        Http404: the project or this view of it does not have it. Every criterion or judge that a
            view shows comes from here or from `number_in_view`, so that a link to a restricted view
            gives no access to others.
    """
    if not options.shows(criterion):
        raise Http404("This view does not contain this criterion.")
    return get_object_or_404(project.criteria, pk=criterion)


def number_in_view(
    project: Project, options: ReportOptions, criterion: int, judge: int
) -> tuple[Criterion, Judge]:
    """Return the criterion and the judge of a number named in an address.

    Raises:
        Http404: the project or this view of it does not have them.
    """
    about = criterion_in_view(project, options, criterion)
    if not options.shows(criterion, judge):
        raise Http404("This view does not contain this number.")
    return about, get_object_or_404(project.judges, pk=judge)


@reads(*REPORT)
@project_view(READERS)
def report_detail(request: HttpRequest, project: Project) -> HttpResponse:
    context = report_context(request, project)
    context["links"] = project.share_links.valid() if request.may_edit else []  # type: ignore[attr-defined]
    context["new_link"] = request.session.pop(NEW_LINK, "")
    return render(request, "evaluations/report_detail.html", context)


@reads(*REPORT)
def paper(request: HttpRequest, project: Project) -> HttpResponse:
    """The table of judges by criteria, as papers print it."""
    context = report_context(request, project, base=request.path.removesuffix(PAPER))
    context["software"] = __version__
    return render(request, "evaluations/report_paper.html", context)


@reads(*REPORT, "on", "drawn", "by")
def evidence(request: HttpRequest, project: Project) -> HttpResponse:
    """The evidence on one criterion: levels, coefficients, tests of judges, figures."""
    base = request.path.removesuffix(NUMBERS)
    context = report_context(request, project, base=base)
    if on := whole_number(request.GET.get("on", ""), default=0):
        criterion_in_view(project, context["options"], on)
    if page := context["page"]:
        chosen = evidence_on(page, request.GET)
        on = chosen["on"]
        context |= chosen | {
            "figures": chosen_figures(
                request, context["view"], base=base, criterion=on.pk if on else None
            ),
            "sensitivities": [
                result
                for result in context["sensitivities"]
                if on and result.study.criterion_id == on.pk
            ],
        }
    return render(request, "evaluations/report_all.html", context)


@reads(*REPORT, "field")
@project_view(READERS)
@waits
def report_groups(request: HttpRequest, project: Project) -> HttpResponse:
    """The best judge of each criterion by the values of a field of documents."""
    options, errors = options_of(request.GET, project)
    fields = fields_of(project)
    field = request.GET.get("field", "")
    if field and field not in fields:
        there = listed(fields) or "none"
        errors.append(
            f"There is no field {field[:40]!r} to compare groups by (there are: {there})."
        )
        field = ""
    numbers = page_view(project, BY_FIELD, FieldView(options, field))
    context = {
        "project": project,
        "tab": "report",
        "groups": numbers.needed("page"),
        "cached": numbers.cached,
        "errors": errors,
        "options": options,
    }
    return render(request, "evaluations/report_groups.html", context)


def evidence_on(page: ReportPage, query: QueryDict) -> dict[str, Any]:
    """Return what the page of a criterion shows: the criterion in the address, or the first."""
    rows = page.glance.rows
    wanted = whole_number(query.get("on", ""), default=0)
    row = next((row for row in rows if row.pk == wanted), rows[0] if rows else None)
    on = next((result for result in page.report.criteria if row and result.pk == row.pk), None)
    return {
        "on": on,
        "rows": [row] if row else [],
        "criteria": [on] if on else [],
        "cautions": [(name, texts) for name, texts in page.cautions if on and name == on.criterion],
        "ties": [(name, shares) for name, shares in page.ties if on and name == on.criterion],
        "kinds": figures_of(on) if on else [],
    }


def report_context(request: HttpRequest, project: Project, *, base: str = "") -> dict[str, Any]:
    """Return the page's context; `base` is the address of its parts, for a shared report."""
    options, errors = options_of(request.GET, project)
    choices = choices_of(project)
    probed = [result for of_app in added("sensitivities") for result in of_app(project)]
    view = view_shown(request, project, options, probed=probed)
    page = view.page() if view.has_numbers else None
    return {
        "project": project,
        # Names can change without a change of scores.
        "names": repr(
            [(record.pk, str(record)) for records in choices.values() for record in records]
        ),
        "tab": "report",
        "page": page,
        "view": view,
        "cached": view.cached,
        "errors": errors,
        "choices": choices,
        "rounds": rounds_of(project.pk),
        "words": WORDS | {"level": page.report.levels if page else WORDS["level"]},
        "base": base or request.path,
        "options": options,
        "formats": FORMATS,
        # A shared link shows only the judges and criteria of its view.
        "sensitivities": [
            result
            for result in probed
            if options.shows(result.study.criterion_id, result.study.judge_id)
        ],
    }


def view_shown(
    request: HttpRequest,
    project: Project,
    options: ReportOptions,
    probed: Sequence[Sensitivity] | None = None,
) -> ReportView:
    """Return the view of a report that a page shows, behind a shared link with pseudonyms."""
    is_shared = getattr(request, "shared", False)
    return report_view(project, options, probed=probed, pseudonyms=is_shared)


def options_in(request: HttpRequest, project: Project) -> ReportOptions:
    """Return the view of a report that an address asks for, for what cannot show errors.

    Raises:
        Http404: there is no such view; another one would answer another question. On a shared
            report, whose view is fixed, what was removed since is left out.
    """
    options, errors = options_of(request.GET, project)
    if errors and not getattr(request, "shared", False):
        raise Http404(" ".join(errors))
    return options


def chosen_figures(
    request: HttpRequest, view: ReportView, *, base: str, criterion: int | None = None
) -> ChosenFigures:
    """Return the figures that an address asks for, or those of a criterion; on a shared report they
    do not link to texts."""
    drawn, judge = (whole_number(request.GET.get(name, ""), default=0) for name in ("drawn", "by"))
    return ChosenFigures(
        view,
        list(view.project.criteria.all()),
        criterion_pk=criterion or drawn or None,
        judge_pk=judge or None,
        base=base,
        may_open=not getattr(request, "shared", False),
    )


@reads(*REPORT, "mark", "part", "first", "on")
def piece(request: HttpRequest, project: Project) -> HttpResponse:
    """The numbers alone, if they have changed since `mark`; otherwise 204, which costs one
    query."""
    mark, part = request.GET.get("mark"), request.GET.get("part")
    if part != "kept" and mark == mark_of(project):
        return HttpResponse(status=204)
    options, _errors = options_of(request.GET, project)
    view, base = view_shown(request, project, options), request.path.removesuffix("live/")
    context = {"project": project, "base": base, "options": options, "piece": True}
    if part == "kept":
        return _progress_piece(request, context, view)
    if not view.has_numbers or mark == view.mark:
        return HttpResponse(status=204)
    page = view.page()
    context |= {"page": page} | (evidence_on(page, request.GET) if part == "more" else {})
    template = PIECES.get(part or "", PIECES["numbers"])
    response = render(request, f"evaluations/{template}.html", context)
    response["X-Mark"] = page.mark
    return response


def _progress_piece(
    request: HttpRequest, context: dict[str, Any], view: ReportView
) -> HttpResponse:
    """Return the age of the numbers and the progress of newer ones; the first numbers reload the
    page."""
    context["cached"] = view.cached
    response = render(request, "evaluations/report_cached.html", context)
    if "first" in request.GET and view.has_numbers:
        response["HX-Refresh"] = "true"
    return response


@project_action(READERS, archived=True)
def report_again(request: HttpRequest, project: Project) -> HttpResponse:
    """Retry a failed computation of numbers."""
    view = request.POST.get("view", "")
    try_again(project, view)
    page, query = page_and_query(view)
    address = reverse(f"evaluations:{page.address}", args=[project.slug])
    return redirect(f"{address}?{query}" if query else address)


@reads(*REPORT, "table")
@waits_as_text
def figure(request: HttpRequest, project: Project, kind: str, criterion: int) -> HttpResponse:
    """A figure for Plotly as JSON, or as a table for readers."""
    options = options_in(request, project)
    criterion_in_view(project, options, criterion)
    view = view_shown(request, project, options)
    drawn = view.part("figure", kind, criterion) if kind in FIGURES else None
    if drawn is None:
        raise Http404("There is no such figure.")
    if "table" in request.GET:
        return render(
            request,
            "evaluations/report_figure.html",
            {"project": project, "tab": "report", "figure": drawn},
        )
    return JsonResponse(drawn.as_json())


@reads(*REPORT)
@waits
def cell(request: HttpRequest, project: Project, criterion: int, judge: int) -> HttpResponse:
    """The documents behind a judge's number on a criterion; on a shared report they do not open."""
    options = options_in(request, project)
    on, by = number_in_view(project, options, criterion, judge)
    context = {
        "project": project,
        "tab": "report",
        "criterion": on,
        "judge": by,
        "named": searches_behind(project).name_of(by, {on.pk: on.name}),
        "behind": report_view(project, options).documents_behind(criterion, judge),
        "may_open": not getattr(request, "shared", False),
        "options": options,
    }
    return render(request, "evaluations/report_cell.html", context)


@reads(*REPORT)
@waits
def texts(
    request: HttpRequest, project: Project, criterion: int, judge: int, document: int
) -> HttpResponse:
    """One document behind a number, with its outputs, for a reader without an account."""
    options = options_in(request, project)
    on, by = number_in_view(project, options, criterion, judge)
    behind = report_view(project, options).documents_behind(criterion, judge)
    if document not in {row.pk for row in behind.worst}:
        raise Http404("This view does not contain this document.")
    about = get_object_or_404(project.documents, pk=document)
    documents = document_texts(
        about, on, by, systems=options.systems, annotators=options.annotators
    )
    context = {
        "project": project,
        "criterion": on,
        "judge": by,
        "named": searches_behind(project).name_of(by, {on.pk: on.name}),
        "document": about,
        "texts": documents,
        "options": options,
    }
    return render(request, "evaluations/report_texts.html", context)


@reads(*REPORT, PSEUDONYMS)
@waits_as_text
def export(request: HttpRequest, project: Project, ending: str) -> HttpResponse:
    if ending not in BY_ENDING:
        raise Http404(f"A report can be downloaded as {', '.join(BY_ENDING)}.")
    options = options_in(request, project)
    # The view of a shared link is fixed, so that nobody can ask for names there.
    shown = wants_pseudonyms(request, usually=True)
    content = report_view(project, options, pseudonyms=shown).needed("download", ending)
    response = HttpResponse(content, BY_ENDING[ending].content_type)
    score = "" if options.human_score == MEAN else f"-{options.human_score}"
    of_round = f"-{slugify(options.round_name)}" if options.round else ""
    name = f"{project.slug}-report{score}{of_round}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


# The pages for members; `sharing.py` has those for readers with a link.
report_numbers, report_paper = project_view(READERS)(evidence), project_view(READERS)(paper)
report_piece, report_figure = project_view(READERS)(piece), project_view(READERS)(figure)
report_cell, report_export = project_view(READERS)(cell), project_view(READERS)(export)


@reads(*REPORT)
@project_view(READERS)
@partial(waits, tab="report")
def report_annotators(request: HttpRequest, project: Project) -> HttpResponse:
    """Severity and agreement of each annotator on each criterion, outputs on which they are split,
    and agreement on spans."""
    options, errors = options_of(request.GET, project)
    view = of_ratings(options)
    numbers = page_view(project, ANNOTATORS, view)
    context = {
        "project": project,
        "tab": "report",
        "found": numbers.needed("page"),
        "cached": numbers.cached,
        "split_below": SPLIT,
        "errors": errors,
        "options": options,  # used by the links to other pages
        "is_part": bool(view.query),
    }
    return render(request, "evaluations/annotator_report.html", context)
