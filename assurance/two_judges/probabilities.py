"""The probabilities that judges gave to the points of a scale, as arrays, and a comparison of two
judges."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from evaluations.models import Criterion, Project
from evaluations.models.newest_scores import COUNTS, newest_scores
from evaluations.models.query_arrays import fetch_groups, id_list, ids_of_key, two_ids
from geval.reports.data import ReportData
from geval.reports.pair_view import PairView
from geval.reports.probabilities import (
    MOST_POINTS,
    PairProbabilities,
    Probabilities,
    on_scale,
    pair_probabilities,
)
from geval_site.replica import from_replica

# Keys of an archive's distribution that are not numbers are not points.
_POINT = r"""CASE WHEN d.key ~ '^-?\d{1,12}(\.\d{1,12})?$' THEN d.key::float8 ELSE 'NaN' END"""
_SHARE = "CASE WHEN jsonb_typeof(d.value) = 'number' THEN d.value::float8 ELSE 'NaN' END"
_OBJECT = "CASE WHEN jsonb_typeof(n.distribution) = 'object' THEN n.distribution END"

_WITH_SOME = f"""
    SELECT DISTINCT r.judge_id FROM evaluations_evaluationrun r, LATERAL (
        SELECT s.distribution FROM evaluations_score s WHERE s.run_id = r.id LIMIT 1000
    ) AS few WHERE r.project_id = %s AND few.distribution IS NOT NULL AND {COUNTS}"""


@dataclass(frozen=True)
class ProbabilityNumbers:
    """The contents of the page of two judges' probabilities, by criterion."""

    criteria: tuple[PairProbabilities, ...]


def judges_with_probabilities(project: Project) -> list[int]:
    """Return the ids of judges with distributions behind their scores. Checks a thousand scores per
    run, because checking all would take seconds for judges without any."""
    with connection.cursor() as cursor:
        cursor.execute(_WITH_SOME, [project.pk])
        return [judge for (judge,) in cursor.fetchall()]


@from_replica
def read_probabilities(
    data: ReportData, criteria: Sequence[Criterion], judge_ids: Sequence[int]
) -> Probabilities:
    """Return the newest distributions of judges, for the outputs in the data."""
    short = {about.pk: about for about in criteria if len(about.scale.points) <= MOST_POINTS}
    newest = newest_scores(
        f"r.judge_id IN ({id_list([*judge_ids])}) AND s.criterion_id IN ({id_list([*short])})"
    )
    groups = fetch_groups(
        two_ids("n.criterion_id", "n.judge_id"),
        ["n.output_id", _POINT, _SHARE],
        f"FROM ({newest}) AS n CROSS JOIN LATERAL jsonb_each({_OBJECT}) AS d(key, value)",
    )
    return {
        ids_of_key(key): on_scale(data, short[ids_of_key(key)[0]].scale.points, *columns)
        for key, columns in groups.items()
    }


def probabilities_of_view(project: Project, data: ReportData, view: PairView) -> ProbabilityNumbers:
    """Return the numbers of a view of the page."""
    chosen = data.selected(view.options)
    criteria = [about for about in project.criteria.all() if view.options.shows(about.pk)]
    probabilities = read_probabilities(chosen, criteria, [view.first, view.second])
    return ProbabilityNumbers(
        pair_probabilities(chosen, criteria, probabilities, view.first, view.second)
    )
