"""The page of a judge's policies: ask for a promise, read the answer, use it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotations.errors import AnnotationError
from assurance.keeping.page import policy_page, usual_promise
from assurance.keeping.proofs import ask_policy
from assurance.keeping.using import stop_policy, use_policy
from assurance.keeping.weeks import policy_in_use
from assurance.web.forms import PolicyForm
from evaluations.models import Criterion, Judge, Policy, Project
from evaluations.people.access import EDITORS, READERS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.reports.by_field import fields_of
from evaluations.reports.serving.live import is_large, too_large_for_page
from evaluations.web.notices import noticing, refuse
from evaluations.web.parameters import reads
from geval.improving.ground import ImproveError
from geval.improving.promises import PolicyError

COMMAND = "policy FILE… --promise PROMISE"


@reads("criterion", "policy")
@project_view(READERS)
def judge_policy(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge, project=project, pk=pk)
    return render(request, "assurance/judge_policy.html", _context(request, judge))


def _criteria(project: Project) -> list[Criterion]:
    """Return the criteria on which something can be promised."""
    return [each for each in project.criteria.without_rubrics() if each.is_ordered]


def _context(request: HttpRequest, judge: Judge, form: PolicyForm | None = None) -> dict[str, Any]:
    criteria = _criteria(judge.project)
    named = request.GET.get("criterion", "")
    first = judge.policies.values_list("criterion", flat=True).first()
    by_pk = {str(each.pk): each for each in criteria}
    chosen = by_pk.get(named) or by_pk.get(str(first)) or next(iter(criteria), None)
    context: dict[str, Any] = {"project": judge.project, "tab": "judges", "judge": judge}
    if chosen is None:
        return context
    page = policy_page(judge, chosen, request.GET.get("policy", ""))
    has_weeks = page.in_use is not None and not is_large(judge.project)
    return context | {
        "page": page,
        "use": policy_in_use(page.in_use.policy) if page.in_use and has_weeks else None,
        "form": form
        or PolicyForm(
            initial={"criterion": chosen, "promise": usual_promise(chosen)},
            criteria=criteria,
            fields=fields_of(judge.project),
        ),
        "too_large": too_large_for_page(judge.project, COMMAND),
    }


@project_action(EDITORS)
def judge_policy_ask(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Ask for a promise; where documents are locked, that is a look."""
    judge = get_object_or_404(Judge, project=project, pk=pk)
    form = PolicyForm(request.POST, criteria=_criteria(project), fields=fields_of(project))
    if not form.is_valid():
        context = _context(request, judge, form)
        return render(request, "assurance/judge_policy.html", context, status=422)
    about = form.cleaned_data
    if problem := too_large_for_page(project, COMMAND):
        refuse(request, problem)
    else:
        with noticing(request, ImproveError, PolicyError):
            asked = ask_policy(
                judge, about["criterion"], form.asked, field=about["field"], by=request.user
            )
            note_detail(request, str(asked))
            return redirect(f"{asked.get_absolute_url()}&policy={asked.pk}")
    address = reverse("evaluations:judge_policy", args=[project.slug, judge.pk])
    return redirect(f"{address}?criterion={about['criterion'].pk}")


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
