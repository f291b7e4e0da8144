"""Items on which annotators differ by more than a set distance, and decisions on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from annotations.answering.answers import Answer, Shape, read_answer
from annotations.answering.submission import questions_of
from annotations.models import Campaign, CampaignItem, CampaignKind, Decision
from annotations.results.comparable_values import COMPARABLE
from evaluations.models.improving import withheld_documents

# The largest distance between two answers to an item, over its questions.
_FURTHEST = f"""
    SELECT item_id, max(spread) FROM (
        SELECT item_id, max(value) - min(value) AS spread FROM ({COMPARABLE}) AS given
            GROUP BY item_id, criterion_id) AS by_question
    GROUP BY item_id HAVING max(spread) > %(beyond)s"""


@dataclass(frozen=True)
class Disputed:
    """An item to adjudicate: the distance between its annotators, and whether it is decided."""

    item: CampaignItem
    spread: float
    decided: bool


def disputed_items(campaign: Campaign) -> list[Disputed]:
    """Items above the campaign's distance: undecided ones first, then those furthest apart.

    For pairs the distance is on the scale of choices: A and B are 2 apart, A and a tie 1. Items
    whose ratings are withheld are left out.
    """
    if campaign.adjudicate_beyond is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            _FURTHEST,
            {
                "campaign": campaign.pk,
                "beyond": campaign.adjudicate_beyond,
                "hidden": withheld_documents(campaign.project_id),
            },
        )
        spreads = dict(cursor.fetchall())
    items = (
        CampaignItem.objects.filter(pk__in=spreads)
        .select_related("document")
        .prefetch_related("decisions")
    )
    found = [Disputed(item, float(spreads[item.pk]), bool(item.decisions.all())) for item in items]
    return sorted(
        found, key=lambda disputed: (disputed.decided, -disputed.spread, disputed.item.position)
    )


def adjudication_shape(item: CampaignItem) -> Shape:
    """A decision has the form of an answer; outputs are in the order of their ids."""
    campaign = item.campaign
    return Shape(
        kind=campaign.kind,
        questions=questions_of(campaign),
        shown=tuple(item.outputs),
        strength=campaign.strength,
    )


@transaction.atomic
def decide(item: CampaignItem, fields: Mapping[str, str], *, user: Any, note: str) -> Decision:
    """Store a decision next to the ratings; earlier decisions are kept.

    Raises:
        AnnotationError: the decision is incomplete or outside the scale.
    """
    answer: Answer = read_answer(adjudication_shape(item), fields)
    kept = {name: value for name, value in answer.items() if name not in ("comment", "flagged")}
    if item.campaign.kind == CampaignKind.PAIRWISE:
        kept["shown"] = list(item.outputs)
    return Decision.objects.create(item=item, user=user, answer=kept, note=note.strip()[:10_000])
