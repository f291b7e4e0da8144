"""Pages of judges: the list with endpoints, details, create, change and retire."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import (
    ProbeNeededError,
    change_judge,
    create_judge,
    retire,
    save_endpoint,
)
from evaluations.judging.judges.wordings import keep_wording, own_wordings
from evaluations.judging.runs.accounts import warn_of_key
from evaluations.judging.runs.errands import request_models, request_probe
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.trial import can_try, latest_playground_run, try_items
from evaluations.models import Judge, JudgeKind, Project, WorkerHeartbeat
from evaluations.pages.judges import judge_summaries
from evaluations.pages.runs.item import trial_items
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail, note_nothing, note_refusal
from evaluations.reports.data import usual_options
from evaluations.reports.serving.parts import ReportView
from evaluations.reports.serving.view import report_view
from evaluations.web.forms.evaluators import EvaluatorForm
from evaluations.web.forms.playground import PlaygroundForm
from evaluations.web.notices import STOP_POLLING, refuse, show_form
from evaluations.web.parameters import reads
from evaluations.web.revisions import locked, sent
from evaluations.web.views.errands import shown_errand
from geval.evaluators.base import Evaluator
from geval.evaluators.choices import choice_of, choices, settings_rows
from geval.evaluators.registry import find_evaluator
from geval.llm.findings import findings_rows
from geval.llm.prompts import PromptError
from geval.reports.judge_standing import judge_standings, verdict_lines
from geval_site.queues import RUNS


@reads("verdicts")
@project_view(READERS)
def judge_list(request: HttpRequest, project: Project) -> HttpResponse:
    """All judges. Verdicts that take more than a moment are fetched after the page has loaded."""
    view = report_view(project, usual_options(project))
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
    """How well the judge agrees with people; its page fetches what takes more than a moment."""
    judge = _judge(project, pk)
    view = report_view(project, usual_options(project))
    context = _standing(judge, view) if view.is_at_hand else _page(judge)
    return render(request, "evaluations/judge_detail.html", context)


@project_view(READERS)
def judge_standing(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The same, fetched by a page of the judge."""
    context = _standing(_judge(project, pk), report_view(project, usual_options(project)))
    context["headline"] = verdict_lines(context["standings"])
    return render(request, "evaluations/judge_standing.html", context)


def _judge(project: Project, pk: int) -> Judge:
    return get_object_or_404(
        Judge.objects.select_related("endpoint", "project"), project=project, pk=pk
    )


def _page(judge: Judge, **more: Any) -> dict[str, Any]:
    """Return what each page of a judge needs, with more for one."""
    return {"project": judge.project, "tab": "judges", "judge": judge} | more


def _standing(judge: Judge, view: ReportView) -> dict[str, Any]:
    standings = judge_standings(view.numbers().report, judge.pk) if view.has_numbers else []
    return _page(judge) | {
        "options": view.options,
        "cached": view.cached,
        "base": reverse("evaluations:report_detail", args=[judge.project.slug]),
        "standings": standings,
        "are_by_labels": bool(standings) and all(standing.shares for standing in standings),
    }


