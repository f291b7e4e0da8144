"""The effect of visible LLM scores, in campaigns that show them for a random share of items
only."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.models import Campaign
from annotations.planning.selection import scores_on_scale
from evaluations.models.improving import withheld_documents
from geval.statistics.mean_gaps import ArmDifference, difference_of_arms
from geval_site.sql import fetch_rows

# Each rating with the mean of judges' newest scores for the same output and criterion that lie on
# the scale.
_RATINGS = f"""
    SELECT o.document_id, a.scores_shown, r.score, s.mean
    FROM annotations_assignment a
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
    JOIN evaluations_candidateoutput o ON o.id = a.shown[1]
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'scores') AS g(criterion, given)
    CROSS JOIN LATERAL (SELECT g.criterion::bigint AS criterion_id, g.given::float8 AS score) AS r
    JOIN (SELECT output_id, criterion_id, avg(value) AS mean FROM ({scores_on_scale()}) AS n
          GROUP BY 1, 2) AS s ON s.output_id = o.id AND s.criterion_id = r.criterion_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted' AND a.scores_shown IS NOT NULL
        AND g.given IS NOT NULL AND o.document_id <> ALL(%(hidden)s::bigint[])
    ORDER BY a.id, r.criterion_id"""


@dataclass(frozen=True)
class SeenScores:
    """Differences between ratings given with and without visible LLM scores, in points of the
    scale: in their distance from the judges' scores (below 0: visible scores draw ratings towards
    them), and in their height."""

    distance: ArmDifference
    height: ArmDifference


def seen_scores(campaign: Campaign) -> SeenScores | None:
    """Return the effect; None if the campaign does not hide scores at random."""
    if not (campaign.show_scores and campaign.unseen_percent):
        return None
    values: dict[str, Any] = {
        "campaign": campaign.pk,
        "project": campaign.project_id,
        "criteria": list(campaign.criteria.values_list("pk", flat=True)),
        "hidden": withheld_documents(campaign.project_id),
    }
    rows = np.array(fetch_rows(_RATINGS, values), dtype=np.float64).reshape(-1, 4)
    document, is_shown = rows[:, 0].astype(np.int64), rows[:, 1] == 1
    score, judged = rows[:, 2], rows[:, 3]
    return SeenScores(
        distance=difference_of_arms(np.abs(score - judged), is_shown, document),
        height=difference_of_arms(score, is_shown, document),
    )
