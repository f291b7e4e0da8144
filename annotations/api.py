"""HTTP API of campaigns: their designs and goals, how far they are, and plans before there is one.

What a campaign has to be is in `planning.drafts`, so that its page and the API refuse the same."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelMultipleChoiceField
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, NinjaAPI, Path, Query, Router, Status

from annotations.answering.answers import fields_of
from annotations.api_shapes import (
    CampaignOut,
    CampaignProgressOut,
    Campaigns,
    GuidelinesVersionOut,
    ItemsFor,
)
from annotations.errors import AnnotationError
from annotations.goals.goals import standing
from annotations.goals.plans import plan_request
from annotations.models import (
    Annotator,
    Assignment,
    Campaign,
    CampaignGoal,
    CampaignState,
    GoalKind,
    GuidelinesVersion,
    NamedItems,
    ReviewAction,
)
from annotations.open_links_api import router as open_links
from annotations.planning.campaigns import close_campaign, open_campaign, seat_annotators
from annotations.planning.drafts import ASKED, Draft, free_name, goal_fields, goal_of
from annotations.planning.known_answers import ids_by_name, known_answers
from annotations.planning.named_items import name_items
from annotations.planning.values import Errors, checked
from annotations.results.progress import campaign_progress
from annotations.results.reviewing import answers_of, review
from evaluations.models import CandidateOutput, Project
from evaluations.models.criteria import with_items_of
from evaluations.models.goals import LACKING
from evaluations.people.audit import note_detail
from evaluations.reports.ratings.answers import answer_records, decision_records
from evaluations.reports.serving.live import live_data
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import LARGEST_ID, In, Page, page_of
from evaluations.web.revisions import Change, editing, revision_of
from geval.files.answers.gold import GoldError, gold_of_rows
from geval.files.answers.pairs import BY_CRITERION, OVERALL, with_ids
from geval.files.project_fields import COLUMNS, LISTS, PLAN, CampaignFields
from geval.measuring.standing import GoalStanding
from geval.reports.campaign_progress import people_records
from geval.reports.campaign_questions import QuestionAgreement
from geval.reports.downloads.json_values import ranked_json, with_interval
from geval.texts.sentences import unknown_field

router = Router()
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
DESIGN = ("name", *COLUMNS)
FIXED = (
    "{} is {}, and its plan is fixed. Copy the campaign on its page, or create one with another"
    " name."
)
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


class ItemsForIn(ItemsFor, In):
    """`annotator` is one of the campaign's `annotators`."""

    values: list[Annotated[str, Field(max_length=1000)]] = Field(min_length=1, max_length=100_000)


class CampaignIn(CampaignFields, In):
    """`criteria` are ids, `annotators` names of members; `selection` is the design."""

    name: str = Field(min_length=1, max_length=200)
    criteria: list[Id] = Field([], max_length=1000)
    annotators: list[str] = Field([], max_length=1000)
    items_for: list[ItemsForIn] = Field([], max_length=1000)
    goal: GoalIn | None = None


class CampaignChange(CampaignIn, Change):
    """What is left out stays as it is. The plan of a campaign that was opened is fixed."""

    name: str = Field("", min_length=1, max_length=200)


class PlanIn(SidesIn):
    """The fields of a goal, besides the smallest `difference` that matters and the `price` of a
    rating."""

    kind: GoalKind = GoalKind.WIDTH
    criterion: Id | None = None
    difference: float | None = None
    price: Decimal | None = None


class ReviewIn(In):
    """`action` is "accepted", "returned" (needs a `reason`, which its annotator reads), "fixed"
    (needs the `answer` that counts, as answers are listed), "rejected" (needs a `reason`),
    "counted" or "handed out"."""

    action: ReviewAction
    reason: str = Field("", max_length=2000)
    answer: dict[str, Any] | None = None


def add_to(api: NinjaAPI) -> None:
    """Add the routes of campaigns and of open links."""
    api.add_router("/projects/{slug}", router, tags=["campaigns"])
    api.add_router("/projects/{slug}", open_links, tags=["open campaigns"])


