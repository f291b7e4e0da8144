"""Runs: the list with a form to start one, one run live, pausing it and letting it go on."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluations.access import EDITORS, READERS, project_view
from evaluations.forms import RunForm
from evaluations.judging.prompts import PromptError
from evaluations.judging.run import RunError, pause_run, resume_run, start_run
from evaluations.models import EvaluationRun, Project, WorkerHeartbeat
from evaluations.reports.progress import run_progress

STOP_POLLING = 286


@project_view(READERS)
def run_list(request: HttpRequest, project: Project) -> HttpResponse:
    runs = project.runs.of_judges_that_run().select_related("judge")[:100]
    context = {"project": project, "tab": "runs", "runs": runs, "form": RunForm(project=project)}
    return render(request, "evaluations/run_list.html", context)


@require_POST
@project_view(EDITORS)
def run_start(request: HttpRequest, project: Project) -> HttpResponse:
    form = RunForm(request.POST, project=project)
    if form.is_valid():
        data = form.cleaned_data
        try:
            return redirect(start_run(data["judge"], list(data["criteria"]), fresh=data["fresh"]))
        except (RunError, PromptError) as error:
            form.add_error(None, str(error))
    runs = project.runs.of_judges_that_run().select_related("judge")[:100]
    context = {"project": project, "tab": "runs", "runs": runs, "form": form}
    return render(request, "evaluations/run_list.html", context, status=422)


@project_view(READERS)
def run_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The page, or for htmx its live part, which stops asking once the run is over."""
    run = get_object_or_404(EvaluationRun.objects.select_related("judge"), project=project, pk=pk)
    context = {
        "project": project,
        "tab": "runs",
        "run": run,
        "progress": run_progress(run),
        "criteria": run.run_criteria.select_related("criterion", "steps"),
        "worker_alive": WorkerHeartbeat.objects.alive().exists(),
    }
    if request.htmx:  # type: ignore[attr-defined]
        status = 200 if run.is_active else STOP_POLLING
        return render(request, "evaluations/run_detail.html#progress", context, status=status)
    return render(request, "evaluations/run_detail.html", context)


@require_POST
@project_view(EDITORS)
def run_pause(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun, project=project, pk=pk)
    if not pause_run(run.pk, f"Paused by {request.user}."):
        messages.info(request, "The run had ended already.")
    return redirect(run)


@require_POST
@project_view(EDITORS)
def run_resume(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun, project=project, pk=pk)
    if not resume_run(run, retry_failed="failed" in request.POST):
        messages.info(request, "There was nothing to go on with.")
    return redirect(run)
