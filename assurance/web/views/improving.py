"""Pages on which a judge is improved: lock documents, search for changes, prove and adopt them."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from assurance.improving.adopting import adopt
from assurance.improving.certificate import certificate
from assurance.improving.estimating import SearchEstimate, estimate_search
from assurance.improving.looking import finish_looks, look_on_page, pending_looks
from assurance.improving.page import improve_page
from assurance.improving.proposals import progress_of
from assurance.improving.rewording import can_be_reworded
from assurance.improving.work import (
    SearchLimits,
    cancel_search,
    pause_search,
    request_search,
    resume_search,
)
from assurance.web.forms import LockForm, SearchForm, TargetForm
from evaluations.corpus.locks.locking import (
    lock_documents,
    locked_of,
    unlock_documents,
)
from evaluations.judging.runs.lifecycle import RunError
from evaluations.models import Candidate, Criterion, Judge, Project, WorkerHeartbeat
from evaluations.people.access import EDITORS, OWNERS, READERS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.web.notices import STOP_POLLING, noticing, refuse
from evaluations.web.parameters import reads
from geval.improving.ground import ImproveError
from geval.improving.words import outcome_in_words
from geval_site.queues import RUNS


@reads("judge", "criterion")
@project_view(READERS)
def improve(request: HttpRequest, project: Project) -> HttpResponse:
    """What was tried for a judge on a criterion, and what is proven."""
    finish_looks(project)
    named = request.GET.get("judge", "")
    page = improve_page(project, judge=named, criterion=request.GET.get("criterion", ""))
    judge = next((each for each in project.judges.all() if str(each.pk) == named), page.judge)
    if judge is None:
        messages.info(request, "No judge has scores yet. Run a judge, or upload its scores.")
        return redirect("evaluations:judge_list", project.slug)
    context = {
        "project": project,
        "tab": "judges",
        "judge": judge,
        "page": page,
        "lock_form": LockForm(),
        "estimate": _estimate(page.judge, page.criterion),
        "search_form": SearchForm(project=project, reworded=can_be_reworded(page.judge)),
        "worker_alive": WorkerHeartbeat.objects.doing(RUNS).exists(),
    }
    return render(request, "assurance/improve.html", context)


def _estimate(judge: Judge | None, criterion: Criterion | None) -> SearchEstimate | None:
    if judge is None or criterion is None:
        return None
    return estimate_search(judge, criterion, calls=SearchLimits.most_calls)


@project_view(READERS)
def improve_state(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Polled during a search; the page is reloaded when it is over."""
    search = get_object_or_404(project.searches.select_related("judge", "criterion"), pk=pk)
    context = {
        "project": project,
        "search": search,
        "progress": progress_of(search),
        "worker_alive": WorkerHeartbeat.objects.doing(RUNS).exists(),
    }
    response = render(request, "assurance/improve_search.html", context)
    if not search.is_open:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@project_action(EDITORS)
def lock_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = LockForm(request.POST)
    if not form.is_valid():
        refuse(request, "Enter a share from 10 to 90 %, and from 1 to 40 looks.")
        return _back(request, project)
    looks = form.cleaned_data["looks"]
    with noticing(request, ValidationError):
        locked = lock_documents(project, by=request.user, share=form.share, looks=looks)
        note_detail(request, f"{locked.share:.0%}, {locked.looks_allowed} looks")
        messages.success(
            request,
            f"About {locked.share:.0%} of the documents are locked, and the same share of"
            " later ones will be. Their ratings are left out everywhere until the last look.",
        )
    return _back(request, project)


@project_action(OWNERS)
def lock_open(request: HttpRequest, project: Project) -> HttpResponse:
    locked = locked_of(project)
    if locked is not None:
        unlock_documents(locked, by=request.user)
        messages.success(request, "The documents are unlocked. Nothing can be proven on them now.")
    return _back(request, project)


@project_action(EDITORS)
def search_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = SearchForm(
        {"most_calls": SearchLimits.most_calls}
        | request.POST.dict()
        | {"changes": request.POST.getlist("changes")},
        project=project,
    )
    target = TargetForm(request.POST, project=project)
    if not form.is_valid() or not target.is_valid():
        refuse(request, "Choose a judge, a criterion and at least one change.")
        return _back(request, project)
    about = target.cleaned_data
    changes = form.cleaned_data["changes"]
    return _doing(
        request,
        project,
        lambda: request_search(
            about["judge"], about["criterion"], changes, by=request.user, limits=form.limits
        ),
    )


@project_action(EDITORS)
def search_pause(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    pause_search(get_object_or_404(project.searches, pk=pk), request.user)
    return _back(request, project)


@project_action(EDITORS)
def search_resume(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    resume_search(get_object_or_404(project.searches, pk=pk))
    return _back(request, project)


@project_action(EDITORS)
def search_cancel(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    cancel_search(get_object_or_404(project.searches, pk=pk), request.user)
    return _back(request, project)


@project_view(READERS)
def look_state(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Polled while locked documents are being judged; the page is reloaded afterwards."""
    finish_looks(project)
    candidate = pending_looks(project).filter(pk=pk).first()
    context = {"project": project, "candidate": candidate}
    response = render(request, "assurance/improve_look.html", context)
    if candidate is None:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@project_action(EDITORS)
def look_create(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    candidate = _candidate(project, pk)

    def take() -> None:
        look = look_on_page(candidate, by=request.user)
        if look is None:
            messages.success(request, "The locked documents are being judged with the new wording.")
            return
        note_detail(request, f"{candidate}: {look.outcome}")
        messages.success(request, f"{candidate.title}: {outcome_in_words(look)}.")

    return _doing(request, project, take)


@project_action(EDITORS)
def candidate_adopt(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    candidate = _candidate(project, pk)

    def use() -> None:
        judge, _run = adopt(candidate)
        messages.success(
            request, f"{judge.label} is a judge now and scores all outputs; the report shows both."
        )

    return _doing(request, project, use)


@project_view(READERS)
def improve_certificate(request: HttpRequest, project: Project) -> HttpResponse:
    """Everything that the claims depend on, as JSON."""
    locked = locked_of(project)
    if locked is None:
        messages.error(request, "No documents are locked, so there is nothing to certify.")
        return _back(request, project)
    response = JsonResponse(certificate(locked), json_dumps_params={"indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-certificate.json"'
    return response


def _candidate(project: Project, pk: int) -> Candidate:
    candidates = Candidate.objects.filter(search__project=project)
    return get_object_or_404(
        candidates.select_related("search__project", "search__judge", "search__criterion"), pk=pk
    )


def _doing(request: HttpRequest, project: Project, act: Callable[[], Any]) -> HttpResponse:
    """Do an action, then redirect with a message if it could not be done."""
    with noticing(request, ImproveError, RunError, ValidationError):
        act()
    return _back(request, project)


def _back(request: HttpRequest, project: Project) -> HttpResponse:
    chosen = {name: request.POST[name] for name in ("judge", "criterion") if request.POST.get(name)}
    address = reverse("evaluations:improve", args=[project.slug])
    return redirect(f"{address}?{urlencode(chosen)}" if chosen else address)
