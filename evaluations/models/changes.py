"""Changes of a project's ratings and scores, one row per change, for reports that stay up to date.

Rows are only added, so that writers never wait for each other; readers group them and remove old
ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models
from django.db.models.functions import Now

from evaluations.models.criteria import Criterion
from evaluations.models.judges import Judge
from evaluations.models.project import Project
from geval_site.sql import execute_sql, fetch_rows


class ScoreChange(models.Model):
    """Scores of `judge` (empty: people's ratings) have changed on `criterion` (empty: all)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="score_changes")
    judge = models.ForeignKey(
        Judge, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"change {self.pk} of {self.project_id}"


# Above this number of rows, a reader removes all but the newest of each kind.
MOST_ROWS = 500
Key = tuple[int | None, int | None]


def note_change(
    project_id: int, criteria: Iterable[int | None] = (None,), *, judge: int | None = None
) -> None:
    """Record a change of people's ratings, or of a judge's scores, on some criteria (None: all)."""
    wanted = list(criteria)
    execute_sql(
        """INSERT INTO evaluations_scorechange (project_id, judge_id, criterion_id)
           SELECT %s::bigint, %s::bigint, c FROM unnest(%s::bigint[]) AS c""",
        [project_id, judge, wanted],
    )


def state_of(project_id: int) -> dict[Key, tuple[int, int]]:
    """Return, for each (judge, criterion), the number of changes and the last one; equal states
    have equal numbers.

    The count detects a change that was recorded earlier and committed later.
    """
    rows = fetch_rows(
        """SELECT judge_id, criterion_id, count(*), max(id) FROM evaluations_scorechange
           WHERE project_id = %s GROUP BY judge_id, criterion_id""",
        [project_id],
    )
    state = {(judge, criterion): (count, last) for judge, criterion, count, last in rows}
    if sum(count for count, _ in state.values()) > MOST_ROWS:
        newest = [last for _, last in state.values()]
        ScoreChange.objects.filter(project_id=project_id).exclude(pk__in=newest).delete()
    return state
