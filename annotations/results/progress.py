"""A campaign's progress: how much is done, how fast, how well, and suspicious answers."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import orjson
from django.db import connection

from annotations.models import Campaign, ItemKind
from annotations.results.adjudication import COMPARABLE_ANSWERS
from evaluations.models.improving import withheld_documents
from evaluations.models.seldom import read_seldom
from geval.files.answers.pairs import Answer, answer_values
from geval.reports.campaign_progress import (
    AnnotatorProgress,
    CampaignProgress,
    OwnProgress,
    QuestionAgreement,
    Suspicion,
    annotators_progress,
)
from geval.statistics.chance_raters import against_chance, copies
from geval.statistics.types import FloatArray

# How long suspicions are cached: a page that refreshes itself polls every two seconds.
CACHE_SECONDS = 20
# Only the newest answers show how a person works now.
MOST_ANSWERS = 20_000
_ANSWERS = """
    SELECT a.item_id, a.annotator_id, a.answer::text, a.shown FROM annotations_assignment a
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%s)
    WHERE a.campaign_id = %s AND a.state = 'submitted' ORDER BY a.id DESC LIMIT %s"""


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    """Return all figures of a campaign, from its assignments, in three queries."""
    items, complete = campaign.item_counts()
    hidden = withheld_documents(campaign.project_id)
    annotators = _annotators(campaign, hidden)
    submitted, reserved, per_hour = _totals(campaign)
    return CampaignProgress(
        items=items,
        places=items * campaign.overlap,
        submitted=submitted,
        complete=complete,
        reserved=reserved,
        per_hour=per_hour,
        annotators=annotators,
        withheld=len(hidden),
        skipped=sum(annotator.skipped for annotator in annotators),
        agreement=_agreement(campaign, hidden),
    )


def _agreement(campaign: Campaign, hidden: list[int]) -> tuple[QuestionAgreement, ...]:
    """Return agreement by question, from the first overlap on. With an item's n values of sum s and
    sum of squares q, alpha is 1 - observed / expected with observed = sum of 2 (n q - s^2) / (n -
    1), over N values together (interval metric)."""
    with connection.cursor() as cursor:
        cursor.execute(_AGREEMENT, {"campaign": campaign.pk, "hidden": hidden})
        return tuple(QuestionAgreement(*row) for row in cursor.fetchall())


def own_progress(campaign: Campaign, annotator_id: int) -> OwnProgress:
    items, _ = campaign.item_counts()
    submitted, _, _ = _totals(campaign)
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*) FILTER (WHERE state = 'submitted'),
                      count(*) FILTER (WHERE state = 'submitted'
                          AND submitted_at > date_trunc('day', now())),
                      count(*) FILTER (WHERE state = 'skipped'),
                      percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
                          FILTER (WHERE state = 'submitted')
               FROM annotations_assignment WHERE campaign_id = %s AND annotator_id = %s""",
            [campaign.pk, annotator_id],
        )
        answered, today, skipped, seconds = cursor.fetchone()
    share = submitted / (items * campaign.overlap) if items else 0.0
    return OwnProgress(
        answered, today, skipped, seconds, 3600 / seconds if seconds else None, share
    )


def _totals(campaign: Campaign) -> tuple[int, int, float | None]:
    """Return ordinary answers, assigned items, and answers per hour (of the last hour at most)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*) FILTER (WHERE a.state = 'submitted'), count(*)
                FILTER (WHERE a.state = 'reserved'),
                      count(*) FILTER (WHERE a.submitted_at > now() - interval '1 hour'),
                      extract(epoch FROM least(now() - min(a.submitted_at), interval '1 hour'))
                          / 3600
               FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
               WHERE a.campaign_id = %s AND i.kind = %s""",
            [campaign.pk, ItemKind.ORDINARY],
        )
        submitted, reserved, lately, hours = cursor.fetchone()
    # A rate over less than a minute means nothing.
    return (
        submitted,
        reserved,
        lately / float(hours) if lately and hours and hours > 1 / 60 else None,
    )


def _annotators(campaign: Campaign, hidden: list[int]) -> tuple[AnnotatorProgress, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_BY_ANNOTATOR, {"campaign": campaign.pk})
        rows = cursor.fetchall()
        cursor.execute(_DISTANCES, {"campaign": campaign.pk, "hidden": hidden})
        distances = {
            annotator: (float(distance), compared, float(above))
            for annotator, distance, compared, above in cursor.fetchall()
        }
    suspected = suspicions(campaign, hidden)
    return annotators_progress(rows, distances, suspected, is_rating=campaign.is_rating)


