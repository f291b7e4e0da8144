"""A run's results so far: the distribution of its scores, and their agreement with people."""

from dataclasses import replace

from evaluations.models import EvaluationRun
from evaluations.reports.data import fill_judges
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.live import live_data
from geval.reports.so_far import CriterionSoFar, ahead_of, criterion_so_far


def so_far(run: EvaluationRun) -> list[CriterionSoFar]:
    """Return a run's current results on each of its criteria."""
    criteria = run.judged_criteria()
    # Scores for every criterion are shown with each.
    criteria = criteria or list(run.project.criteria.all())
    if not criteria:
        return []
    data = live_data(run.project)
    tables = replace(data, judges={})
    fill_judges(tables, [run.judge_id], [criterion.pk for criterion in criteria], run=run)
    searches = searches_behind(run.project)
    criteria_so_far = [
        replace(
            criterion_so_far(criterion, tables, run.judge_id, on_scale=run.judge.rates_on_scale),
            is_seen=searches.made(criterion.pk, run.judge_id),
        )
        for criterion in criteria
    ]
    rival = run.goal_rival_id
    if rival is None:
        return criteria_so_far
    return [
        ahead_of(one, tables, run.judge_id, data.judges.get((one.pk, rival)))
        for one in criteria_so_far
    ]