@project_view(READERS)
def judge_runs(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = _judge(project, pk)
    runs = judge.runs.counting().of_judges_that_run()[:100]
    return render(request, "evaluations/judge_runs.html", _page(judge, runs=runs))


@project_view(READERS)
def judge_settings(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = _judge(project, pk)
    findings = known_findings(judge.endpoint, judge.model, judge.request_options)
    # Wordings are shown separately, line by line.
    settings = {name: value for name, value in judge.settings.items() if name != "wording"}
    context = _page(judge) | {
        "findings": findings_rows(findings) if findings else None,
        "versions": project.judges.filter(name=judge.name).order_by("version"),
        "settings": settings_rows(judge.kind, settings),
        "wordings": own_wordings(judge),
        "replies": judge.runs.filter(items__isnull=False).first() if not judge.can_run else None,
    }
    return render(request, "evaluations/judge_settings.html", context)


def _playground(request: HttpRequest, judge: Judge) -> PlaygroundForm | None:
    """Return the form that tries a judge on a criterion: the named one, or else the last one
    tried."""
    criteria = list(judge.project.criteria.without_rubrics())
    if not criteria or not can_try(judge):
        return None
    named = request.POST.get("criterion") or request.GET.get("criterion")
    trial = latest_playground_run(judge)
    tried = {criterion.pk for criterion in trial.judged_criteria()} if trial else set()
    chosen = next(
        (each for each in criteria if str(each.pk) == named or (not named and each.pk in tried)),
        criteria[0],
    )
    form = PlaygroundForm(
        sent(request), judge=judge, chosen=chosen, trial=trial, is_own="own" in request.GET
    )
    return form if form.fields["item_1"].choices else None  # type: ignore[attr-defined]


def _trial(judge: Judge) -> dict[str, Any]:
    """Return the latest trial of a judge, as a part of the page that is polled until it ends."""
    run = latest_playground_run(judge)
    return {
        "run": run,
        "trial": trial_items(run) if run else [],
        "worker_alive": WorkerHeartbeat.objects.doing(RUNS, project=judge.project.slug).exists(),
    }


@reads("criterion", "own")
@project_view(EDITORS)
def judge_try(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Try a judge on up to three items, with its prompt in other words, or with "keep" store these
    in the judge; for htmx, the trial's progress."""
    judge = get_object_or_404(project.judges.that_run(), pk=pk)
    context = _page(judge, **_trial(judge))
    if request.htmx:  # type: ignore[attr-defined]
        is_active = bool(context["run"] and context["run"].is_active)
        status = 200 if is_active else STOP_POLLING
        return render(request, "evaluations/playground_trial.html", context, status=status)
    form = _playground(request, judge)
    if form is not None and form.is_valid():
        criterion = form.cleaned_data["criterion"]
        try:
            if "keep" in request.POST:
                return _kept(request, judge, keep_wording(judge, criterion, form.texts))
            try_items(judge, criterion, form.outputs, form.texts)
        except ValidationError as error:
            form.add_error(None, error.messages)
        except (RunError, PromptError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("evaluations:judge_try", project.slug, judge.pk)
    context |= {"playground": form, "criteria": project.criteria.without_rubrics()}
    status = 422 if request.method == "POST" else 200
    return render(request, "evaluations/judge_try.html", context, status=status)


def _kept(request: HttpRequest, judge: Judge, changed: Judge) -> HttpResponse:
    if changed.pk == judge.pk:
        messages.success(request, f"{judge} uses this wording from now on.")
    else:
        messages.success(request, f"{changed} is created with this wording; {judge} is retired.")
    return redirect("evaluations:judge_try", changed.project.slug, changed.pk)


@reads("kind", "endpoint")
@project_view(EDITORS)
def judge_create(request: HttpRequest, project: Project) -> HttpResponse:
    """Create a judge with a single form: G-Eval by default, with links to other kinds."""
    kind = request.POST.get("kind") or request.GET.get("kind") or JudgeKind.GEVAL
    evaluator = find_evaluator(kind)
    if evaluator is None or not evaluator.runs:
        return render(
            request,
            "evaluations/judge_choose.html",
            {"project": project, "tab": "judges"} | choices(),
        )
    form = _new_form(project, evaluator, sent(request), request.GET)
    if form.asks_for_endpoint and request.why_not_call_out:  # type: ignore[attr-defined]
        why_not = request.why_not_call_out  # type: ignore[attr-defined]
        refuse(request, f"{evaluator.title} needs an endpoint. {why_not}")
        return redirect("evaluations:judge_list", project.slug)
    waiting = None
    if request.method == "POST":
        given, form = form, _with_endpoint(request, project, form)
        if _wants_models(request, form):
            if form is given:
                note_nothing(request)
            waiting = _asked_models(request, form)
        elif form.is_valid() and not form.asks_for_endpoint:
            try:
                judge, made = create_judge(project, form.draft(), here=False)
            except ProbeNeededError as needed:
                waiting = _probing(request, form, needed)
            except ValidationError as error:
                form.take_errors(error)
            else:
                _say_saved(request, judge, "is created" if made else "already exists")
                return redirect(
                    "evaluations:judge_try" if can_try(judge) else "evaluations:judge_detail",
                    project.slug,
                    judge.pk,
                )
    context = {
        "project": project,
        "tab": "judges",
        "form": form,
        "evaluator": choice_of(evaluator),
        "shown_errand": waiting,
        "criteria": list(project.criteria.all()),
    }
    return show_form(request, "evaluations/judge_form.html", context)


def _new_form(
    project: Project, evaluator: type[Evaluator], data: QueryDict | None, query: QueryDict
) -> EvaluatorForm:
    """Return the form of a new judge; a link may name its endpoint."""
    initial = {"endpoint": query["endpoint"]} if "endpoint" in query else {}
    return EvaluatorForm(data, project=project, evaluator=evaluator, is_new=True, initial=initial)


def _with_endpoint(request: HttpRequest, project: Project, form: EvaluatorForm) -> EvaluatorForm:
    """Return the form with the endpoint that it describes, once that is saved."""
    may_save = form.is_address_valid and (form.is_valid() or "models" in request.POST)
    if not form.asks_for_endpoint or not may_save:
        return form
    try:
        endpoint = save_endpoint(project, form.endpoint_draft())
    except ValidationError as error:
        note_refusal(request, error)
        form.take_errors(error)
        return form
    note_detail(request, f"with the endpoint {endpoint}")
    data = request.POST.copy()
    data["endpoint"] = str(endpoint.pk)
    return _new_form(project, form.evaluator, data, request.GET)


def _wants_models(request: HttpRequest, form: EvaluatorForm) -> bool:
    """Whether a form with an endpoint was submitted to list the endpoint's models."""
    if not form.fields.get("endpoint"):
        return False
    if "models" in request.POST:
        return True
    has_model, suggestions = request.POST.get("model"), form.fields["model"].suggestions  # type: ignore[attr-defined]
    return not has_model and ("waited" in request.POST or not suggestions)


def _asked_models(request: HttpRequest, form: EvaluatorForm) -> dict[str, Any] | None:
    """Return the request for an endpoint's models that the form waits for; None once it is
    answered."""
    form.full_clean()
    endpoint = form.cleaned_data.get("endpoint")
    if endpoint is None:
        return None
    asked = endpoint.probes.filter(model="").first()
    if not asked or asked.is_open or request.POST.get("waited") != str(asked.pk):
        form.show_only()
        return shown_errand("probe", request_models(endpoint), then="submit")
    form.show_only(**({"model": asked.message} if asked.has_failed else {}))
    form.fields["model"].widget.attrs["autofocus"] = True
    return None


def _say_saved(request: HttpRequest, judge: Judge, outcome: str) -> None:
    then = "Try it on an item, or start a run." if can_try(judge) else "You can start a run."
    messages.success(request, f"{judge} {outcome}. {then}")
    if warning := warn_of_key(judge.endpoint):
        messages.warning(request, warning)


@project_view(EDITORS)
@transaction.atomic
def judge_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = locked(project.judges.exclude(kind=JudgeKind.IMPORTED), pk=pk)
    evaluator = find_evaluator(judge.kind)
    if evaluator is None:
        refuse(request, f"The package that provides “{judge.kind}” is not installed here.")
        return redirect("evaluations:judge_settings", project.slug, judge.pk)
    form = EvaluatorForm.of(judge, evaluator, sent(request))
    probing = None
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_judge(judge, form.draft(), here=False)
        except ProbeNeededError as needed:
            probing = _probing(request, form, needed)
        except ValidationError as error:
            form.take_errors(error)
        else:
            message = (
                "is saved"
                if changed.pk == judge.pk
                else f"is created; {judge} keeps its runs and is retired"
            )
            messages.success(request, f"{changed} {message}.")
            if warning := warn_of_key(changed.endpoint):
                messages.warning(request, warning)
            return redirect("evaluations:judge_settings", project.slug, changed.pk)
    context = {
        "project": project,
        "tab": "judges",
        "form": form,
        "judge": judge,
        "evaluator": choice_of(evaluator),
    }
    context["shown_errand"] = probing
    return show_form(request, "evaluations/judge_form.html", context)


def _probing(
    request: HttpRequest, form: EvaluatorForm, needed: ProbeNeededError
) -> dict[str, Any] | None:
    """Return the probe that the form waits for; None if it has just failed, which the form then
    shows.

    A form that waited names its probe and shows its result; only a new attempt starts another
    probe.
    """
    asked = {"model": needed.model, "request_options": needed.options}
    probe = needed.endpoint.probes.filter(**asked).first()
    if probe and probe.has_failed and request.POST.get("waited") == str(probe.pk):
        form.add_error("endpoint", f"The endpoint could not be probed: {probe.message}")
        return None
    if needed.endpoint.retired_at:
        form.add_error(
            "endpoint", "This endpoint is retired, so it cannot be probed. Restore it first."
        )
        return None
    return shown_errand(
        "probe",
        request_probe(needed.endpoint, needed.model, needed.options),
        then="submit",
    )


@project_action(EDITORS)
def judge_retire(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(project.judges.exclude(kind=JudgeKind.IMPORTED), pk=pk)
    retire(judge, back=bool(judge.retired_at))
    return redirect("evaluations:judge_settings", project.slug, judge.pk)
