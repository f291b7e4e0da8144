"""A campaign's progress: how much is done, how fast, how well, and suspicious answers."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection

from annotations.models import Campaign, ItemKind
from annotations.results.comparable_values import COMPARABLE
from annotations.results.suspects import Suspicion, suspicions
from evaluations.models.improving import withheld_documents
from geval.statistics.thresholds import (
    SUSPECT_CHECKS,
    SUSPECT_FAST,
    SUSPECT_FLAT,
    SUSPECT_ITEMS,
    SUSPECT_RIGHT,
)


@dataclass(frozen=True)
class AnnotatorProgress:
    """One annotator in a campaign. `distance` is the mean distance of their answers from the mean
    of the others' on the same items, None if nobody else has answered them; `severity` is how much
    lower than that mean they rate; `warnings` are in words."""

    pk: int
    annotator: str
    removed: bool
    is_excluded: bool
    submitted: int
    skipped: int
    flagged: int
    holding: int
    per_hour: float | None
    seconds: float | None
    checks: int
    checks_right: int
    distance: float | None
    compared: int
    severity: float | None
    last: datetime | None
    warnings: tuple[str, ...]

    @property
    def accuracy(self) -> float | None:
        return self.checks_right / self.checks if self.checks else None


@dataclass(frozen=True)
class QuestionAgreement:
    """How far people agree on a question: Krippendorff's alpha over the items that two or more
    have answered, None where it is undefined."""

    question: str
    items: int
    alpha: float | None


@dataclass(frozen=True)
class CampaignProgress:
    """A campaign's figures. `places` counts item x annotator: items times overlap; `withheld`
    documents, whose ratings count in no distance."""

    items: int
    places: int
    submitted: int
    complete: int
    reserved: int
    per_hour: float | None
    annotators: tuple[AnnotatorProgress, ...]
    withheld: int = 0
    skipped: int = 0
    agreement: tuple[QuestionAgreement, ...] = ()

    @property
    def is_skipped_by_all(self) -> bool:
        """Whether nobody has answered, and everybody skipped all they got."""
        return bool(self.skipped and not self.submitted and not self.reserved)

    @property
    def share(self) -> float:
        return self.submitted / self.places if self.places else 0.0

    @property
    def hours_left(self) -> float | None:
        return (self.places - self.submitted) / self.per_hour if self.per_hour else None


@dataclass(frozen=True)
class OwnProgress:
    """An annotator's own progress."""

    submitted: int
    today: int
    skipped: int
    seconds: float | None
    per_hour: float | None
    campaign_share: float


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    """All figures of a campaign, from its assignments, in three queries."""
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
    """By question, from the first overlap on. With an item's n values of sum s and sum of squares
    q, alpha is 1 - observed / expected with observed = sum of 2 (n q - s^2) / (n - 1), over N
    values together (interval metric)."""
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
        mine, today, skipped, seconds = cursor.fetchone()
    share = submitted / (items * campaign.overlap) if items else 0.0
    return OwnProgress(mine, today, skipped, seconds, 3600 / seconds if seconds else None, share)


def _totals(campaign: Campaign) -> tuple[int, int, float | None]:
    """Ordinary answers, assigned items, and answers per hour (of the last hour at most)."""
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
    usual = [
        row["seconds"]
        for row in map(_named, rows)
        if row["seconds"] and row["submitted"] >= SUSPECT_ITEMS
    ]
    median = float(np.median(usual)) if len(usual) > 1 else None
    suspected = suspicions(campaign, hidden)
    names = {row["pk"]: row["annotator"] for row in map(_named, rows)}
    return tuple(
        replace(
            progress,
            warnings=(
                *progress.warnings,
                *_against_others(suspected.get(progress.pk), names),
            ),
        )
        for progress in (_annotator(campaign, _named(row), distances, median) for row in rows)
    )


def _against_others(suspicion: Suspicion | None, names: dict[int, str]) -> list[str]:
    """What is found against the others' answers, in words."""
    if suspicion is None:
        return []
    warnings, chance = [], suspicion.chance
    if chance.is_chance and chance.usual is not None:
        warnings.append(
            f"no better than chance: agrees with others at {chance.agreement or 0:.2f} on"
            f" {chance.items} items, where others reach {chance.usual:.2f}"
        )
    for other, same, items in suspicion.same_as:
        name = names.get(other, "somebody")
        warnings.append(f"copies: {same} of {items} answers are those of {name}")
    return warnings


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    names = (
        "pk", "annotator", "removed", "is_excluded",
        "submitted", "skipped", "flagged", "holding", "lately",
        "hours", "seconds",
        "checks", "checks_right", "last", "most_same", "answers",
    )  # fmt: skip
    return dict(zip(names, row, strict=True))


def _annotator(
    campaign: Campaign,
    row: dict[str, Any],
    distances: dict[int, tuple[float, int, float]],
    median: float | None,
) -> AnnotatorProgress:
    distance, compared, above = distances.get(row["pk"], (None, 0, None))
    hours = row["hours"] and float(row["hours"])
    return AnnotatorProgress(
        pk=row["pk"],
        annotator=row["annotator"],
        removed=row["removed"],
        is_excluded=row["is_excluded"],
        submitted=row["submitted"],
        skipped=row["skipped"],
        flagged=row["flagged"],
        holding=row["holding"],
        per_hour=row["lately"] / hours if row["lately"] and hours and hours > 1 / 60 else None,
        seconds=row["seconds"],
        checks=row["checks"],
        checks_right=row["checks_right"],
        distance=distance,
        compared=compared,
        severity=None if above is None or not campaign.is_rating else -above,
        last=row["last"],
        warnings=tuple(_warnings(row, median)),
    )


def _warnings(row: dict[str, Any], median: float | None) -> list[str]:
    warnings: list[str] = []
    if row["submitted"] < SUSPECT_ITEMS:
        return warnings
    if median and row["seconds"] is not None and row["seconds"] < SUSPECT_FAST * median:
        warnings.append(f"fast: {row['seconds']:.0f} s per item, while others need {median:.0f} s")
    if row["answers"] and row["most_same"] / row["answers"] >= SUSPECT_FLAT:
        warnings.append(
            f"flat: {row['most_same'] / row['answers']:.0%} of the answers are the same"
        )
    if row["checks"] >= SUSPECT_CHECKS and row["checks_right"] / row["checks"] < SUSPECT_RIGHT:
        warnings.append(f"checks: {row['checks_right']} of {row['checks']} right")
    return warnings


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
    WITH given AS ({COMPARABLE}
    ), compared AS (
        SELECT annotator_id, value, sum(value) OVER w - value AS others, count(*) OVER w - 1 AS n
        FROM given WINDOW w AS (PARTITION BY item_id, criterion_id)
    )
    SELECT annotator_id, avg(abs(value - others / n)), count(*), avg(value - others / n)
    FROM compared WHERE n > 0
        GROUP BY annotator_id"""
_AGREEMENT = f"""
    WITH given AS ({COMPARABLE}
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
