"""The list of judges: their verdicts, agreement with people, last run and cost; and the tabs of
each."""

from dataclasses import dataclass

from evaluations.judging.runs.trial import can_try
from evaluations.models import EvaluationRun, Judge, Project
from evaluations.reports.judge_costs import costs_of
from geval.reports.costs import JudgeCost
from geval.reports.judge_standing import JudgeStanding, judge_standings
from geval.reports.report import Report
from geval.reports.verdicts.verdict import Verdict
from geval_site.extensions import JudgeTab, added


def judge_tabs(judge: Judge, *, may_edit: bool) -> list[JudgeTab]:
    """Return the tabs of a judge that somebody may open, with those of apps above the core."""
    tabs = (
        JudgeTab("Agreement", ("judge_detail",)),
        JudgeTab("Runs", ("judge_runs",), lambda each, _may_edit: each.can_run),
        JudgeTab("Try", ("judge_try",), lambda each, may_edit: may_edit and can_try(each)),
        *(tab for tabs in added("judge tabs") for tab in tabs),
        JudgeTab("Settings", ("judge_settings",)),
    )
    return [tab for tab in tabs if tab.is_shown(judge, may_edit)]


@dataclass(frozen=True)
class JudgeSummary:
    """A judge in the list. `standings` has one entry per criterion, the strongest verdict first;
    none while the report is being computed, or without scores on rated outputs."""

    judge: Judge
    standings: tuple[JudgeStanding, ...]
    last_run: EvaluationRun | None
    cost: JudgeCost

    @property
    def strongest(self) -> JudgeStanding | None:
        return self.standings[0] if self.standings else None


def judge_summaries(project: Project, report: Report | None) -> list[JudgeSummary]:
    """Return all judges of a project: those with the strongest verdicts first, retired ones last.

    Args:
        report: the whole project's; None while it is being computed.
    """
    runs = project.runs.counting().of_judges_that_run()
    # One run per judge: a project may have had thousands.
    newest = runs.order_by("judge_id", "-pk").distinct("judge_id")
    last_runs = {run.judge_id: run for run in newest}
    judges = list(project.judges.select_related("endpoint"))
    summaries = [
        JudgeSummary(
            judge,
            tuple(judge_standings(report, judge.pk)) if report else (),
            last_runs.get(judge.pk),
            cost,
        )
        for judge, cost in zip(judges, costs_of(judges), strict=True)
    ]
    return sorted(summaries, key=_place)


def _place(summary: JudgeSummary) -> tuple[bool, int, bool]:
    """Return the sort key; among equal verdicts, judges ranked first on their criterion come
    first."""
    strongest = summary.strongest
    return (
        summary.judge.retired_at is not None,
        len(Verdict) if strongest is None else strongest.verdict.place,
        strongest is None or strongest.better is not None,
    )
