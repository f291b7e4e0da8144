"""The page of a judge's policies: ask for a promise, read the answer, use it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from annotations.errors import AnnotationError
from assurance.keeping.page import criteria_of, policy_page, promises_on, second_judges
from assurance.keeping.proofs import ask_policy, request_policy
from assurance.keeping.using import stop_policy, use_policy
from assurance.keeping.weeks import policy_in_use
from assurance.web.forms import PolicyForm
from evaluations.models import Criterion, Judge, Policy, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.reports.by_field import fields_of
from evaluations.reports.serving.live import is_large
from evaluations.web.notices import noticing, refuse
from evaluations.web.parameters import reads
from geval.improving.ground import ImproveError
from geval.improving.promises import PolicyError


@reads("criterion", "policy")
@project_view(READERS)
def judge_policy(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge, project=project, pk=pk)
    return render(request, "assurance/judge_policy.html", _context(request, judge))


def _chosen(judge: Judge, criteria: list[Criterion], named: str) -> Criterion | None:
    first = judge.policies.values_list("criterion", flat=True).first()
    by_pk = {str(each.pk): each for each in criteria}
    if named and named not in by_pk:
        raise Http404(f"{judge.label} has no scores on this criterion.")
    return by_pk.get(named) or by_pk.get(str(first)) or next(iter(criteria), None)


def _context(
    request: HttpRequest,
    judge: Judge,
    form: PolicyForm | None = None,
    criterion: Criterion | None = None,
) -> dict[str, Any]:
    """Return what the page shows; beneath a refused question no older answer."""
    criteria = criteria_of(judge)
    chosen = criterion or _chosen(judge, criteria, request.GET.get("criterion", ""))
    context: dict[str, Any] = {"project": judge.project, "tab": "judges", "judge": judge}
    if chosen is None:
        return context
    named = request.GET.get("policy", "")
    page = policy_page(judge, chosen, named)
    if named and (page.shown is None or str(page.shown.policy.pk) != named):
        raise Http404(f"There is no such answer about {chosen}.")
    return context | {
        "page": page,
        "criteria": criteria,
        "answer": None if form else page.shown,
        "use": policy_in_use(page.in_use.policy) if page.in_use else None,
        "form": form or _form(judge, chosen),
    }


def _form(judge: Judge, criterion: Criterion, answers: QueryDict | None = None) -> PolicyForm:
    promises = promises_on(criterion)
    return PolicyForm(
        answers,
        initial={"promise": promises[-1]},
        promises=promises,
        fields=fields_of(judge.project),
        others=second_judges(judge, criterion),
    )


@project_action(EDITORS)
def judge_policy_ask(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Ask for a promise; where documents are locked, that is a look."""
    judge = get_object_or_404(Judge, project=project, pk=pk)
    named = request.POST.get("criterion", "")
    criterion = next((each for each in criteria_of(judge) if str(each.pk) == named), None)
    if criterion is None:
        refuse(request, f"{judge.label} has no scores on this criterion. Choose another.")
        return redirect("evaluations:judge_policy", project.slug, judge.pk)
    form = _form(judge, criterion, request.POST)
    if form.is_valid():
        ask = request_policy if is_large(project) else ask_policy
        try:
            names = {name: form.cleaned_data[name] for name in ("second", "field")}
            asked = ask(judge, criterion, form.asked, **names, by=request.user)
        except (ImproveError, PolicyError) as error:
            form.add_error(None, str(error))
        else:
            note_detail(request, str(asked))
            chosen = "" if ask is request_policy else f"&policy={asked.pk}"
            return redirect(f"{asked.get_absolute_url()}{chosen}")
    context = _context(request, judge, form, criterion)
    return render(request, "assurance/judge_policy.html", context, status=422)


@project_action(EDITORS)
def policy_use(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    policy = _policy(project, pk)
    with noticing(request, ImproveError, AnnotationError):
        use_policy(policy, by=request.user)
        note_detail(request, str(policy))
        messages.success(
            request,
            "In use: outputs that come from now on are kept, or sent to the new campaign.",
        )
    return redirect(policy)


@project_action(EDITORS)
def policy_stop(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    policy = _policy(project, pk)
    if policy.is_in_use:
        stop_policy(policy)
        messages.success(request, "The policy is not used any more; its campaign is closed.")
    return redirect(policy)


def _policy(project: Project, pk: int) -> Policy:
    rows = project.policies.select_related("judge__project", "criterion", "project")
    return get_object_or_404(rows, pk=pk)
