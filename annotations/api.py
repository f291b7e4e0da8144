"""HTTP API of campaigns: their designs and goals, how far they are, and plans before there is one.

A campaign is checked by the form of its page, so that both refuse the same."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Status

from annotations.errors import AnnotationError
from annotations.forms.campaigns import CampaignForm
from annotations.forms.goal_fields import ASKED
from annotations.forms.plans import PlanForm
from annotations.goals.goals import Standing, standing
from annotations.goals.plans import plan
from annotations.models import (
    Campaign,
    CampaignGoal,
    CampaignKind,
    GoalKind,
    ItemOrder,
    Selection,
)
from annotations.planning.campaigns import close_campaign, open_campaign, seat_annotators
from evaluations.models import Project
from evaluations.reports.downloads.json_values import ranked_json
from evaluations.reports.serving.live import live_data
from evaluations.web.api.auth import project_for
from evaluations.web.api.paging import Page, page_of
from evaluations.web.api.schemas import In

router = Router()
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
# How the form calls what has another name here.
DESIGN = (
    "name", "kind", "selection", "sample_size", "whole_documents", "group_size", "overlap", "order",
    "seed", "lease_minutes", "deadline", "show_systems", "show_others", "show_scores",
    "show_markdown", "strength",
)  # fmt: skip
GOAL = ("kind", "criterion", *ASKED)


class SidesIn(In):
    """What a goal asks for besides its criterion; ids, and a width."""

    width: float | None = None
    judge: Id | None = None
    rival: Id | None = None
    system: Id | None = None
    other: Id | None = None


class GoalIn(SidesIn):
    """`kind` is "width" (a judge's rho is known within ± `width`), "judges" (which of `judge` and
    `rival` is better) or "systems" (which of `system` and `other`); the others are ids."""

    kind: GoalKind
    criterion: Id


class CampaignIn(In):
    """`criteria` are ids, `annotators` names of members; `selection` is the design."""

    name: str = Field(min_length=1, max_length=200)
    kind: CampaignKind = CampaignKind.RATING
    criteria: list[Id] = Field([], max_length=1000)
    annotators: list[str] = Field([], max_length=1000)
    selection: Selection = Selection.ALL
    sample_size: int | None = None
    whole_documents: bool = False
    group_size: int = 3
    overlap: int = 3
    order: ItemOrder = ItemOrder.DOCUMENT
    seed: int = 0
    lease_minutes: float = 60
    deadline: datetime | None = None
    show_systems: bool = False
    show_others: bool = False
    show_scores: bool = False
    show_markdown: bool = False
    strength: bool = False
    goal: GoalIn | None = None


class PlanIn(SidesIn):
    """The fields of a goal, besides the smallest `difference` that matters and the `price` of a
    rating."""

    kind: GoalKind = GoalKind.WIDTH
    criterion: Id | None = None
    difference: float | None = None
    price: Decimal | None = None


@router.get("/campaigns", response=dict[str, Any])
def list_campaigns(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """The project's campaigns with their designs and goals, the newest first, in pages."""
    project = project_for(request, slug, change=True)
    campaigns = project.campaigns.select_related("goal").prefetch_related("criteria")
    return page_of(campaigns, page, campaign_json)


@router.post("/campaigns", response={201: dict[str, Any]})
def make_campaign(request: HttpRequest, slug: Path[str], data: CampaignIn) -> Any:
    """Create a draft; annotators get its items when it is opened."""
    project = project_for(request, slug, change=True)
    form = CampaignForm(_as_form(data, project), instance=Campaign(project=project),
                        project=project)  # fmt: skip
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    with transaction.atomic():
        made = form.save()
        seat_annotators(made, form.cleaned_data["annotators"])
    return Status(201, campaign_json(made))


