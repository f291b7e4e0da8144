"""Pages of judges: the list with endpoints, details, create, change and retire."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from evaluations.judging.judges.findings import known_findings
from evaluations.judging.judges.judges import ProbeNeededError, change_judge, create_judge, retire
from evaluations.judging.judges.wordings import own_wordings
from evaluations.judging.runs.errands import request_probe
from evaluations.models import Judge, JudgeKind, ModelProbe, Project
from evaluations.pages.judges import judge_summaries
from evaluations.pages.runs.choices import choice_of, choices, settings_rows
from evaluations.pages.runs.findings import findings_rows
from evaluations.pages.runs.judge_standing import judge_standings
from evaluations.pages.runs.steadiness import rows_of, steadiness
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.registry import extensions
from evaluations.reports.serving.view import report_view
from evaluations.web.forms import EvaluatorForm
from evaluations.web.views.errands import shown_errand
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import evaluators
from geval.reports.options import ReportOptions


@project_view(READERS)
def judge_list(request: HttpRequest, project: Project) -> HttpResponse:
    """All judges; verdicts that take more than a moment are fetched once the page stands."""
    view = report_view(project, ReportOptions())
    is_asked = view.is_at_hand or "verdicts" in request.GET
    report = view.numbers().report if view.has_numbers and is_asked else None
    context = {
        "project": project,
        "tab": "judges",
        "judges": judge_summaries(project, report),
        "are_verdicts_to_come": view.has_numbers and report is None,
        "options": view.options,
        "endpoints": project.endpoints.prefetch_related("probes"),
    }
    return render(request, "evaluations/judge_list.html", context)


@project_view(READERS)
def judge_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(
        Judge.objects.select_related("endpoint", "project"), project=project, pk=pk
    )
    findings = known_findings(judge.endpoint, judge.model) if judge.endpoint else None
    # Wordings are shown by themselves, line by line.
    settings = {name: value for name, value in judge.settings.items() if name != "wording"}
    steady = steadiness(judge)
    context = {
        "project": project,
        "tab": "judges",
        "judge": judge,
        "findings": findings_rows(findings) if findings else None,
        "versions": project.judges.filter(name=judge.name).order_by("version"),
        "runs": judge.runs.counting().of_judges_that_run()[:20],
        "settings": settings_rows(judge.kind, settings),
        "wordings": own_wordings(judge),
        "steadiness": steady,
        "steadiness_rows": rows_of(steady),
        "drifted": judge.studies.drifted().select_related("criterion", "judge", "project"),
        "replies": judge.runs.filter(items__isnull=False).first() if not judge.can_run else None,
    }
    for extension in extensions():
        context |= extension.judge_page(judge)
    return render(request, "evaluations/judge_detail.html", context)


@project_view(READERS)
def judge_standing(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """How the judge agrees with people, which its page fetches."""
    judge, view = get_object_or_404(project.judges, pk=pk), report_view(project, ReportOptions())
    context = {
        "project": project,
        "judge": judge,
        "options": view.options,
        "cached": view.cached,
        "base": reverse("evaluations:report_detail", args=[project.slug]),
        "standings": judge_standings(view.numbers().report, pk) if view.has_numbers else [],
    }
    return render(request, "evaluations/judge_standing.html", context)


@project_view(EDITORS)
def judge_create(request: HttpRequest, project: Project) -> HttpResponse:
    """Choose an evaluator, then fill in its form."""
    kind = request.POST.get("kind") or request.GET.get("kind")
    evaluator = evaluators().get(kind or JudgeKind.GEVAL)
    if evaluator is None or not evaluator.runs or (request.method == "GET" and not kind):
        return render(
            request,
            "evaluations/judge_choose.html",
            {"project": project, "tab": "judges"} | choices(),
        )
    if issubclass(evaluator, LlmEvaluator) and not project.endpoints.current().exists():
        if request.why_not_call_out:  # type: ignore[attr-defined]
            said = f"{evaluator.title} needs an endpoint. {request.why_not_call_out}"  # type: ignore[attr-defined]
            messages.error(request, said)
            return redirect("evaluations:judge_list", project.slug)
        messages.info(request, f"{evaluator.title} needs an endpoint; create one first.")
        return redirect("evaluations:endpoint_create", project.slug)
    form = EvaluatorForm(request.POST or None, project=project, evaluator=evaluator)
    probing = None
    if form.is_valid():
        try:
            judge, made = create_judge(project, form.draft(), here=False)
        except ProbeNeededError as needed:
            probing = _probing(request, form, needed)
        except ValidationError as error:
            form.take_errors(error)
        else:
            said = "is created" if made else "already exists"
            messages.success(request, f"{judge} {said}; you can start a run with it.")
            return redirect("evaluations:run_list", project.slug)
    context = {
        "project": project,
        "tab": "judges",
        "form": form,
        "evaluator": choice_of(evaluator),
        "shown_errand": probing,
    }
    return render(request, "evaluations/judge_form.html", context)


@project_view(EDITORS)
def judge_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(project.judges.exclude(kind=JudgeKind.IMPORTED), pk=pk)
    evaluator = evaluators().get(judge.kind)
    if evaluator is None:
        messages.error(request, f"The package that provides “{judge.kind}” is not installed here.")
        return redirect(judge)
    form = (
        EvaluatorForm(request.POST, project=project, evaluator=evaluator)
        if request.method == "POST"
        else EvaluatorForm.of(judge, evaluator)
    )
    probing = None
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_judge(judge, form.draft(), here=False)
        except ProbeNeededError as needed:
            probing = _probing(request, form, needed)
        except ValidationError as error:
            form.take_errors(error)
        else:
            said = (
                "is saved"
                if changed.pk == judge.pk
                else f"is created; {judge} keeps its runs and is retired"
            )
            messages.success(request, f"{changed} {said}.")
            return redirect(changed)
    context = {
        "project": project,
        "tab": "judges",
        "form": form,
        "judge": judge,
        "evaluator": choice_of(evaluator),
    }
    context["shown_errand"] = probing
    return render(request, "evaluations/judge_form.html", context)


def _probing(
    request: HttpRequest, form: EvaluatorForm, needed: ProbeNeededError
) -> dict[str, Any] | None:
    """The probe that the form waits for; None if it has just failed, which the form shows.

    A form that waited names its probe and shows its result; only a new attempt starts another.
    """
    probe = ModelProbe.objects.filter(endpoint=needed.endpoint, model=needed.model).first()
    if probe and probe.has_failed and request.POST.get("waited") == str(probe.pk):
        form.add_error("endpoint", f"The endpoint could not be probed: {probe.message}")
        return None
    if needed.endpoint.retired_at:
        form.add_error(
            "endpoint", "This endpoint is retired, so it cannot be probed. Restore it first."
        )
        return None
    return shown_errand("probe", request_probe(needed.endpoint, needed.model), then="submit")


@require_POST
@project_view(EDITORS)
def judge_retire(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(project.judges.exclude(kind=JudgeKind.IMPORTED), pk=pk)
    retire(judge, back=bool(judge.retired_at))
    return redirect(judge)
