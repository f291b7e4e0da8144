"""What the API answers about campaigns."""

from datetime import datetime
from typing import Any

from ninja import Field, Schema
from pydantic import ConfigDict
from pydantic.config import JsonDict

from annotations.models import CampaignState, GoalKind
from annotations.planning.named_items import DOC_ID
from geval.files.project_fields import CampaignFields

# A field's default or the stored value: both are sent unchanged.
Number = int | float
# Included in a reply only if not empty.
MAY_BE_MISSING: JsonDict = {"x-may-be-missing": True}


class GoalOut(Schema):
    """A goal, with the ids that it is about; `documents`, `low` and `high` are those with which it
    was reached."""

    kind: GoalKind
    criterion: int
    width: Number | None
    judge: int | None
    rival: int | None
    system: int | None
    other: int | None
    reached_at: datetime | None
    documents: int | None
    low: Number | None
    high: Number | None


class CampaignKey(Schema):
    """Which campaign it is."""

    id: int
    revision: str
    state: CampaignState
    name: str


class ItemsFor(Schema):
    """Items that only an annotator gets, and others who are named for the same: those of documents
    whose `field` ("doc_id" or one of their metadata) is one of the `values`."""

    annotator: str
    field: str = DOC_ID
    values: list[str]


class CampaignOut(CampaignFields, CampaignKey):
    """A campaign's design and goal; `criteria` are ids, `annotators` names of members."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    # What is stored may be longer than what the API takes.
    language: str
    span_categories: list[str]
    span_severities: list[str]
    gold: list[dict[str, Any]]
    annotators: list[str]
    items_for: list[ItemsFor]
    criteria: list[int]
    opened_at: datetime | None
    closed_at: datetime | None
    goal: GoalOut | None


class Campaigns(Schema):
    items: list[CampaignOut]
    next: int | None


class StandingOut(Schema):
    """Where a campaign stands towards its goal; `needed` and `promised` are documents in all."""

    documents: int
    planned: int
    estimate: Number | None
    low: Number | None
    high: Number | None
    needed: int | None
    promised: int | None
    documents_ranked: int = Field(0, json_schema_extra=MAY_BE_MISSING)
    documents_ranked_by_each: list[int] = Field([], json_schema_extra=MAY_BE_MISSING)


class GuidelinesVersionOut(Schema):
    """A version of what annotators read; `by_name` is empty if nobody signed in saved it."""

    number: int
    created_at: datetime
    by_name: str
    texts: dict[str, str]


class CampaignProgressOut(CampaignOut):
    """A campaign with how many items it has, and how many of them are complete."""

    items: int
    complete: int
    standing: StandingOut | None = Field(None, json_schema_extra=MAY_BE_MISSING)
