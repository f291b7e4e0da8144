"""Pages of runs: the list with a form to start one, live progress, pause, cancel and resume; their
items by state and reason, and an item's prompt, reply and explanation.
"""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode

from evaluations.judging.runs.errands import request_explanation
from evaluations.judging.runs.estimate import RunEstimate, estimate_run
from evaluations.judging.runs.lifecycle import (
    RunError,
    cancel_run,
    evaluator_of,
    pause_by_person,
    resume_run,
    steps_written,
)
from evaluations.judging.runs.quota import allowed_pace
from evaluations.judging.runs.starting import RunRequest, remainder_run, start_remainder, start_run
from evaluations.judging.runs.trial import TRIAL_ITEMS, change_and_try, estimate_rest, unreadable
from evaluations.models import (
    EvaluationRun,
    Explanation,
    ItemState,
    Project,
    RunItem,
    RunState,
    Score,
    WorkerHeartbeat,
)
from evaluations.pages.jobs import jobs_of
from evaluations.pages.runs.item import item_view, trial_items
from evaluations.pages.runs.progress import run_progress
from evaluations.pages.runs.run_goals import reached
from evaluations.pages.runs.run_items import PAGE_SIZE, SORTS, ItemsView, count_items, item_rows
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.reports.run_results import precisions, so_far
from evaluations.reports.serving.live import is_large
from evaluations.web.forms.runs import RestForm, ResumeForm, RunForm, wanted_run
from evaluations.web.notices import STOP_POLLING, noticing, refuse
from evaluations.web.parameters import reads
from evaluations.web.views.errands import shown_errand
from geval.evaluators.choices import settings_rows
from geval.llm.prompts import PromptError
from geval_site.queues import RUNS


@reads("judge", "criterion", "outputs")
@project_view(READERS)
def run_list(request: HttpRequest, project: Project) -> HttpResponse:
    runs = project.runs.counting().of_judges_that_run().select_related("judge")[:100]
    form = RunForm(project=project, initial=wanted_run(project, request.GET))
    context = {
        "project": project,
        "tab": "runs",
        "runs": runs,
        "form": form,
        "is_open": bool(form.initial) or not runs,
    }
    return render(request, "evaluations/run_list.html", context)


@reads("list")
@project_view(READERS)
def jobs(request: HttpRequest, project: Project) -> HttpResponse:
    """The header's status, which every visible page polls, or the home page's list."""
    context = {"project": project, "jobs": jobs_of(project)}
    part = "jobs_list" if "list" in request.GET else "jobs"
    return render(request, f"includes/{part}.html", context)


@project_action(EDITORS)
def run_start(request: HttpRequest, project: Project) -> HttpResponse:
    """Start a run, or a trial of it; with the button "Estimate", show its cost instead."""
    form = RunForm(request.POST, project=project)
    estimate = None
    if form.is_valid():
        data = form.cleaned_data
        judge, criteria, fresh, transport = (
            data["judge"],
            list(data["criteria"]),
            data["fresh"],
            data["transport"],
        )
        try:
            if "trial" in request.POST:
                return redirect(
                    start_run(judge, criteria, RunRequest(fresh=fresh, trial=TRIAL_ITEMS))
                )
            if "estimate" not in request.POST:
                run = start_run(
                    judge,
                    criteria,
                    RunRequest(
                        fresh=fresh,
                        budget=data["budget"],
                        transport=transport,
                        pilot=form.pilot,
                        goal_width=data["goal_width"],
                        goal_rival=data["goal_rival"],
                    ),
                )
                return redirect(run)
            estimate = estimate_run(
                judge, criteria, fresh=fresh, transport=transport, pilot=form.pilot
            )
        except (RunError, PromptError) as error:
            form.add_error(None, str(error))
    runs = project.runs.counting().of_judges_that_run().select_related("judge")[:100]
    context = {
        "project": project,
        "tab": "runs",
        "runs": runs,
        "form": form,
        "estimate": estimate,
        "is_open": True,
    }
    return render(request, "evaluations/run_list.html", context, status=200 if estimate else 422)


