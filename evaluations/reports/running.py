"""Runs in progress, whose judges' numbers on the report are not final."""

from collections.abc import Collection

from evaluations.judging.runs.counts import finished_items
from evaluations.models import Project
from evaluations.reports.run_precision import describe_correlations
from geval.reports.page import RunInProgress


def runs_in_progress(project: Project, criteria: Collection[int] = ()) -> tuple[RunInProgress, ...]:
    """Return the runs of a project that are in progress, oldest first.

    Args:
        criteria: ids of the criteria whose agreement is stated, with intervals valid at any time.
    """
    active = project.runs.active().counting().of_judges_that_run()
    runs = list(active.select_related("judge", "project").order_by("pk"))
    progress = finished_items(runs)
    return tuple(
        RunInProgress(
            run.pk,
            run.judge_id,
            f"run {run.pk} of {run.judge.label}",
            run.get_absolute_url(),
            *progress.get(run.pk, (0, 0)),
            agreement=describe_correlations(run, criteria) if criteria else "",
        )
        for run in runs
    )
