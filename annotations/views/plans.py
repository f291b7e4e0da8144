"""The page that plans a campaign before there is one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from annotations.models import CampaignGoal, GoalKind
from evaluations.forms.campaign_goals import GOAL
from evaluations.forms.plans import PlanForm
from evaluations.models import Project
from evaluations.people.access import EDITORS, project_view
from evaluations.reports.live import live_data
from evaluations.reports.plans import Plan, other_pilots, plan

QUESTIONS = {
    GoalKind.WIDTH: "How well a judge agrees with people",
    GoalKind.JUDGES: "Which of two judges is better",
    GoalKind.SYSTEMS: "Which of two systems is better",
}
# Promises planned from fewer documents ask for more than are needed (docs/method.md).
ENOUGH_DOCUMENTS = 60


@project_view(EDITORS)
def campaign_plan(request: HttpRequest, project: Project) -> HttpResponse:
    """What a campaign takes, from what is rated in this project."""
    form = PlanForm(request.GET, project=project)
    context = {
        "project": project,
        "tab": "annotate",
        "form": form,
        "kinds": QUESTIONS,
        "others": other_pilots(project, request.user),
        "lacks_judge": not project.judges.exists(),
    }
    if form.is_valid():
        found = plan(
            form.aim,
            live_data(project),
            difference=form.difference_that_matters,
            price=form.price_of_a_rating,
        )
        context |= {"plan": found, "aim": form.aim} | _advice(found, form, project)
    return render(request, "annotations/campaign_plan.html", context)


def _advice(found: Plan, form: PlanForm, project: Project) -> dict[str, object]:
    """The row with the fewest ratings, what is lacking for it, and links to the campaigns that it
    makes: of this size, or one that closes itself."""
    best = next((row for row in found.rows if row.raters == found.cheapest), None)
    documents = project.documents.count()
    wanted = 0 if best is None else best.once.promised or 0
    raters = 1 if best is None else best.raters
    basics = {"criteria": form.aim.criterion_id, "overlap": raters}
    return {
        "best": best,
        "loaded": documents,
        "lacking": max(0, wanted - documents),
        "size": f"{round(abs(found.difference or 0.0), 3) or 0.001:g}",
        "is_small": found.documents < ENOUGH_DOCUMENTS,
        "is_own_difference": form.difference_that_matters is None,
        "of_this_size": urlencode(basics),
        "with_this_goal": urlencode(basics | _goal(form.aim)),
    }


def _goal(aim: CampaignGoal) -> dict[str, Any]:
    """The fields of a new campaign's form that ask for the same."""
    goal = {name: getattr(aim, name.removeprefix("goal_")) for name in GOAL}
    return {name: getattr(value, "pk", value) for name, value in goal.items() if value is not None}
