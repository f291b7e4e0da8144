"""The page of systems: who wrote the outputs, and of which family of models."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from evaluations.corpus.families import keep_families
from evaluations.models import Project
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.web.forms.projects import JudgeFormSet, SystemFormSet
from geval.reports.report import family_of_judge
from geval.statistics.bias import Family

A_PAGE = 200


@project_view(READERS)
def system_list(request: HttpRequest, project: Project) -> HttpResponse:
    page = Paginator(project.systems.order_by("pk"), A_PAGE).get_page(request.GET.get("page"))
    shown = project.systems.filter(pk__in=[system.pk for system in page]).order_by("pk")
    systems = SystemFormSet(queryset=shown, prefix="system")
    judges = JudgeFormSet(queryset=project.judges.order_by("pk"), prefix="judge")
    return _shown(request, project, systems, judges, page=page)


@require_POST
@project_view(EDITORS)
def system_change(request: HttpRequest, project: Project) -> HttpResponse:
    systems = SystemFormSet(request.POST, queryset=project.systems.all(), prefix="system")
    judges = JudgeFormSet(request.POST, queryset=project.judges.all(), prefix="judge")
    if not (systems.is_valid() and judges.is_valid()):
        return _shown(request, project, systems, judges)
    keep_families(project, systems=systems.save(commit=False), judges=judges.save(commit=False))
    messages.success(request, "Saved. Reports use it from now on.")
    return redirect("evaluations:system_list", project.slug)


def _shown(
    request: HttpRequest, project: Project, systems: Any, judges: Any, page: Any = None
) -> HttpResponse:
    context = {
        "project": project,
        "tab": "data",
        "systems": systems,
        "judges": judges,
        "page": page,
        "system_rows": [
            (form, Family.of(form.instance.family, form.instance.name)) for form in systems
        ],
        "judge_rows": [(form, family_of_judge(form.instance)) for form in judges],
    }
    return render(request, "evaluations/system_list.html", context)
