"""The page of a judge as an instrument: ask it again, probe it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from assurance.instrument.estimating import StudyEstimate, estimate_study
from assurance.instrument.page import studies_of
from assurance.instrument.sensitivity import sensitivities
from assurance.instrument.studies import StudyError, make_study, stop, why_not
from assurance.web.forms import StudyForm
from evaluations.models import Judge, Project, Study, StudyKind
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_nothing
from evaluations.reports.steadiness import steadiness
from geval.reports.steadiness import rows_of

STARTED = {
    StudyKind.AGAIN: "The judge is asked again.",
    StudyKind.PROBES: "The probes are started.",
}
NEXT = "Workers ask in the background; this page shows what they find."


@project_view(READERS)
def judge_instrument(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge.objects.select_related("endpoint"), project=project, pk=pk)
    return render(request, "assurance/instrument.html", _context(request, project, judge))


def _context(
    request: HttpRequest, project: Project, judge: Judge, sent: StudyForm | None = None
) -> dict[str, object]:
    """Return everything on the page, with the submitted form in its place."""
    steady = steadiness(judge)
    forms = {kind: StudyForm(project=project, kind=kind) for kind in StudyKind.values}
    if sent is not None:
        forms[sent.kind] = sent
    reason = why_not(judge)
    may_start = request.may_edit and not reason  # type: ignore[attr-defined]
    return {
        "project": project,
        "tab": "judges",
        "judge": judge,
        "why_not": reason,
        "sensitivities": sensitivities(project, judge),
        "steadiness": steady,
        "steadiness_rows": rows_of(steady),
        "sections": [
            _section(judge, kind, form, may_start=may_start) for kind, form in forms.items()
        ],
    }


def _section(judge: Judge, kind: str, form: StudyForm, *, may_start: bool) -> dict[str, object]:
    studies = studies_of(judge, kind)
    return {
        "kind": kind,
        "studies": studies,
        "is_asking": any(each.study.is_on for each in studies),
        "form": form,
        "estimate": _estimate(judge, form) if may_start else None,
    }


def _estimate(judge: Judge, form: StudyForm) -> StudyEstimate | None:
    """Estimate the study in the form, or the usual one on the first criterion."""
    chosen = form.cleaned_data if form.is_bound and form.is_valid() else {}
    criterion = chosen.get("criterion") or judge.project.criteria.first()
    if criterion is None:
        return None
    return estimate_study(
        judge, criterion, form.kind, items=chosen.get("items"), replies=chosen.get("replies")
    )


@project_action(EDITORS)
def judge_study(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Start a study of the kind that the form names; with the button "Estimate", show its cost
    instead."""
    judge = get_object_or_404(Judge.objects.select_related("endpoint"), project=project, pk=pk)
    kind = request.POST.get("kind", StudyKind.AGAIN)
    if kind not in StudyKind.values:
        raise Http404(f"There are studies of the kinds {', '.join(StudyKind.values)}.")
    form = StudyForm(request.POST, project=project, kind=kind)
    only_looks = "estimate" in request.POST
    if only_looks:
        note_nothing(request)
    elif form.is_valid():
        about = form.cleaned_data.copy()
        try:
            study = make_study(judge, about.pop("criterion"), kind, **about, by=request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{STARTED[StudyKind(study.kind)]} {NEXT}")
            return redirect("evaluations:judge_instrument", project.slug, judge.pk)
    context = _context(request, project, judge, form)
    status = 200 if only_looks and form.is_valid() else 422
    return render(request, "assurance/instrument.html", context, status=status)


@project_action(EDITORS)
def study_stop(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    study = get_object_or_404(Study, project=project, pk=pk)
    if stop(study):
        messages.success(request, f"{study.get_kind_display()} is stopped. What it found is kept.")
    return redirect("evaluations:judge_instrument", project.slug, study.judge_id)
