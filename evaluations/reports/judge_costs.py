"""The cost and time of judges' runs per 1,000 items, from the runs' own counters."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from evaluations.judging.runs.counts import finished_items
from evaluations.models import EvaluationRun, Judge, RunState
from geval.reports.costs import JudgeCost

PER = 1000


def costs_of(judges: Sequence[Judge]) -> list[JudgeCost]:
    """Return the cost of each judge over all its runs, without items answered from the store, which
    cost nothing."""
    able = [judge for judge in judges if judge.can_run]
    runs = list(EvaluationRun.objects.counting().filter(judge__in=able))
    finished = finished_items(runs)
    calls = {run.pk: max(0, finished[run.pk][0] - run.cache_hits) for run in runs}
    runs_of_judge = defaultdict(list)
    for run in runs:
        runs_of_judge[run.judge_id].append(run)
    return [_cost(judge, runs_of_judge[judge.pk], calls) for judge in judges]


def _cost(judge: Judge, runs: Sequence[EvaluationRun], calls: Mapping[int, int]) -> JudgeCost:
    if not judge.can_run:
        return JudgeCost(judge.label, why_not="its scores were imported")
    items = sum(calls[run.pk] for run in runs)
    if not judge.asks_llm:
        return JudgeCost(judge.label, items, minutes=_minutes(runs, calls), why_not="no calls")
    if not items:
        return JudgeCost(judge.label, why_not="no run of it has asked for a score")
    costs = [run.cost for run in runs if calls[run.pk]]
    priced = [cost for cost in costs if cost is not None]
    return JudgeCost(
        judge.label,
        items,
        prompt_tokens=round(PER * sum(run.prompt_tokens for run in runs) / items),
        completion_tokens=round(PER * sum(run.completion_tokens for run in runs) / items),
        money=PER * sum(priced, Decimal(0)) / items if len(priced) == len(costs) else None,
        minutes=_minutes(runs, calls),
    )


def _minutes(runs: Sequence[EvaluationRun], calls: Mapping[int, int]) -> float | None:
    """Return the minutes from start to end of finished runs, including pauses."""
    ended = [
        (run.finished_at - run.started_at, calls[run.pk])
        for run in runs
        if run.state == RunState.DONE and run.started_at and run.finished_at and calls[run.pk]
    ]
    items = sum(count for _time, count in ended)
    seconds = sum(time.total_seconds() for time, _count in ended)
    return PER * seconds / items / 60 if items else None
