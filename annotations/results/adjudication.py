"""Items on which annotators differ by more than a set distance, and decisions on them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotations.answering.answers import Answer, Question, Shape, read_answer
from annotations.answering.submission import questions_of
from annotations.errors import AnnotationError
from annotations.models import Campaign, CampaignItem, CampaignKind, Decision
from annotations.planning.campaigns import copy_campaign
from evaluations.models.changes import note_change
from evaluations.models.improving import withheld_documents
from geval.files.answers.checks import winner_of
from geval.files.fields import COMMENT_LIMIT
from geval_site.sql import fetch_rows

# So many of the most disputed items are practice of the next round.
MOST_PRACTICE = 10
# Known answers of these kinds are one for each document.
GROUPS = (CampaignKind.BEST_WORST, CampaignKind.RANKING)
# Annotators' answers to ordinary items as comparable numbers: a row per question that an annotator
# has answered in this campaign (of comparisons per question and pair of outputs), read from the
# answers themselves, because the same person may have answered it in another campaign too. Scores
# are unchanged. Of a pair, above 0 is for the output with the lower id; a ranking has 1, 0 or -1
# for each pair, a best-worst choice only for pairs with the best or the worst. `hidden` holds the
# ids of documents to exclude.
COMPARABLE_ANSWERS = """
    SELECT a.item_id, a.annotator_id, m.criterion_id, NULL::bigint[] AS pair,
        g.value::float8 AS value
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'rating'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'scores') AS g(key, value)
    JOIN annotations_campaign_criteria m
        ON m.campaign_id = c.id AND m.criterion_id = g.key::bigint
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
    UNION ALL
    SELECT a.item_id, a.annotator_id, nullif(g.key, '0')::bigint, ARRAY[x.id, y.id], v.value
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind <> 'rating'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    CROSS JOIN LATERAL jsonb_each(coalesce(
        a.answer -> 'choices', a.answer -> 'ranks', a.answer -> 'best')) AS g(key, value)
    CROSS JOIN LATERAL unnest(a.shown) AS x(id)
    JOIN LATERAL unnest(a.shown) AS y(id) ON x.id < y.id
    CROSS JOIN LATERAL (SELECT (CASE
        WHEN c.kind = 'pairwise'
            THEN g.value::float8 * CASE WHEN a.shown[1] = x.id THEN 1 ELSE -1 END
        WHEN c.kind = 'ranking'
            THEN sign((g.value -> y.id::text)::float8 - (g.value -> x.id::text)::float8)
        WHEN g.value = to_jsonb(x.id) OR a.answer -> 'worst' -> g.key = to_jsonb(y.id) THEN 1
        WHEN g.value = to_jsonb(y.id) OR a.answer -> 'worst' -> g.key = to_jsonb(x.id) THEN -1
        END)::float8) AS v(value)
    LEFT JOIN annotations_campaign_criteria m
        ON m.campaign_id = c.id AND m.criterion_id = g.key::bigint
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted' AND v.value IS NOT NULL
        AND (m.id IS NOT NULL OR (g.key = '0' AND NOT EXISTS (
            SELECT FROM annotations_campaign_criteria WHERE campaign_id = c.id)))"""
# Between numbers; "n/a", a null, is further from every number than any of them, and so is a label
# without an order from every other.
_SPREAD = """CASE WHEN count(value) BETWEEN 1 AND count(*) - 1 THEN 'Infinity'
    WHEN max(value) > min(value) AND EXISTS (
        SELECT FROM evaluations_criterion WHERE id = criterion_id AND NOT is_ordered)
    THEN 'Infinity'
    ELSE max(value) - min(value) END"""
# The largest distance between two answers to an item, over its questions.
_FURTHEST = f"""
    SELECT item_id, max(spread) FROM (
        SELECT item_id, {_SPREAD} AS spread FROM ({COMPARABLE_ANSWERS}) AS given
            GROUP BY item_id, criterion_id, pair) AS by_question
    GROUP BY item_id HAVING max(spread) > %(beyond)s"""

_DISPUTED = f"""
    SELECT coalesce(criterion_id, 0) FROM ({COMPARABLE_ANSWERS}) AS given WHERE item_id = %(item)s
    GROUP BY criterion_id, pair HAVING {_SPREAD} > %(beyond)s"""


@dataclass(frozen=True)
class Disputed:
    """An item to adjudicate: the distance between its annotators, infinite between a number and
    "n/a" and between labels, and whether it is decided."""

    item: CampaignItem
    spread: float
    decided: bool

    @property
    def has_no_distance(self) -> bool:
        return math.isinf(self.spread)


def disputed_items(campaign: Campaign) -> list[Disputed]:
    """Return items above the campaign's distance: undecided ones first, then those furthest apart.

    Of comparisons the distance is the largest over pairs of outputs, on the scale of choices: A
    and B are 2 apart, A and a tie 1. Items whose ratings are withheld are excluded.
    """
    if campaign.adjudicate_beyond is None:
        return []
    selected = fetch_rows(
        _FURTHEST,
        {
            "campaign": campaign.pk,
            "beyond": campaign.adjudicate_beyond,
            "hidden": withheld_documents(campaign.project_id),
        },
    )
    spreads = dict(selected)
    items = (
        CampaignItem.objects.filter(pk__in=spreads)
        .select_related("document")
        .prefetch_related("decisions")
    )
    rows = [Disputed(item, float(spreads[item.pk]), bool(item.decisions.all())) for item in items]
    return sorted(
        rows, key=lambda disputed: (disputed.decided, -disputed.spread, disputed.item.position)
    )


@transaction.atomic
def prepare_round(campaign: Campaign) -> Campaign:
    """Return a draft of the next round, a copy in which the most disputed items that are decided
    are practice, with the decision and its reason.

    Raises:
        AnnotationError: no disputed item is decided.
    """
    furthest = sorted(disputed_items(campaign), key=lambda row: -row.spread)
    by_what = "document" if campaign.kind in GROUPS else "outputs"
    entries: list[dict[str, Any]] = []
    for entry in (_known_answer(row.item) for row in furthest if row.decided):
        if len(entries) < MOST_PRACTICE and entry[by_what] not in [of[by_what] for of in entries]:
            entries.append(entry)
    if not entries:
        raise AnnotationError("Adjudicate disputed items first; they become practice items.")
    draft = copy_campaign(campaign)
    of_these = [entry[by_what] for entry in entries]
    earlier = [entry for entry in campaign.gold if entry[by_what] not in of_these]
    practice = sum(entry in earlier for entry in campaign.gold[: campaign.practice_items])
    draft.gold = [*entries, *earlier]
    draft.practice_items = len(entries) + practice
    draft.save(update_fields=["gold", "practice_items"])
    return draft


def _known_answer(item: CampaignItem) -> dict[str, Any]:
    """Return the newest decision on an item as a known answer."""
    *_earlier, decision = item.decisions.all()
    expected: dict[str, Any] = {"reason": decision.note} if decision.note else {}
    answer = decision.answer
    expected |= {part: answer[part] for part in ("scores", "best", "worst", "ranks")
                 if part in answer}  # fmt: skip
    if choices := answer.get("choices"):
        expected["winners"] = {key: winner_of(choices[key], item.outputs) for key in choices}
    return {"document": item.document_id, "outputs": item.outputs, "expected": expected}


def adjudication_shape(item: CampaignItem, questions: tuple[Question, ...] | None = None) -> Shape:
    """Return the form of a decision, which is that of an answer; outputs are ordered by id."""
    campaign = item.campaign
    return Shape(
        kind=campaign.kind,
        questions=questions_of(campaign) if questions is None else questions,
        shown=tuple(item.outputs),
        strength=campaign.strength,
    )


@transaction.atomic
def decide(item: CampaignItem, fields: Mapping[str, str], *, user: Any, note: str) -> Decision:
    """Store a decision next to the ratings; earlier decisions are kept. Questions on which
    annotators do not differ may be left open.

    Raises:
        AnnotationError: the decision is incomplete or outside the scale.
    """
    disputed = disputed_questions(item)
    asked = tuple(
        question
        for question in questions_of(item.campaign)
        if question.key in disputed or _is_answered(question, fields)
    )
    answer: Answer = read_answer(adjudication_shape(item, asked or None), fields)
    kept = {name: value for name, value in answer.items() if name not in ("comment", "flagged")}
    if item.campaign.kind == CampaignKind.PAIRWISE:
        kept["shown"] = list(item.outputs)
    note_change(item.campaign.project_id, [int(key) for key in kept.get("scores", {})] or [None])
    return Decision.objects.create(
        item=item,
        user=user,
        by_name=user.get_username() if user is not None else "",
        answer=kept,
        note=note.strip()[:COMMENT_LIMIT],
    )


def disputed_questions(item: CampaignItem) -> frozenset[int]:
    """Return the questions of an item (criteria's ids, 0 for overall) on which annotators differ by
    more than the campaign's distance."""
    beyond = item.campaign.adjudicate_beyond
    if beyond is None:
        return frozenset()
    rows = fetch_rows(
        _DISPUTED,
        {"campaign": item.campaign_id, "item": item.pk, "beyond": beyond, "hidden": []},
    )
    return frozenset(key for (key,) in rows)


def _is_answered(question: Question, fields: Mapping[str, str]) -> bool:
    names = {f"{part}-{question.key}" for part in ("score", "na", "choice", "best", "worst")}
    return any(
        value.strip() and (name in names or name.startswith(f"rank-{question.key}-"))
        for name, value in fields.items()
    )
