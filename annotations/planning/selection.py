"""Select the outputs whose ratings are most useful, from existing scores and ratings."""

import numpy as np

from annotations.models import Campaign, Preference, Selection
from evaluations.models import Project
from evaluations.models.improving import withheld_documents
from evaluations.models.newest_scores import newest_scores
from geval.statistics.item_plan import FloatArray, PlannedItem, PlannedOutputs
from geval.statistics.preferences import bradley_terry, next_pair_gains
from geval.statistics.sampling import predicted_errors
from geval.statistics.thresholds import ACTIVE_OUTPUTS
from geval_site.sql import fetch_rows

# Newest scores on the requested criteria that lie on the scale: distances elsewhere mean nothing.
_SCORES = f"""
    SELECT n.judge_id, n.output_id, n.criterion_id, n.value
    FROM ({newest_scores("r.project_id = %(project)s {more}")}) AS n
    JOIN evaluations_criterion c ON c.id = n.criterion_id
    WHERE n.value BETWEEN c.scale_min AND c.scale_max
      AND (cardinality(%(criteria)s::bigint[]) = 0 OR n.criterion_id = ANY(%(criteria)s))"""


def scores_on_scale(more: str = "") -> str:
    """Return the query of all judges' newest scores that lie on the scale; `more` is a further
    condition on the scores `s`."""
    return _SCORES.format(more=more)


def project_outputs(project: Project) -> PlannedOutputs:
    """Return all outputs of a project, ordered by id."""
    selected = fetch_rows(
        """SELECT o.id, o.document_id, o.system_id,
                  CASE WHEN d.session = '' THEN d.id
                       ELSE min(d.id) OVER (PARTITION BY nullif(d.session, '')) END,
                  d.turns_before
           FROM evaluations_candidateoutput o
           JOIN evaluations_document d ON d.id = o.document_id WHERE d.project_id = %s
               ORDER BY o.id""",
        [project.pk],
    )
    rows = np.array(selected, dtype=np.int64).reshape(-1, 5)
    return PlannedOutputs(*rows.T)


def disagreement(campaign: Campaign, outputs: PlannedOutputs) -> FloatArray:
    """Return the standard deviation over judges, averaged over criteria; shape (outputs,), NaN with
    fewer than two judges."""
    query = f"""SELECT output_id, avg(sd) FROM (
                    SELECT output_id, criterion_id, stddev_samp(value) AS sd
                        FROM ({scores_on_scale()}) AS s GROUP BY 1, 2
                ) AS by_criterion WHERE sd IS NOT NULL GROUP BY 1"""
    return _values(query, campaign, outputs)


def likely_errors(campaign: Campaign, outputs: PlannedOutputs) -> tuple[FloatArray, np.ndarray]:
    """Estimate how far people's ratings lie from what judges' scores predict for each output, and
    return which outputs are rated; both of shape (outputs,).

    With fewer than `ACTIVE_OUTPUTS` rated outputs, the judges' disagreement is used instead.
    """
    human = _values(
        """SELECT h.output_id, avg(h.mean)
           FROM annotations_human_means(ARRAY(
               SELECT o.id FROM evaluations_candidateoutput o
               JOIN evaluations_document d ON d.id = o.document_id
                   WHERE d.project_id = %(project)s)) h
           WHERE cardinality(%(criteria)s::bigint[]) = 0 OR h.criterion_id = ANY(%(criteria)s)
               GROUP BY 1""",
        campaign,
        outputs,
    )
    is_rated = ~np.isnan(human)
    # The choice of outputs must not reveal withheld ratings.
    human[np.isin(outputs.documents, withheld_documents(campaign.project_id))] = np.nan
    if is_rated.sum() < ACTIVE_OUTPUTS:
        return disagreement(campaign, outputs), is_rated
    judged = _values(
        f"SELECT output_id, avg(value) FROM ({scores_on_scale()}) AS s GROUP BY 1",
        campaign,
        outputs,
    )
    return predicted_errors(human, judged, outputs.systems), is_rated


def pair_values(
    campaign: Campaign, outputs: PlannedOutputs, pairs: list[PlannedItem]
) -> FloatArray:
    """Return the priorities of pairs, shape (pairs,). By disagreement: the mean spread of judges on
    the two outputs; by need: how informative one more comparison of the two systems would be for
    the current ranking (Bradley-Terry)."""
    places = np.searchsorted(
        outputs.ids, np.array([pair.outputs for pair in pairs], dtype=np.int64).reshape(-1, 2)
    )
    if campaign.selection in (Selection.DISAGREEMENT, Selection.TOP):
        differing = np.nan_to_num(disagreement(campaign, outputs), nan=0.0)
        means: FloatArray = differing[places].mean(axis=1)
        return means
    systems = np.unique(outputs.systems)
    number = {int(system): index for index, system in enumerate(systems)}
    gains = next_pair_gains(bradley_terry(wins_so_far(campaign.project, number)))
    sides = outputs.systems[places]
    meetings = (sorted((number[int(a)], number[int(b)])) for a, b in sides)
    return np.array([gains.get((low, high), 0.0) for low, high in meetings], dtype=float)


def wins_so_far(project: Project, number: dict[int, int]) -> FloatArray:
    """Return how often the row's system was preferred to the column's, shape (systems, systems),
    starting with half a win each."""
    wins = np.full((len(number), len(number)), 0.5)
    np.fill_diagonal(wins, 0.0)
    hidden = withheld_documents(project.pk)
    rows = Preference.objects.filter(annotator__project=project)
    for a, b, value in rows.exclude(output_a__document__in=hidden).values_list(
        "output_a__system_id", "output_b__system_id", "value"
    ):
        share = 1.0 if value > 0 else 0.0 if value < 0 else 0.5
        wins[number[a], number[b]] += share
        wins[number[b], number[a]] += 1 - share
    return wins


def _values(query: str, campaign: Campaign, outputs: PlannedOutputs) -> FloatArray:
    """Return the query's value for each output, NaN for outputs without one."""
    criteria = list(campaign.criteria.values_list("pk", flat=True))
    selected = fetch_rows(query, {"project": campaign.project_id, "criteria": criteria})
    rows = np.array(selected, dtype=float).reshape(-1, 2)
    values = np.full(len(outputs), np.nan)
    of_outputs = np.isin(rows[:, 0].astype(np.int64), outputs.ids)
    values[np.searchsorted(outputs.ids, rows[of_outputs, 0].astype(np.int64))] = rows[of_outputs, 1]
    return values
