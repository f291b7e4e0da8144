"""Pages of criteria: the list, presets, the editor with its prompt, versions of steps."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotations.models import GuidelinesVersion
from evaluations.corpus.removing import StillInUseError, remove_criterion
from evaluations.corpus.rubric_items import read_items
from evaluations.judging.judges.criteria import add_presets, preview, store_steps
from evaluations.judging.runs.errands import request_steps
from evaluations.judging.runs.layout import USUAL_PILOT_DOCUMENTS
from evaluations.models import Criterion, EvaluationSteps, Judge, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail, note_nothing
from evaluations.web.forms.criteria import CriterionForm, PresetForm, StepsForm
from evaluations.web.forms.playground import plain_lines
from evaluations.web.notices import noticing, refuse, show_form
from evaluations.web.parameters import reads
from evaluations.web.revisions import locked
from evaluations.web.views.errands import shown_errand
from geval.texts.word_differences import line_differences


@project_view(READERS)
def criterion_list(request: HttpRequest, project: Project) -> HttpResponse:
    context = {
        "project": project,
        "tab": "criteria",
        "criteria": _items_after_rubrics(project),
        "presets": PresetForm(project=project) if request.may_edit else None,  # type: ignore[attr-defined]
    }
    return render(request, "evaluations/criterion_list.html", context)


def _items_after_rubrics(project: Project) -> list[Criterion]:
    criteria = list(project.criteria.select_related("rubric").prefetch_related("steps", "items"))
    rubrics = [criterion for criterion in criteria if not criterion.rubric_id]
    return [
        criterion
        for rubric in rubrics
        for criterion in (rubric, *(item for item in criteria if item.rubric_id == rubric.pk))
    ]


@project_action(EDITORS)
def criterion_presets(request: HttpRequest, project: Project) -> HttpResponse:
    form = PresetForm(request.POST, project=project)
    if form.is_valid():
        made = add_presets(project, form.chosen())
        messages.success(request, f"Added {', '.join(criterion.name for criterion in made)}.")
    else:
        refuse(request, "Choose at least one preset.")
    return redirect("evaluations:criterion_list", project.slug)


@reads("judge")
@project_view(EDITORS)
def criterion_create(request: HttpRequest, project: Project) -> HttpResponse:
    criterion = Criterion(project=project, position=project.criteria.count())
    return _edit(request, project, criterion)


@reads("judge")
@project_view(EDITORS)
@transaction.atomic
def criterion_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _edit(request, project, locked(project.criteria.all(), pk=pk))


def _edit(request: HttpRequest, project: Project, criterion: Criterion) -> HttpResponse:
    """Save the criterion, or with the button "Preview" show the resulting prompt without saving."""
    data: QueryDict | None = request.POST or None
    puts_items = "put_items" in request.POST
    if puts_items:
        data = _with_proposed_items(request.POST, criterion)
    form = CriterionForm(data, request.FILES or None, instance=criterion)
    only_looks = puts_items or "preview" in request.POST
    if only_looks:
        note_nothing(request)
    if form.is_valid():
        drafted = form.save(commit=False)
        if not only_looks and form.store():
            drafted.steps_requests.update(items_text="")
            GuidelinesVersion.objects.current(project, by=request.user)
            messages.success(
                request, f"{drafted.name} is saved. Running runs keep the prompt they started with."
            )
            if "definition" in form.changed_data and drafted.steps.exists():
                messages.warning(
                    request,
                    "Its evaluation steps were written for the earlier definition: read them, or"
                    " have new ones written.",
                )
            return _back_to(request, drafted)
    shown = (
        preview(form.instance) if form.is_valid() or (criterion.pk and not form.is_bound) else None
    )
    context = {
        "project": project,
        "tab": "criteria",
        "form": form,
        "criterion": criterion,
        "preview": shown,
    }
    if only_looks and request.htmx:  # type: ignore[attr-defined]
        return render(request, "evaluations/criterion_form.html#preview", context)
    if criterion.pk:
        context |= {
            "steps_form": StepsForm(project=project),
            "versions": criterion.steps.order_by("-version"),
            "shown_errand": _latest_request(criterion),
            "pilot_judge": _pilot_judge(request, project),
            "can_pilot": project.judges.that_run().exists(),
            "pilot_documents": min(USUAL_PILOT_DOCUMENTS, project.documents.count()),
        }
    return show_form(request, "evaluations/criterion_form.html", context)


def _with_proposed_items(entered: QueryDict, criterion: Criterion) -> QueryDict:
    """Return the form as it was entered, with the items that a model proposed after its own."""
    form, newest = entered.copy(), None
    if criterion.pk:
        wanted = criterion.steps_requests.exclude(items_text="")
        newest = wanted.order_by("wanted_at").last()
    own, names = form.get("items_text", "").rstrip(), set[str]()
    with suppress(ValidationError):  # lines that are wrong are shown with the reason
        names = {line.key for line in read_items(own)}
    proposed = read_items(newest.items_text) if newest else []
    lines = [own, *(str(line) for line in proposed if line.key not in names)]
    form["items_text"] = "\n".join(filter(None, lines))
    return form


def _pilot_judge(request: HttpRequest, project: Project) -> Judge | None:
    """Return the judge for trying a changed criterion: the one whose scores led here, or the only
    one; None if it must be chosen."""
    judges = {str(judge.pk): judge for judge in project.judges.that_run()}
    only = next(iter(judges.values())) if len(judges) == 1 else None
    return judges.get(request.GET.get("judge", "")) or only


def _back_to(request: HttpRequest, criterion: Criterion) -> HttpResponse:
    """Redirect to the criterion's page, keeping the judge whose scores led there."""
    judge = request.GET.get("judge", "")
    address = reverse("evaluations:criterion_edit", args=[criterion.project.slug, criterion.pk])
    return redirect(f"{address}?{urlencode({'judge': judge})}" if judge else address)


