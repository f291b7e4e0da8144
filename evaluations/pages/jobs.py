"""The runs and searches in progress in a project, for the header of every page."""

from dataclasses import dataclass
from typing import Any

from evaluations.models import Project
from geval.texts.numbers import counted, whole_percent
from geval_site.sql import fetch_rows

# Every page polls this every few seconds.
_JOBS = """
    SELECT r.id, j.name, finished, finished + open
    FROM evaluations_evaluationrun r JOIN evaluations_judge j ON j.id = r.judge_id,
        LATERAL (SELECT coalesce(sum(done + failed), 0) AS finished,
                        coalesce(sum(pending + leased + sent), 0) AS open
                 FROM evaluations_runtally WHERE run_id = r.id) AS items
    WHERE r.project_id = %(project)s AND r.state IN ('preparing', 'running')
      AND r.search_id IS NULL AND r.purpose = '' AND j.kind <> 'imported'
    UNION ALL
    SELECT NULL, '', 0, 0 FROM evaluations_search s
    WHERE s.project_id = %(project)s AND s.state IN ('waiting', 'asking')"""


@dataclass(frozen=True)
class RunningJob:
    """A run in progress, with how many of its items are done or failed."""

    pk: int
    judge: str
    finished: int
    total: int


@dataclass(frozen=True)
class Jobs:
    """The jobs in progress in a project: runs that count, and the number of searches."""

    runs: tuple[RunningJob, ...]
    searches: int

    @property
    def share(self) -> float | None:
        """The share of all items of the runs that is done or failed; None if there are no items."""
        total = sum(run.total for run in self.runs)
        return sum(run.finished for run in self.runs) / total if total else None

    @property
    def in_words(self) -> str:
        """A summary such as "2 runs, 40 %"; empty if nothing is in progress."""
        phrases = [counted(len(self.runs), "run")] if self.runs else []
        if self.searches:
            phrases.append(counted(self.searches, "search", "searches"))
        if self.share is not None:
            phrases.append(whole_percent(self.share))
        return ", ".join(phrases)


def jobs_of(project: Project) -> Jobs:
    """Return the jobs in progress."""
    rows: list[tuple[Any, ...]] = fetch_rows(_JOBS, {"project": project.pk})
    runs = [row for row in rows if row[0] is not None]
    return Jobs(
        tuple(RunningJob(*row) for row in sorted(runs, key=lambda row: row[0])),
        searches=len(rows) - len(runs),
    )