@router.get("/campaigns", response=Campaigns)
def list_campaigns(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """The project's campaigns with their designs and goals, the newest first, in pages."""
    project = project_for(request, slug, change=True)
    campaigns = project.campaigns.select_related("goal").prefetch_related(
        "criteria", "seats__annotator__user", "named_items__annotator__user"
    )
    return page_of(campaigns, page, campaign_json)


@router.post("/campaigns", response={201: CampaignOut})
def make_campaign(request: HttpRequest, slug: Path[str], data: CampaignIn) -> Any:
    """Create a draft; annotators get its items when it is opened."""
    project = project_for(request, slug, change=True)
    annotators = _members(project, data.annotators)
    draft = _draft_of(data.dict(), Campaign(project=project))
    with transaction.atomic():
        draft.save()
        seat_annotators(draft.campaign, annotators)
        _name_items(draft.campaign, data.dict()["items_for"])
    return Status(201, campaign_json(draft.campaign))


@router.put("/campaigns/{int:pk}", response=CampaignOut)
def edit_campaign(request: HttpRequest, slug: Path[str], pk: int, data: CampaignChange) -> Any:
    """Change a campaign; once it was opened, its plan is fixed."""
    values = data.sent()
    with editing(_campaigns(request, slug), data, campaign_json, pk=pk) as campaign:
        annotators = _members(campaign.project, values.get("annotators", ()))
        if campaign.state == CampaignState.DRAFT:
            _draft_of(values, campaign).save()
        else:
            _change_opened(campaign, values)
            campaign.save()
        if "annotators" in values:
            seat_annotators(campaign, annotators)
        if "items_for" in values:
            _name_items(campaign, values["items_for"])
    return campaign_json(_campaign(request, slug, pk))


@router.get("/campaigns/{int:pk}", response=CampaignProgressOut, exclude_unset=True)
def get_campaign(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """One campaign, how far it is, and where it stands towards its goal."""
    campaign = _campaign(request, slug, pk)
    items, complete, _places = campaign.item_counts()
    content = campaign_json(campaign) | {"items": items, "complete": complete}
    goal = _goal(campaign)
    if goal is not None and items and goal.reached_at is None:
        content["standing"] = _standing_json(standing(goal, live_data(campaign.project)))
    return content


@router.post("/campaigns/{int:pk}/open", response=CampaignProgressOut, exclude_unset=True)
def open_campaign_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Create the items of a draft and open it; its plan is fixed then."""
    campaign = _campaign(request, slug, pk)
    try:
        open_campaign(campaign)
    except AnnotationError as error:
        raise ValidationError(error.message) from None
    return get_campaign(request, slug, pk)


@router.post("/campaigns/{int:pk}/close", response=CampaignProgressOut, exclude_unset=True)
def close_campaign_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Close it; submitted answers are kept."""
    close_campaign(_campaign(request, slug, pk))
    return get_campaign(request, slug, pk)


@router.get("/campaigns/{int:pk}/people", response=dict[str, Any])
def list_people(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """What is said of each annotator, by question: severity with its interval, checks, and why
    somebody's answers need a look; and people's agreement. `people.csv` has the same."""
    progress = campaign_progress(_campaign(request, slug, pk))
    return {
        "agreement": {
            "coefficient": "alpha",
            "measurement": "interval",
            "questions": _agreement_json(progress.agreement),
            "by_guidelines_version": [
                {
                    "version": row.version,
                    "answers": row.answers,
                    "questions": _agreement_json(row.agreement),
                }
                for row in progress.agreement_by_version
            ],
        },
        "people": list(people_records(progress)),
    }


@router.get("/guidelines", response=list[GuidelinesVersionOut])
def list_guidelines(request: HttpRequest, slug: Path[str]) -> Any:
    """The versions of what annotators read, oldest first. `texts` has the project's guidelines
    under "", and those of each criterion (without any, its definition) under its name."""
    return GuidelinesVersion.objects.filter(project=project_for(request, slug, change=True))


@router.get("/campaigns/{int:pk}/answers", response=dict[str, Any])
def list_answers(request: HttpRequest, slug: Path[str], pk: int, page: Query[Page]) -> Any:
    """Every answer of a campaign, whole: comment, flag, skip, time, check, history and reviews, in
    pages. `answer` has the names of criteria and systems."""
    campaign = _campaign(request, slug, pk)
    listed = page_of(answers_of(campaign), page, lambda row: row.pk)
    records = answer_records(campaign.project, answers=listed["items"])
    return listed | {"items": list(records)}


@router.post("/campaigns/{int:pk}/answers/{int:answer}/review", response=dict[str, Any])
def review_answer(
    request: HttpRequest, slug: Path[str], pk: int, answer: int, data: ReviewIn
) -> Any:
    """Accept, fix, return or reject an answer, count it again, or hand its item out again."""
    campaign = _campaign(request, slug, pk)
    assignment = get_object_or_404(answers_of(campaign), pk=answer)
    try:
        fields = _fields(assignment, data.answer) if data.answer else None
        review(assignment.pk, data.action, user=request.user, reason=data.reason, fields=fields)
    except AnnotationError as error:
        raise ValidationError([error.message, *error.fields.values()]) from None
    note_detail(request, ReviewAction(data.action).label.lower())
    return next(answer_records(campaign.project, answers=[assignment.pk]))


@router.get("/campaigns/{int:pk}/decisions", response=list[dict[str, Any]])
def list_decisions(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Adjudicators' decisions, oldest first; the newest about an item counts."""
    campaign = _campaign(request, slug, pk)
    return list(decision_records(campaign.project, campaign=campaign.pk))


@router.get("/plan", response=dict[str, Any])
def get_plan(request: HttpRequest, slug: Path[str], data: Query[PlanIn]) -> Any:
    """How many documents and ratings a campaign takes, from what is rated so far."""
    project = project_for(request, slug, change=True)
    if data.criterion is None:
        raise ValidationError({"criterion": "Name the criterion by its id."})
    planned = plan_request(data.kind, data.dict(), project).plan(live_data(project))
    return {
        "documents": planned.documents,
        "counting": planned.counting,
        "outputs_per_document": planned.outputs_per_document,
        "seconds_per_item": planned.seconds,
        "difference": planned.difference,
        "power": None if planned.difference is None else planned.power,
        "cheapest": planned.cheapest,
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
            for row in planned.rows
        ],
        **({"what_numbers_speak_of": list(planned.sample)} if planned.sample else {}),
    }


def _fields(assignment: Assignment, answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the form of an answer with the names of criteria and systems.

    Raises:
        ValidationError: it names something that its item does not have, or has another form.
    """
    criteria = dict(assignment.campaign.criteria.values_list("name", "pk"))
    outputs = CandidateOutput.objects.filter(pk__in=assignment.shown)
    systems = dict(outputs.values_list("system__name", "pk"))
    try:
        asked = {name for part in BY_CRITERION for name in answer.get(part, {})}
        fields = fields_of(with_ids(dict(answer), criteria, systems) or {})
    except (KeyError, TypeError, AttributeError, ValueError):
        message = "Write the answer as answers are listed, with the names of criteria and systems."
        raise ValidationError({"answer": message}) from None
    if unknown := sorted(asked - criteria.keys() - {OVERALL}):
        raise ValidationError({"answer": unknown_field(unknown[0], list(criteria), "name")})
    return fields


def campaign_json(campaign: Campaign) -> dict[str, Any]:
    """A campaign's design and goal."""
    goal = _goal(campaign)
    people = [seat.annotator.user for seat in campaign.seats.all() if seat.removed_at is None]
    return {
        "id": campaign.pk,
        "revision": revision_of(campaign),
        "state": campaign.state,
        **{name: getattr(campaign, name) for name in (*DESIGN, *LISTS)},
        "gold": known_answers(campaign),
        "annotators": sorted(user.get_username() for user in people if user),
        "items_for": [
            {"annotator": _name(row.annotator), "field": row.field, "values": row.wanted}
            for row in campaign.named_items.all()
        ],
        "criteria": [criterion.pk for criterion in campaign.criteria.all()],
        "opened_at": campaign.opened_at,
        "closed_at": campaign.closed_at,
        "goal": None if goal is None else _goal_json(goal),
    }


def _agreement_json(agreement: Sequence[QuestionAgreement]) -> dict[str, Any]:
    return {
        row.question: with_interval(row.alpha, row.interval) | {"items": row.items}
        for row in agreement
    }


def _goal_json(goal: CampaignGoal) -> dict[str, Any]:
    return {
        name: goal.serializable_value(name)
        for name in (*GOAL, "reached_at", "documents", "low", "high")
    }


def _standing_json(standing: GoalStanding) -> dict[str, Any]:
    return {
        "documents": standing.documents,
        "planned": standing.planned,
        "estimate": standing.estimate,
        "low": standing.low,
        "high": standing.high,
        "needed": standing.needed,
        "promised": standing.promised,
        **({} if standing.ranked is None else ranked_json(standing.ranked)),
    }


def _goal(campaign: Campaign) -> CampaignGoal | None:
    return getattr(campaign, "goal", None)


def _campaign(request: HttpRequest, slug: str, pk: int) -> Campaign:
    return get_object_or_404(_campaigns(request, slug), pk=pk)


def _campaigns(request: HttpRequest, slug: str) -> QuerySet[Campaign]:
    project = project_for(request, slug, change=True)
    return project.campaigns.select_related("goal__criterion", "goal__judge", "goal__rival")


def _wanted_goal(
    values: Mapping[str, Any], campaign: Campaign, errors: Errors
) -> CampaignGoal | None:
    """Return the goal that a request asks for, or the campaign's own if the request does not
    mention one."""
    if "goal" not in values:
        return _goal(campaign)
    wanted = values["goal"]
    if not wanted:
        return None
    fields = goal_fields(campaign.project)
    sides = {
        name: checked(errors, f"goal_{name}", wanted.get(name), fields[name].clean)
        for name in ("criterion", *ASKED)
    }
    return goal_of(wanted["kind"], sides)


def _set_columns(campaign: Campaign, values: Mapping[str, Any], errors: Errors) -> None:
    for name in [name for name in DESIGN if name in values]:
        column: Any = Campaign._meta.get_field(name)
        further = [partial(free_name, campaign)] if name == "name" else []
        value = checked(errors, name, values[name], column.formfield().clean, *further)
        if name not in errors:
            setattr(campaign, name, value)
    for name in LISTS:
        setattr(campaign, name, values.get(name, getattr(campaign, name)))


def _draft_of(values: Mapping[str, Any], campaign: Campaign) -> Draft:
    """Return the draft that a request asks for, unsaved. For an existing campaign, values that the
    request leaves out stay.

    Raises:
        ValidationError: by field; those of the goal begin with "goal_".
    """
    project = campaign.project
    errors: defaultdict[str, list[str]] = defaultdict(list)
    _set_columns(campaign, values, errors)
    several = ModelMultipleChoiceField(project.criteria.all(), required=False)
    criteria = list(campaign.criteria.all()) if campaign.pk else []
    if "criteria" in values:
        chosen = checked(errors, "criteria", values["criteria"], several.clean) or ()
        criteria = with_items_of(chosen)
    goal = _wanted_goal(values, campaign, errors)
    if "gold" in values and "kind" not in errors:
        try:
            campaign.gold = gold_of_rows(
                values["gold"], campaign.kind, criteria, partial(ids_by_name, project)
            )
        except GoldError as error:
            errors["gold"].append(str(error))
    draft = Draft(campaign, criteria, goal)
    for name, message in draft.problems():
        if message != LACKING or name not in errors:
            errors[name].append(message)
    for name in DESIGN:
        if name in values and name not in errors:
            column: Any = Campaign._meta.get_field(name)
            clean = partial(column.clean, model_instance=campaign)
            checked(errors, name, getattr(campaign, name), clean)
    if errors:
        raise ValidationError(dict(errors))
    return draft


def _change_opened(campaign: Campaign, values: Mapping[str, Any]) -> None:
    """Set other values of an opened campaign, unsaved, as long as they do not change its plan.

    Raises:
        ValidationError: a value is wrong, or it would change the plan.
    """
    criteria, goal = list(campaign.criteria.all()), _goal(campaign)
    wanted = {name: values[name] for name in PLAN if name in values}
    now: dict[str, Any] = {name: getattr(campaign, name) for name in wanted}
    if "criteria" in values:
        wanted["criteria"] = set(values["criteria"])
        now["criteria"] = {criterion.pk for criterion in criteria}
    if "goal" in values:
        wanted["goal"] = values["goal"] and {name: values["goal"].get(name) for name in GOAL}
        now["goal"] = goal and {name: goal.serializable_value(name) for name in GOAL}
    if "gold" in values:
        wanted["gold"], now["gold"] = values["gold"], known_answers(campaign)
    if changed := [name for name in wanted if wanted[name] != now[name]]:
        message = FIXED.format(campaign.name, campaign.get_state_display().lower())
        raise ValidationError(dict.fromkeys(changed, message))
    errors: Errors = {}
    _set_columns(campaign, {name: values[name] for name in values if name not in PLAN}, errors)
    if errors:
        raise ValidationError(errors)


def _members(project: Project, names: Sequence[str]) -> list[Any]:
    """
    Raises:
        ValidationError: one of them is not a member of the project.
    """
    members = project.memberships.filter(user__username__in=names).select_related("user")
    users = {member.user.get_username(): member.user for member in members}
    if unknown := [name for name in names if name not in users]:
        raise ValidationError({"annotators": f"{unknown[0]} is not a member of this project."})
    return list(users.values())


def _name(annotator: Annotator) -> str:
    return annotator.user.get_username() if annotator.user else annotator.name


def _name_items(campaign: Campaign, wanted: Sequence[Mapping[str, Any]]) -> None:
    """
    Raises:
        ValidationError: by `name_items`, or an annotator is none of the campaign.
    """
    seats = campaign.seats.filter(removed_at=None).select_related("annotator__user")
    people = {_name(seat.annotator): seat.annotator for seat in seats}
    if unknown := [row["annotator"] for row in wanted if row["annotator"] not in people]:
        message = unknown_field(unknown[0], sorted(people), "annotator")
        raise ValidationError({"items_for": message})
    rows = [
        NamedItems(
            campaign=campaign, annotator=people[row["annotator"]], field=row["field"],
            wanted=row["values"],
        )
        for row in wanted
    ]  # fmt: skip
    try:
        name_items(campaign, rows)
    except AnnotationError as error:
        raise ValidationError({"items_for": error.message}) from None