def _latest_request(criterion: Criterion) -> dict[str, Any] | None:
    """Return the last request for steps or items, if it is in progress or failed, or its items are
    not saved."""
    wanted = criterion.steps_requests.select_related("judge").order_by("-wanted_at").first()
    if wanted is None or not (wanted.is_open or wanted.has_failed or wanted.items_text):
        return None
    return shown_errand("steps", wanted, then="say")


@reads("judge")
@project_action(EDITORS)
def steps_create(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Create a version of the steps: as entered, or written by a judge's model, which may write a
    rubric's items instead."""
    criterion = get_object_or_404(Criterion, project=project, pk=pk)
    form = StepsForm(request.POST, project=project)
    if not form.is_valid():
        refuse(request, "Choose a judge of this project.")
    elif "generate" in request.POST and form.cleaned_data["judge"]:
        wanted = request_steps(
            criterion,
            form.cleaned_data["judge"],
            is_for_items=request.POST["generate"] == "items",
        )
        if wanted.is_for_items:
            note_detail(request, "items")
        if request.htmx:  # type: ignore[attr-defined]
            # Only this part of the page is replaced; typed input stays.
            errand = shown_errand("steps", wanted, then="say")
            return render(
                request, "evaluations/errand.html", {"project": project, "shown_errand": errand}
            )
        _keep_typed_steps(request, criterion, form.cleaned_data["text"].strip())
    elif form.cleaned_data["text"].strip():
        steps = store_steps(
            criterion, form.cleaned_data["text"].strip(), written_by=f"{request.user} by hand"
        )
        messages.success(request, f"Version {steps.version} is saved; the next run uses it.")
    else:
        refuse(request, "Write steps, or let a judge's model generate them.")
    return _back_to(request, criterion)


def _keep_typed_steps(request: HttpRequest, criterion: Criterion, text: str) -> None:
    """Save steps that were typed but not saved before a model writes others."""
    newest = criterion.newest_steps
    if not text or (newest and plain_lines(newest.text) == plain_lines(text)):
        return
    kept = store_steps(criterion, text, written_by=f"{request.user} by hand")
    messages.info(request, f"What you typed is kept as version {kept.version}.")


@project_view(READERS)
def steps_compare(request: HttpRequest, project: Project, pk: int, version: int) -> HttpResponse:
    """Compare a version of the steps with the previous one."""
    criterion = get_object_or_404(Criterion, project=project, pk=pk)
    steps = get_object_or_404(EvaluationSteps, criterion=criterion, version=version)
    before = criterion.steps.filter(version__lt=version).last()
    context = {
        "project": project,
        "tab": "criteria",
        "criterion": criterion,
        "steps": steps,
        "before": before,
        "lines": line_differences(before.text if before else "", steps.text),
    }
    return render(request, "evaluations/steps_compare.html", context)


@project_action(EDITORS)
def criterion_remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    criterion = get_object_or_404(Criterion, project=project, pk=pk)
    with noticing(request, StillInUseError):
        remove_criterion(criterion)
        note_detail(request, criterion.name)
        messages.success(request, f"Criterion {criterion.name} was removed.")
        return redirect("evaluations:criterion_list", project.slug)
    return redirect("evaluations:criterion_edit", project.slug, pk)
