"""Criteria and judges of a project."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from evaluations.access import EDITORS, READERS, project_view
from evaluations.forms import JudgeForm
from evaluations.judging.judges import create_judge
from evaluations.models import Project


@project_view(READERS)
def criterion_list(request: HttpRequest, project: Project) -> HttpResponse:
    criteria = project.criteria.prefetch_related("steps")
    return render(
        request,
        "evaluations/criterion_list.html",
        {"project": project, "tab": "criteria", "criteria": criteria},
    )


@project_view(READERS)
def judge_list(request: HttpRequest, project: Project) -> HttpResponse:
    judges = project.judges.select_related("endpoint")
    return render(request, "evaluations/judge_list.html", {"project": project, "tab": "judges", "judges": judges})


@project_view(EDITORS)
def judge_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = JudgeForm(request.POST or None)
    if form.is_valid():
        try:
            judge, made = create_judge(project, form.draft())
        except ValidationError as error:
            form.take_errors(error)
        else:
            messages.success(request, f"{judge.name} is {'made' if made else 'there already'}; start a run with it.")
            return redirect("evaluations:run_list", project.slug)
    return render(request, "evaluations/judge_create.html", {"project": project, "tab": "judges", "form": form})
