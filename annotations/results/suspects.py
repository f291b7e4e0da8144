"""Annotators who answer no better than chance or copy, while a campaign runs."""

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from cachetools import TTLCache, cached
from cachetools.keys import hashkey
from django.db import connection

from annotations.models import Campaign
from annotations.models.answer_pairs import preference_pairs
from geval.statistics.chance_raters import AgainstChance, against_chance, copies
from geval.statistics.types import FloatArray

# A page that refreshes itself asks every two seconds.
SECONDS = 20
MOST_CAMPAIGNS = 200
# The newest answers tell how somebody works now.
MOST_ANSWERS = 20_000
_ANSWERS = """
    SELECT a.item_id, a.annotator_id, a.answer::text, a.shown FROM annotations_assignment a
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%s)
    WHERE a.campaign_id = %s AND a.state = 'submitted' ORDER BY a.id DESC LIMIT %s"""


@dataclass(frozen=True)
class Suspicion:
    """What is found about an annotator: against chance, and whose answers they share."""

    chance: AgainstChance
    same_as: tuple[tuple[int, int, int], ...] = ()


@cached(
    TTLCache(MOST_CAMPAIGNS, SECONDS),
    key=lambda campaign, hidden: hashkey(campaign.pk, tuple(hidden)),
    lock=threading.Lock(),
)
def suspicions(campaign: Campaign, hidden: list[int]) -> dict[int, Suspicion]:
    """By annotator.

    Args:
        hidden: ids of documents that are left out.
    """
    return find_suspicions(campaign, hidden)


def find_suspicions(campaign: Campaign, hidden: list[int]) -> dict[int, Suspicion]:
    """The same, from the answers as they are now."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, [hidden, campaign.pk, MOST_ANSWERS])
        rows = cursor.fetchall()
    annotators = sorted({row[1] for row in rows})
    if len(annotators) < 2:
        return {}
    answers = _as_array(rows, annotators)
    shared: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for copy in copies(answers):
        first, second = annotators[copy.first], annotators[copy.second]
        shared[first].append((second, copy.same, copy.items))
        shared[second].append((first, copy.same, copy.items))
    # The same answers give the same result each time.
    tests = against_chance(answers, np.random.default_rng(campaign.seed))
    return {
        annotator: Suspicion(test, tuple(shared[annotator]))
        for annotator, test in zip(annotators, tests, strict=True)
    }


def _as_array(rows: list[tuple[int, int, str, list[int]]], annotators: list[int]) -> FloatArray:
    """Shape (annotators, items, questions), NaN where nothing was given."""
    items = {pk: at for at, pk in enumerate(dict.fromkeys(item for item, *_ in rows))}
    place = {pk: at for at, pk in enumerate(annotators)}
    numbers = [
        (place[who], items[item], values(orjson.loads(answer), shown))
        for item, who, answer, shown in rows
    ]
    columns: dict[str, int] = {}
    for _, _, given in numbers:
        for name in given:
            columns.setdefault(name, len(columns))
    array = np.full((len(annotators), len(items), max(1, len(columns))), np.nan)
    for who, item, given in numbers:
        for name, value in given.items():
            array[who, item, columns[name]] = value
    return array


def values(answer: dict[str, Any], shown: Sequence[int]) -> dict[str, float]:
    """An answer as numbers that can be compared with another one's to the same item: a score for
    each question; of comparisons each pair of outputs, in the order of their ids."""
    numbers = {key: float(score) for key, score in answer.get("scores", {}).items()}
    at = {pk: place for place, pk in enumerate(sorted(shown))}
    for pair in preference_pairs(answer, shown):
        name = f"{pair.criterion} {at[pair.output_a]} {at[pair.output_b]}"
        numbers[name] = float(pair.value)
    return numbers