@project_view(READERS)
def run_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The page, or for htmx its live part, which stops polling once the run is over."""
    run = get_object_or_404(
        EvaluationRun.objects.select_related("judge", "goal_rival"), project=project, pk=pk
    )
    progress, large = run_progress(run), is_large(project)
    criteria_so_far = [] if large else so_far(run)
    context = {
        "project": project,
        "tab": "runs",
        "run": run,
        "progress": progress,
        "so_far": criteria_so_far,
        "has_verdicts": any(each.are_shares for each in criteria_so_far),
        "has_ranks": not all(each.are_shares for each in criteria_so_far),
        "sample": tuple(
            dict.fromkeys(text for criterion in criteria_so_far for text in criterion.sample)
        ),
        "precisions": precisions(run, criteria_so_far, progress.rate),
        "is_large": large,
        "settings": settings_rows(*evaluator_of(run)),
        "criteria": run.run_criteria.select_related("criterion", "steps"),
        "worker_alive": WorkerHeartbeat.objects.doing(RUNS, project=project.slug).exists(),
        "allowed": allowed_pace(run),
        "steps": steps_written(run),
        "rest": remainder_run(run),
        "is_whole": run.frozen.pilot >= project.documents.count() > 0,
        "trial": trial_items(run) if run.frozen.trial else None,
        "estimate": _estimate(run),
        "unreadable": unreadable(run) if _is_to_be_decided(run) else None,
        "may_change": (
            request.may_edit  # type: ignore[attr-defined]
            and not run.is_active
            and run.judge.retired_at is None
        ),
        "ended_at_goal": run.state == RunState.DONE and run.has_goal and progress.open,
        "is_known": bool(run.finished_at and run.has_goal and reached(run, criteria_so_far)),
    }
    if context["ended_at_goal"]:
        criteria = run.run_criteria.values_list("criterion", flat=True)
        named = [("judge", run.judge_id), *(("criterion", pk) for pk in criteria)]
        context["same_again"] = urlencode(named)
    if request.htmx:  # type: ignore[attr-defined]
        status = 200 if run.is_active or run.resumes_by_itself else STOP_POLLING
        return render(request, "evaluations/run_detail.html#progress", context, status=status)
    return render(request, "evaluations/run_detail.html", context)


def _estimate(run: EvaluationRun) -> RunEstimate | None:
    """Return an estimate of the rest of a trial; None for other runs, and while the trial is being
    judged."""
    if not run.frozen.trial or run.state != RunState.DONE or remainder_run(run):
        return None
    try:
        return estimate_rest(run)
    except (RunError, PromptError):  # its judge or criterion has changed since
        return None


def _is_to_be_decided(run: EvaluationRun) -> bool:
    """Whether a person has to decide how a run continues, and so should know why items failed."""
    waits = run.state in (RunState.PAUSED, RunState.FAILED)
    return run.judge.asks_llm and (bool(run.frozen.trial) or waits)


@project_action(EDITORS)
def run_change(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Change the judge of a run as its page advises, and try it on a few items."""
    run = get_object_or_404(EvaluationRun.objects.select_related("judge"), project=project, pk=pk)
    with noticing(request, RunError, PromptError, ValidationError):
        trial = change_and_try(run, request.POST.get("change", ""))
        messages.success(request, f"{trial.judge} is created; this is its trial.")
        return redirect(trial)
    return redirect(run)


@project_action(EDITORS)
def run_rest(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Start a run on what a pilot or a trial left out."""
    pilot = get_object_or_404(EvaluationRun.objects.select_related("judge"), project=project, pk=pk)
    form = RestForm(request.POST)
    if not form.is_valid():
        refuse(request, "The budget is not a valid amount.")
        return redirect(pilot)
    with noticing(request, RunError, PromptError):
        return redirect(start_remainder(pilot, budget=form.cleaned_data["budget"]))
    return redirect(pilot)


@project_action(EDITORS)
def run_pause(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun, project=project, pk=pk)
    if not pause_by_person(run.pk, request.user):
        messages.info(request, "The run had already ended.")
    return redirect(run)


@project_action(EDITORS)
def run_cancel(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun, project=project, pk=pk)
    if not cancel_run(run.pk, f"Cancelled by {request.user}."):
        messages.info(request, "The run had already ended.")
    return redirect(run)


@project_action(EDITORS)
def run_resume(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun, project=project, pk=pk)
    form = ResumeForm(request.POST)
    if not form.is_valid():
        refuse(request, "The budget is not a valid amount.")
    else:
        data = form.cleaned_data
        how = {"reason": data["reason"], "budget": data["budget"]}
        with noticing(request, RunError):
            if not resume_run(run, retry_failed=data["failed"], **how):
                messages.info(request, "There is nothing to resume.")
    return redirect(run)


@reads("state", "reason", "criterion", "system", "sort", "page")
@project_view(READERS)
def item_list(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(EvaluationRun.objects.select_related("judge"), project=project, pk=pk)
    view = ItemsView.of(request.GET)
    page = Paginator(range(count_items(run, view)), PAGE_SIZE).get_page(request.GET.get("page"))
    reasons = run.items.filter(state=ItemState.FAILED).order_by("reason")
    context = {
        "project": project,
        "tab": "runs",
        "run": run,
        "page": page,
        "view": view,
        "rows": item_rows(run, view, page=page.number),
        "states": ItemState.choices,
        "reasons": reasons.values_list("reason", flat=True).distinct(),
        "criteria": run.judged_criteria(),
        "systems": project.systems.order_by("name"),
        "sorts": SORTS,
    }
    return render(request, "evaluations/item_list.html", context)


@project_view(READERS)
def item_detail(request: HttpRequest, project: Project, run: int, pk: int) -> HttpResponse:
    item = _item(project, run, pk)
    view = item_view(item)
    explanation = Explanation.objects.filter(score=view.score).first() if view.score else None
    context = {"project": project, "tab": "runs", "run": item.run, "item": item, "view": view}
    context["explanation"] = explanation
    if explanation and explanation.is_open:
        context["shown_errand"] = shown_errand("explanation", explanation)
    return render(request, "evaluations/item_detail.html", context)


@project_action(EDITORS)
def item_explain(_request: HttpRequest, project: Project, run: int, pk: int) -> HttpResponse:
    item = _item(project, run, pk)
    score = get_object_or_404(Score, run=item.run, output=item.output, criterion=item.criterion)
    request_explanation(score)
    return redirect("evaluations:item_detail", project.slug, run, pk)


def _item(project: Project, run: int, pk: int) -> RunItem:
    items = RunItem.objects.select_related(
        "run__judge__endpoint",
        "output__document",
        "output__system",
        "criterion",
        "rival__system",
        "reply",
    )
    return get_object_or_404(items, run__project=project, run_id=run, pk=pk)
