"""The page that plans a campaign before there is one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotations.models import GoalKind
from evaluations.forms.plans import PlanForm
from evaluations.models import Project
from evaluations.people.access import EDITORS, project_view
from evaluations.reports.live import live_data
from evaluations.reports.plans import other_pilots, plan

QUESTIONS = {
    GoalKind.WIDTH: "How well a judge agrees with people",
    GoalKind.JUDGES: "Which of two judges is better",
    GoalKind.SYSTEMS: "Which of two systems is better",
}


@project_view(EDITORS)
def campaign_plan(request: HttpRequest, project: Project) -> HttpResponse:
    """What a campaign takes, from what is rated in this project."""
    form = PlanForm(request.GET, project=project)
    found = None
    if form.is_valid():
        found = plan(
            form.aim,
            live_data(project),
            difference=form.difference_that_matters,
            price=form.price_of_a_rating,
        )
    context = {
        "project": project,
        "tab": "annotate",
        "form": form,
        "kinds": QUESTIONS,
        "plan": found,
        "aim": form.aim if found else None,
        "others": other_pilots(project, request.user),
    }
    return render(request, "annotations/campaign_plan.html", context)