@router.get("/campaigns/{int:pk}", response=dict[str, Any])
def get_campaign(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """One campaign, how far it is, and where it stands towards its goal."""
    campaign = _campaign(request, slug, pk)
    items, complete = campaign.item_counts()
    found = campaign_json(campaign) | {"items": items, "complete": complete}
    goal = _goal(campaign)
    if goal is not None and items and goal.reached_at is None:
        found["standing"] = _standing_json(standing(goal, live_data(campaign.project)))
    return found


@router.post("/campaigns/{int:pk}/open", response=dict[str, Any])
def open_campaign_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Create the items of a draft and open it; its plan is fixed then."""
    campaign = _campaign(request, slug, pk)
    try:
        open_campaign(campaign)
    except AnnotationError as error:
        raise ValidationError(error.message) from None
    return get_campaign(request, slug, pk)


@router.post("/campaigns/{int:pk}/close", response=dict[str, Any])
def close_campaign_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Close it; submitted answers are kept."""
    close_campaign(_campaign(request, slug, pk))
    return get_campaign(request, slug, pk)


@router.get("/plan", response=dict[str, Any])
def get_plan(request: HttpRequest, slug: Path[str], data: Query[PlanIn]) -> Any:
    """How many documents and ratings a campaign takes, from what is rated so far."""
    project = project_for(request, slug, change=True)
    if data.criterion is None:
        raise ValidationError({"criterion": "Name the criterion by its id."})
    asked = {name: value for name, value in data.dict().items() if value is not None}
    form = PlanForm(asked, project=project)
    if not form.is_valid():
        raise ValidationError(form.errors.as_data())
    found = plan(
        form.aim,
        live_data(project),
        difference=form.difference_that_matters,
        price=form.price_of_a_rating,
    )
    return {
        "documents": found.documents,
        "counting": found.counting,
        "outputs_per_document": found.outputs_per_document,
        "seconds_per_item": found.seconds,
        "difference": found.difference,
        "power": None if found.difference is None else found.power,
        "cheapest": found.cheapest,
        "by_raters": [
            {
                "raters": row.raters,
                "estimate": row.estimate,
                "documents": row.once.likely,
                "promised_documents": row.once.promised,
                "documents_closing_itself": row.looking.likely,
                "promised_documents_closing_itself": row.looking.promised,
                "reason": row.once.reason or None,
                "ratings": row.ratings,
                "hours": row.hours,
                "money": row.money,
            }
            for row in found.rows
        ],
        **({"what_numbers_speak_of": list(found.sample)} if found.sample else {}),
    }


def campaign_json(campaign: Campaign) -> dict[str, Any]:
    """A campaign's design and goal."""
    goal = _goal(campaign)
    return {
        "id": campaign.pk,
        "state": campaign.state,
        **{name: getattr(campaign, name) for name in DESIGN},
        "criteria": [criterion.pk for criterion in campaign.criteria.all()],
        "opened_at": campaign.opened_at,
        "closed_at": campaign.closed_at,
        "goal": None if goal is None else _goal_json(goal),
    }


def _goal_json(goal: CampaignGoal) -> dict[str, Any]:
    asked = {
        name: getattr(goal, name if name in ("kind", "width") else f"{name}_id") for name in GOAL
    }
    reached = ("reached_at", "documents", "low", "high")
    return asked | {name: getattr(goal, name) for name in reached}


def _standing_json(found: Standing) -> dict[str, Any]:
    return {
        "documents": found.documents,
        "planned": found.planned,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "needed": found.needed,
        "promised": found.promised,
        **({} if found.ranked is None else ranked_json(found.ranked)),
    }


def _goal(campaign: Campaign) -> CampaignGoal | None:
    return getattr(campaign, "goal", None)


def _campaign(request: HttpRequest, slug: str, pk: int) -> Campaign:
    project = project_for(request, slug, change=True)
    rows = project.campaigns.select_related("goal__criterion", "goal__judge", "goal__rival")
    return get_object_or_404(rows, pk=min(pk, 2**63 - 1))


def _as_form(data: CampaignIn, project: Project) -> dict[str, Any]:
    """What the page's form would have sent."""
    given = data.dict()
    goal = given.pop("goal") or {}
    members = dict(
        project.memberships.filter(user__username__in=given["annotators"]).values_list(
            "user__username", "user_id"
        )
    )
    if unknown := [name for name in given["annotators"] if name not in members]:
        raise ValidationError({"annotators": f"{unknown[0]} is not a member of this project."})
    form = given | {"annotators": list(members.values())}
    form |= {f"goal_{name}": goal.get(name) for name in GOAL}
    form |= {"check_percent": 0, "practice_items": 0}
    return {name: value for name, value in form.items() if value is not None}
