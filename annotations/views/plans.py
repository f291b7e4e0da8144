"""The page that plans a campaign before it is created."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from annotations.forms.plans import GOAL_FIELDS, PlanForm
from annotations.goals.plans import PlanRequest, other_pilots
from annotations.models import CampaignGoal, GoalKind
from evaluations.models import Judge, Project
from evaluations.people.access import EDITORS, project_view
from evaluations.reports.serving.live import live_data
from evaluations.web.parameters import ANY, reads
from geval.measuring.plans import Plan
from geval.statistics.thresholds import PROMISE_DOCUMENTS

QUESTIONS = {
    GoalKind.WIDTH: "How well a judge agrees with people",
    GoalKind.JUDGES: "Which of two judges is better",
    GoalKind.SYSTEMS: "Which of two systems is better",
}


@reads(ANY)
@project_view(EDITORS)
def campaign_plan(request: HttpRequest, project: Project) -> HttpResponse:
    """Plan a campaign from the ratings in this project or in another project of the user."""
    others = other_pilots(project, request.user)
    pilot = next((other for other in others if other.slug == request.GET.get("pilot")), project)
    form = PlanForm(request.GET, project=pilot)
    context = {
        "project": project,
        "pilot": pilot,
        "tab": "annotate",
        "form": form,
        "kinds": QUESTIONS,
        "others": others,
        "lacks_judge": not pilot.judges.exists(),
    }
    if form.is_valid():
        planned = form.asked.plan(live_data(pilot))
        context |= {"plan": planned, "aim": form.aim} | _advice(planned, form.asked, project)
        context["is_enough"] = planned.has_enough and pilot == project
    return render(request, "annotations/campaign_plan.html", context)


def _advice(plan: Plan, asked: PlanRequest, project: Project) -> dict[str, object]:
    """Return the row with the fewest ratings, what this project lacks for it, and links that create
    such a campaign: of this size, or one that closes itself."""
    best = next((row for row in plan.rows if row.raters == plan.cheapest), None)
    documents = project.documents.count()
    wanted = 0 if best is None else best.once.promised or 0
    raters = 1 if best is None else best.raters
    goal = _goal(asked.aim, project)
    criterion = goal.get("goal_criterion")
    basics: dict[str, Any] = {"overlap": raters} | ({"criteria": criterion} if criterion else {})
    return {
        "best": best,
        "loaded": documents,
        "lacking": max(0, wanted - documents),
        "size": f"{round(abs(plan.difference or 0.0), 3) or 0.001:g}",
        "is_small": plan.documents < PROMISE_DOCUMENTS,
        "is_own_difference": asked.difference is None,
        "of_this_size": urlencode(basics),
        "with_this_goal": urlencode(basics | goal),
        # Records that the plan names and this project does not have.
        "not_here": [
            str(side)
            for side in (asked.aim.criterion, *asked.aim.sides)
            if _here(side, project) is None
        ],
    }


def _goal(aim: CampaignGoal, project: Project) -> dict[str, Any]:
    """Return initial values for a new campaign's form in a project, with the same goal as far as
    the project has the records that it names."""
    goal = {name: getattr(aim, name.removeprefix("goal_")) for name in GOAL_FIELDS}
    fields = {
        name: _here(value, project) if isinstance(value, Model) else value
        for name, value in goal.items()
    }
    return {
        name: getattr(value, "pk", value) for name, value in fields.items() if value is not None
    }


def _here(record: Any, project: Project) -> Model | None:
    """Return a criterion, judge or system itself, or the one with its name in this project; None if
    there is none."""
    if record.project_id == project.pk:
        return record  # type: ignore[no-any-return]
    namesakes = type(record)._default_manager.filter(project=project, name=record.name)
    if isinstance(record, Judge):
        namesakes = namesakes.filter(retired_at=None)
    namesake: Model | None = namesakes.order_by("pk").last()
    return namesake
