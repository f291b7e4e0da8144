"""Pages of disagreements: the largest gaps between a judge and people, and their causes."""

from dataclasses import replace

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assurance.disagreements.causes import as_csv, as_json, give_cause, take_cause_back
from assurance.disagreements.numbers import largest_gaps_as_rows
from assurance.disagreements.page import disagreements, numbers_of_view
from assurance.prompt_examples import add_examples
from assurance.web.forms import CauseForm, ExamplesForm, GapForm, GapsForm
from evaluations.models import CandidateOutput, GapCause, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.reports.data import options_of
from evaluations.web.notices import refuse
from evaluations.web.parameters import PSEUDONYMS, REPORT, reads, wants_pseudonyms
from evaluations.web.views.reports import options_in, waits
from geval.reports.gap_list import MOST_GAPS, gaps_as_csv
from geval.reports.gap_view import BASES, SIDES, GapView, read_gap_view
from geval.reports.gaps import rated_outputs

# The parameters of a view of the disagreements.
GAPS = (
    *REPORT, "criterion", "judge", "run", "system", "output", "page", "by", "cause", "side", "cell",
)  # fmt: skip


@reads(*GAPS, "given")
@project_view(READERS)
@waits
def disagreement_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The largest gaps of a judge on a criterion, and one case with its evidence."""
    options, errors = options_of(request.GET, project)
    view = read_gap_view(request.GET, options)
    if (by := request.GET.get("by") or view.by) != view.by:
        errors.append(f"There is no order {by[:40]!r} (there are: {', '.join(BASES)}).")
    if (side := request.GET.get("side", "")) != view.side:
        errors.append(f"There is no side {side[:40]!r} (there are: {', '.join(SIDES)}).")
    page = disagreements(project, view)
    cell = request.GET.get("cell", "")
    if cell and cell not in (cells := [key for key, _words in page.cells]):
        here = ", ".join(cells) or "none"
        errors.append(f"No output is in the cell {cell[:40]!r} (there are: {here}).")
    context = {
        "project": project,
        "tab": "report",
        "part": "disagreements",
        "found": page,
        "bases": BASES,
        "sides": SIDES,
        "errors": errors,
        "options": options,
        "undo": _given_just_now(request, project),
    }
    return render(request, "assurance/disagreement_list.html", context)


def _given_just_now(request: HttpRequest, project: Project) -> GapCause | None:
    """Return the cause that was just given, which a single key removes again."""
    given = request.GET.get("given", "")
    if not given.isascii() or not given.isdigit() or len(given) > 18:
        return None
    causes = GapCause.objects.of_project(project).select_related("output__document__project")
    return causes.select_related("output__document", "output__system").filter(pk=given).first()


@project_action(EDITORS)
def cause_give(request: HttpRequest, project: Project) -> HttpResponse:
    """Store a cause, and open the next case."""
    form = CauseForm(request.POST, project=project)
    if not form.is_valid():
        _say_errors(request, form)
        return _back(request, project)
    about = form.cleaned_data
    given = give_cause(
        about["judge"],
        about["criterion"],
        about["output"],
        about["cause"],
        note=about["note"] if "note" in request.POST else None,
        by=request.user,
    )
    note_detail(request, f"{_named(form)}: {given.cause}")
    return _back(request, project, output=about["then"] or about["output"].pk, given=given.pk)


@project_action(EDITORS)
def cause_remove(request: HttpRequest, project: Project) -> HttpResponse:
    """Remove a cause, and open its case."""
    form = GapForm(request.POST, project=project)
    if not form.is_valid():
        _say_errors(request, form)
        return _back(request, project)
    about = form.cleaned_data
    if take_cause_back(about["judge"], about["criterion"], about["output"]):
        note_detail(request, f"{_named(form)}: cause removed")
    return _back(request, project, output=about["output"].pk)


@project_action(EDITORS)
def examples_add(request: HttpRequest, project: Project) -> HttpResponse:
    """Make an output, or all with a cause, examples in the judge's prompt, with people's
    ratings."""
    form = ExamplesForm(request.POST, project=project)
    if not form.is_valid():
        _say_errors(request, form)
        return _back(request, project)
    about, view = form.cleaned_data, _view_of(request, project)
    judge, criterion = about["judge"], about["criterion"]
    wanted = replace(view, criterion=criterion.pk, judge=judge.pk, run=0)
    rated = rated_outputs(numbers_of_view(project, wanted), form.output_ids())
    if not rated:
        refuse(request, "No example was added. Choose an output that people rated.")
        return _back(request, project)
    outputs = CandidateOutput.objects.filter(pk__in=rated).select_related("document", "system")
    try:
        changed, count = add_examples(
            judge, criterion, [(output, rated[output.pk]) for output in outputs.order_by("pk")]
        )
    except ValidationError as error:
        refuse(request, f"No example was added. {' '.join(error.messages)}")
    else:
        note_detail(request, f"{changed.label}, {criterion.name}: {count} examples")
        messages.success(
            request,
            f"{changed} has {count} example{'s' if count > 1 else ''} of {criterion.name} in its"
            " prompt. Start a run with it to see what they change.",
        )
    return _back(request, project, output=about["output"] or view.output)


@reads(*GAPS)
@project_view(READERS)
def gap_export(request: HttpRequest, project: Project) -> HttpResponse:
    """The largest gaps of a view as CSV."""
    options = options_in(request, project)
    view = read_gap_view(request.GET, options)
    rows = largest_gaps_as_rows(project, numbers_of_view(project, view), MOST_GAPS)
    response = HttpResponse("".join(gaps_as_csv(rows)), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-disagreements.csv"'
    return response


@reads(PSEUDONYMS)
@project_view(READERS)
def cause_export(request: HttpRequest, project: Project, ending: str) -> HttpResponse:
    """All causes of the project's gaps as a file."""
    response: HttpResponse
    shown = {PSEUDONYMS: wants_pseudonyms(request, usually=False)}
    if ending == "csv":
        response = StreamingHttpResponse(  # type: ignore[assignment]
            as_csv(project, **shown), content_type="text/csv; charset=utf-8"
        )
    elif ending == "json":
        response = HttpResponse(as_json(project, **shown), "application/json")
    else:
        raise Http404("Causes can be downloaded as csv or json.")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-causes.{ending}"'
    return response


def _named(form: GapForm) -> str:
    about = form.cleaned_data
    output = about["output"]
    return (
        f"{about['judge'].label}, {about['criterion'].name}, {output.system.name} on"
        f" {output.document.doc_id}"
    )


def _say_errors(request: HttpRequest, form: GapsForm) -> None:
    errors = [str(error) for of_field in form.errors.values() for error in of_field]
    refuse(request, f"Nothing was stored. {' '.join(dict.fromkeys(errors))}")


def _back(
    request: HttpRequest, project: Project, *, output: int = 0, given: int = 0
) -> HttpResponse:
    """Redirect to the page with the form, with another case open."""
    view = _view_of(request, project)
    address = reverse("evaluations:disagreement_list", args=[project.slug])
    where = view.to(output=output)
    return redirect(f"{address}{where}{f'&given={given}' if given else ''}#case")


def _view_of(request: HttpRequest, project: Project) -> GapView:
    """Return the view of the page with the form."""
    query = QueryDict(request.POST.get("view", "")[:4000])
    options, _errors = options_of(query, project)
    return read_gap_view(query, options)
