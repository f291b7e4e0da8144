"""Runs that end by themselves when they have found out how well their judge agrees with people.

The interval is looked at while scores come in, so it is one that holds at any time. Documents
count when the run has judged all their outputs, in the order in which these were first scored,
which is random.
"""

import numpy as np

from evaluations.changes import note_change
from evaluations.models import EvaluationRun, RunState
from evaluations.reports.run_precision import complete_in_order
from evaluations.reports.so_far import so_far
from evaluations.runs.lifecycle import end_at_goal
from evaluations.statistics.anytime import confidence_sequence
from evaluations.statistics.jackknife import LEAST_DOCUMENTS

# A run is looked at again when it has so many times the scores of the last look.
GROWTH = 1.02
_seen: dict[int, int] = {}


def end_runs_at_goals() -> None:
    """End the runs that have reached their goals, of those with new scores."""
    waiting = EvaluationRun.objects.counting().filter(
        state=RunState.RUNNING, goal_width__isnull=False
    )
    for run in waiting.select_related("project", "judge"):
        scores = run.scores.count()
        if scores < _seen.get(run.pk, 1) * GROWTH:
            continue
        _seen[run.pk] = scores
        if said := reached(run):
            end_at_goal(run.pk, said)
            note_change(run.project_id)
            _seen.pop(run.pk, None)


def reached(run: EvaluationRun) -> str:
    """In words how well each criterion is known; empty if the goal is not reached on all."""
    said, most = [], run.goal_width or 0.0
    for one in so_far(run):
        known = complete_in_order(run, one)
        known = known[~np.isnan(known)]
        if len(known) < LEAST_DOCUMENTS:
            return ""
        (ends,) = confidence_sequence(known, [len(known)])
        if ends.high - ends.low > 2 * most:
            return ""
        said.append(
            f"{one.criterion} {known.mean():.2f} [{ends.low:.2f}, {ends.high:.2f}] with"
            f" {len(known):,} documents"
        )
    if not said:
        return ""
    return (
        f"Goal reached: rho is known within ±{most:g}: {'; '.join(said)}. The rest is not judged;"
        " start a run again to judge it."
    )
