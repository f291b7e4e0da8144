"""The probabilities that a judge gave to the points of a criterion's scale, from the database."""

from collections.abc import Mapping

import numpy as np

from evaluations.models import Criterion, Judge
from evaluations.models.newest_scores import newest_scores
from evaluations.models.query_arrays import fetch_groups, id_list, two_ids
from geval.reports.data import ReportData
from geval.statistics.arrays import positions
from geval.statistics.types import FloatArray

# Criteria with more points have no distributions by point.
MOST_POINTS = 11
# Shares are stored rounded; with a smaller sum over the scale's points they belong to another
# scale.
LEAST_ON_SCALE = 0.98
# Steps such as 0.1 are inexact as floats.
NEAR = 1e-6

# Keys of an archive's distribution that are not numbers are not points.
_POINT = r"""CASE WHEN d.key ~ '^-?\d{1,12}(\.\d{1,12})?$' THEN d.key::float8 ELSE 'NaN' END"""
# Shares among the points alone, without that of "n/a".
_SHARE = """CASE WHEN jsonb_typeof(d.value) = 'number' THEN d.value::float8
    / CASE WHEN jsonb_typeof(n.distribution -> 'n/a') = 'number'
        THEN nullif(1 - (n.distribution -> 'n/a')::float8, 0) ELSE 1 END END"""
_OBJECT = "CASE WHEN jsonb_typeof(n.distribution) = 'object' THEN n.distribution END"


def distributions_of(
    data: ReportData, criterion: Criterion, judge: Judge
) -> dict[int, Mapping[float, float]]:
    """Return the newest distributions behind a judge's scores, by the output's position; none where
    shares belong to another scale."""
    points = criterion.scale.points
    if len(points) > MOST_POINTS:
        return {}
    newest = newest_scores(
        f"r.judge_id IN ({id_list([judge.pk])}) AND s.criterion_id IN ({id_list([criterion.pk])})"
    )
    groups = fetch_groups(
        two_ids("n.criterion_id", "n.judge_id"),
        ["n.output_id", _POINT, f"coalesce({_SHARE}, 'NaN')"],
        f"FROM ({newest}) AS n CROSS JOIN LATERAL jsonb_each({_OBJECT}) AS d(key, value)"
        " WHERE n.value IS NOT NULL",
    )
    return {
        at: dict(zip(points, row, strict=True))
        for columns in groups.values()
        for at, row in enumerate(_on_scale(data, points, *columns).tolist())
        if not np.isnan(row[0])
    }


def _on_scale(
    data: ReportData,
    points: tuple[float, ...],
    output: FloatArray,
    point: FloatArray,
    share: FloatArray,
) -> FloatArray:
    """Arrange shares by output and point; shape (outputs, points), NaN where they belong to another
    scale.

    Args:
        output, point, share: the output's id and the point of each share.
    """
    scale = np.array(points)
    indexes = positions(output, data.output_ids)
    nearest = np.abs(np.nan_to_num(point, nan=np.inf)[:, None] - scale).argmin(axis=1)
    is_there = (indexes >= 0) & (np.abs(point - scale[nearest]) <= NEAR) & np.isfinite(share)
    table = np.zeros((len(data.output_ids), len(scale)))
    table[indexes[is_there], nearest[is_there]] = share[is_there]
    total = table.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total >= LEAST_ON_SCALE, table / total, np.nan)
