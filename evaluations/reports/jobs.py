"""What workers do for a project at the moment: runs and searches, for the header of every page."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from evaluations.formats import counted, whole_percent
from evaluations.models import Project

# Every page asks this every few seconds. The number of items is kept with a run; open ones have an
# index of their own.
_JOBS = """
    SELECT r.id, j.name, coalesce((r.parameters ->> 'items')::bigint, (
               SELECT count(*) FROM evaluations_runitem i WHERE i.run_id = r.id)),
           (SELECT count(*) FROM evaluations_runitem i
            WHERE i.run_id = r.id AND i.state IN ('pending', 'leased', 'sent'))
    FROM evaluations_evaluationrun r JOIN evaluations_judge j ON j.id = r.judge_id
    WHERE r.project_id = %(project)s AND r.state IN ('preparing', 'running')
      AND r.search_id IS NULL AND r.purpose = '' AND j.kind <> 'imported'
    UNION ALL
    SELECT NULL, '', NULL, NULL FROM evaluations_search s
    WHERE s.project_id = %(project)s AND s.state IN ('waiting', 'asking')"""


@dataclass(frozen=True)
class RunningJob:
    """A run that is being executed, with how many of its items are done or failed."""

    pk: int
    judge: str
    finished: int
    total: int


@dataclass(frozen=True)
class Jobs:
    """What is in progress in a project: runs that count, and how many searches there are."""

    runs: tuple[RunningJob, ...]
    searches: int

    @property
    def share(self) -> float | None:
        """The share of all items of the runs that is done or failed; None before there are any."""
        total = sum(run.total for run in self.runs)
        return sum(run.finished for run in self.runs) / total if total else None

    @property
    def in_words(self) -> str:
        """Such as "2 runs, 40 %"; empty if nothing is in progress."""
        said = [counted(len(self.runs), "run")] if self.runs else []
        if self.searches:
            said.append(counted(self.searches, "search", "searches"))
        if self.share is not None:
            said.append(whole_percent(self.share))
        return ", ".join(said)


def jobs_of(project: Project) -> Jobs:
    """What workers do for a project now; one small query."""
    with connection.cursor() as cursor:
        cursor.execute(_JOBS, {"project": project.pk})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    runs = [row for row in rows if row[0] is not None]
    return Jobs(
        tuple(
            RunningJob(pk, judge, max(0, total - unfinished), total)
            for pk, judge, total, unfinished in sorted(runs)
        ),
        searches=len(rows) - len(runs),
    )
