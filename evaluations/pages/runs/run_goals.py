"""Runs that end by themselves once it is known how well their judge agrees with people, or whether
it agrees better than another judge.

The interval is checked while scores come in, so it is one that is valid at any time. A document
counts once the run has judged all its outputs, in the order of their first scores, which is random.
"""

from django.db.models import Q

from evaluations.judging.runs.lifecycle import stop_at_goal
from evaluations.models import EvaluationRun, RunState
from evaluations.models.row_by_row import for_each
from evaluations.models.runs import GOAL_REACHED, PARTLY_LAID_OUT
from evaluations.reports.run_results import goal_progress, so_far
from geval.reports.so_far import CriterionSoFar, KnownSoFar
from geval.texts.numbers import thin

# A run is checked again when its scores have grown by this factor since the last check.
GROWTH = 1.02
_seen: dict[int, int] = {}


def end_runs_at_goals() -> None:
    """Stop the runs that have reached their goals, checking those with new scores."""
    waiting = EvaluationRun.objects.counting().filter(
        Q(goal_width__isnull=False) | Q(goal_rival__isnull=False), state=RunState.RUNNING
    )
    # Some outputs of the last document in the first part of a run may have no items yet.
    waiting = waiting.exclude(PARTLY_LAID_OUT)
    runs = waiting.select_related("project", "judge", "goal_rival")
    for_each(runs, _look_at, job="goals of runs")


def _look_at(run: EvaluationRun) -> None:
    scores = run.scores.count()
    if scores < _seen.get(run.pk, 1) * GROWTH:
        return
    _seen[run.pk] = scores
    if outcome := reached(run, so_far(run)):
        stop_at_goal(run.pk, outcome)
        _seen.pop(run.pk, None)


def reached(run: EvaluationRun, criteria: list[CriterionSoFar]) -> str:
    """Describe how precisely each criterion is known; empty if the goal is not reached on all.

    Args:
        criteria: the run's results so far.
    """
    phrases = []
    for criterion in criteria:
        progress = goal_progress(run, criterion)
        if progress is None or not _is_enough(run, progress):
            return ""
        phrases.append(f"{progress} with {thin(progress.ends.count)} documents")
    if not phrases:
        return ""
    return (
        f"{GOAL_REACHED}: {run.goal_in_words}: {'; '.join(phrases)}. The remaining documents were"
        " not judged; start another run to judge them."
    )


def _is_enough(run: EvaluationRun, so_far: KnownSoFar) -> bool:
    if run.goal_rival_id is not None:
        return so_far.is_difference and so_far.leaves_out_0
    return so_far.half_width <= (run.goal_width or 0.0)
