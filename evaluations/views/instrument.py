"""The page of a judge as an instrument: watch it for drift, ask it again, probe it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from evaluations.forms import StudyForm
from evaluations.instrument.page import studies_of
from evaluations.instrument.sensitivity import sensitivities
from evaluations.instrument.studies import StudyError, make_study, stop, why_not
from evaluations.models import Judge, Project, Study, StudyKind
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.reports.steadiness import rows_of, steadiness

STARTED = {
    StudyKind.DRIFT: "The drift watch is started.",
    StudyKind.AGAIN: "The judge is asked again.",
    StudyKind.PROBES: "The probes are started.",
}
NEXT = "Workers ask in the background; this page shows what they find."


@project_view(READERS)
def judge_instrument(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge.objects.select_related("endpoint"), project=project, pk=pk)
    return render(request, "evaluations/instrument.html", _context(project, judge))


def _context(project: Project, judge: Judge) -> dict[str, object]:
    steady = steadiness(judge)
    return {
        "project": project,
        "tab": "judges",
        "judge": judge,
        "why_not": why_not(judge),
        "sensitivities": sensitivities(project, judge),
        "steadiness": steady,
        "steadiness_rows": rows_of(steady),
        "sections": [
            (kind, studies_of(judge, kind), StudyForm(project=project, kind=kind))
            for kind in StudyKind.values
        ],
    }


@require_POST
@project_view(EDITORS)
def judge_study(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Start a study of the kind that the form names."""
    judge = get_object_or_404(Judge.objects.select_related("endpoint"), project=project, pk=pk)
    kind = request.POST.get("kind", StudyKind.DRIFT)
    if kind not in StudyKind.values:
        raise Http404(f"There are studies of the kinds {', '.join(StudyKind.values)}.")
    form = StudyForm(request.POST, project=project, kind=kind)
    if form.is_valid():
        about = form.cleaned_data
        try:
            study = make_study(judge, about.pop("criterion"), kind, **about, by=request.user)
        except StudyError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{STARTED[StudyKind(study.kind)]} {NEXT}")
            return redirect(study)
    context = _context(project, judge)
    sections = [
        (one, studies, form if one == kind else other)
        for one, studies, other in context["sections"]  # type: ignore[attr-defined]
    ]
    return render(
        request, "evaluations/instrument.html", context | {"sections": sections}, status=422
    )


@require_POST
@project_view(EDITORS)
def study_stop(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    study = get_object_or_404(Study, project=project, pk=pk)
    if stop(study):
        messages.success(request, f"{study.get_kind_display()} is stopped. What it found is kept.")
    return redirect(reverse("evaluations:judge_instrument", args=[project.slug, study.judge_id]))
