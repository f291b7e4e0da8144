"""Annotators who answer no better than chance, or copy, while a campaign runs."""

import threading
from collections import defaultdict

import numpy as np
import orjson
from cachetools import TTLCache, cached
from cachetools.keys import hashkey
from django.db import connection

from annotations.models import Campaign
from geval.files.answers.numbers import as_array
from geval.reports.campaign_progress import Suspicion
from geval.statistics.chance_raters import against_chance, copies

# A page that refreshes itself polls every two seconds.
SECONDS = 20
# Bounds the memory of a process; of more campaigns at once some are computed again.
MOST_CAMPAIGNS = 200
# Only the newest answers show how a person works now.
MOST_ANSWERS = 20_000
_ANSWERS = """
    SELECT a.item_id, a.annotator_id, a.answer::text, a.shown FROM annotations_assignment a
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%s)
    WHERE a.campaign_id = %s AND a.state = 'submitted' ORDER BY a.id DESC LIMIT %s"""


@cached(
    TTLCache(MOST_CAMPAIGNS, SECONDS),
    key=lambda campaign, hidden: hashkey(campaign.pk, tuple(hidden)),
    lock=threading.Lock(),
)
def suspicions(campaign: Campaign, hidden: list[int]) -> dict[int, Suspicion]:
    """Return suspicions by annotator, cached for a few seconds.

    Args:
        hidden: ids of documents to exclude.
    """
    return find_suspicions(campaign, hidden)


def find_suspicions(campaign: Campaign, hidden: list[int]) -> dict[int, Suspicion]:
    """Return suspicions computed from the current answers."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, [hidden, campaign.pk, MOST_ANSWERS])
        rows = cursor.fetchall()
    # In one order, as the permutations that are drawn depend on it.
    annotators = sorted({row[1] for row in rows})
    if len(annotators) < 2:
        return {}
    given = [(item, who, orjson.loads(answer), shown) for item, who, answer, shown in rows]
    answers = as_array(given, annotators)
    shared: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for copy in copies(answers):
        first, second = annotators[copy.first], annotators[copy.second]
        shared[first].append((second, copy.same, copy.items))
        shared[second].append((first, copy.same, copy.items))
    # A fixed seed, so that the same answers give the same result.
    tests = against_chance(answers, np.random.default_rng(campaign.seed))
    return {
        annotator: Suspicion(test, tuple(shared[annotator]))
        for annotator, test in zip(annotators, tests, strict=True)
    }