def suspicions(campaign: Campaign, hidden: list[int]) -> dict[int, Suspicion]:
    """Return who answers no better than chance, or copies, cached for a few seconds.

    Args:
        hidden: ids of documents to exclude.
    """
    key = ("suspicions", campaign.pk, *hidden)
    return read_seldom(key, lambda: find_suspicions(campaign, hidden), seconds=CACHE_SECONDS)


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
    answers = _as_array(given, annotators)
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


def _as_array(
    answers: Sequence[tuple[int, int, Answer, Sequence[int]]], annotators: Sequence[int]
) -> FloatArray:
    """Return answers as numbers: shape (annotators, items, questions), NaN where there is none.

    Args:
        answers: for each the item, the annotator, the answer, and the outputs as shown.
    """
    items = {pk: index for index, pk in enumerate(dict.fromkeys(item for item, *_ in answers))}
    place = {pk: index for index, pk in enumerate(annotators)}
    numbers = [
        (place[who], items[item], answer_values(answer, shown))
        for item, who, answer, shown in answers
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


_BY_ANNOTATOR = """
    WITH mine AS (
        SELECT a.*, i.kind,
               CASE WHEN a.state = 'submitted' THEN a.passed END AS is_right
        FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
        WHERE a.campaign_id = %(campaign)s
    ), patterns AS (
        SELECT annotator_id, max(n) AS most_same, sum(n) AS answers FROM (
            SELECT m.annotator_id, coalesce(m.answer -> 'scores', m.answer -> 'choices')
                AS pattern, count(*) AS n
            FROM mine m WHERE m.state = 'submitted' AND m.kind = 'ordinary'
                AND m.answer ?| ARRAY['scores', 'choices']
            GROUP BY 1, 2) AS p GROUP BY 1
    )
    SELECT n.id, n.name, s.removed_at IS NOT NULL,
           EXISTS (SELECT FROM annotations_exclusion e
               WHERE e.annotator_id = n.id AND e.lifted_at IS NULL),
           count(m.id) FILTER (WHERE m.state = 'submitted' AND m.kind = 'ordinary'),
           count(m.id) FILTER (WHERE m.state = 'skipped'), count(m.id) FILTER (WHERE m.flagged),
           count(m.id) FILTER (WHERE m.state = 'reserved' AND m.lease_until > now()),
           count(m.id) FILTER (WHERE m.submitted_at > now() - interval '1 hour'),
           extract(epoch FROM least(interval '1 hour', now() - min(m.submitted_at)
               FILTER (WHERE m.submitted_at > now() - interval '1 hour'))) / 3600,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY m.seconds)
               FILTER (WHERE m.state = 'submitted' AND m.kind = 'ordinary'),
           count(m.id) FILTER (WHERE m.is_right IS NOT NULL AND m.kind <> 'practice'),
           count(m.id) FILTER (WHERE m.is_right AND m.kind <> 'practice'),
           max(m.submitted_at), coalesce(max(p.most_same), 0), coalesce(max(p.answers), 0)
    FROM annotations_seat s JOIN annotations_annotator n ON n.id = s.annotator_id
    LEFT JOIN mine m ON m.annotator_id = n.id LEFT JOIN patterns p ON p.annotator_id = n.id
    WHERE s.campaign_id = %(campaign)s GROUP BY n.id, n.name, s.removed_at ORDER BY n.id"""
# Each answer compared with the mean of the others' on the same item and question.
_DISTANCES = f"""
    WITH given AS ({COMPARABLE_ANSWERS}
    ), compared AS (
        SELECT annotator_id, value, sum(value) OVER w - value AS others, count(*) OVER w - 1 AS n
        FROM given WINDOW w AS (PARTITION BY item_id, criterion_id)
    )
    SELECT annotator_id, avg(abs(value - others / n)), count(*), avg(value - others / n)
    FROM compared WHERE n > 0
        GROUP BY annotator_id"""
_AGREEMENT = f"""
    WITH given AS ({COMPARABLE_ANSWERS}
    ), by_item AS (
        SELECT criterion_id, count(*) AS n, sum(value) AS s, sum(value * value) AS q
        FROM given GROUP BY item_id, criterion_id HAVING count(*) > 1
    ), by_question AS (
        SELECT criterion_id, count(*) AS items, sum(n) AS n, sum(s) AS s, sum(q) AS q,
            sum(2 * (n * q - s * s) / (n - 1)) AS observed
        FROM by_item GROUP BY criterion_id
    )
    SELECT coalesce(c.name, 'overall'), b.items::int,
        (1 - b.observed * (b.n - 1) / nullif(2 * (b.n * b.q - b.s * b.s), 0))::float8
    FROM by_question b LEFT JOIN evaluations_criterion c ON c.id = b.criterion_id
    ORDER BY c.position NULLS FIRST, c.id"""
