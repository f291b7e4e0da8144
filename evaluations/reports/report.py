"""A project's report: its rows are read here, and `geval/reports/report.py` computes it."""

from collections.abc import Collection, Sequence
from typing import Any

from prometheus_client import Histogram

from evaluations.models import Criterion, Judge, Project
from evaluations.reports.comparisons import leaderboards
from evaluations.reports.data import load_data, only_round
from evaluations.reports.probes import Sensitivity
from evaluations.reports.searched import Searches, searches_behind
from geval.reports.data import ReportData
from geval.reports.leaderboard import Leaderboard, with_seen
from geval.reports.options import ReportOptions
from geval.reports.report import CriterionResult, Records, Report, report_of
from geval.reports.report import criterion_result as result_of
from geval.reports.verdicts.steps import OnStep, unseen
from geval_site.extensions import instructed_judges

report_seconds = Histogram(
    "geval_report_seconds",
    "Time to compute a report, or to find that nothing has changed.",
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)


@report_seconds.time()
def build_report(
    project: Project,
    *,
    judges: Collection[Judge] | None = None,
    criteria: Collection[Criterion] | None = None,
    options: ReportOptions | None = None,
    data: ReportData | None = None,
    probed: Sequence[Sensitivity] | None = None,
    on_step: OnStep = unseen,
) -> Report:
    """Return the report of a project, on some or all of its judges and criteria.

    Args:
        data: the data that `options` select; read from the database if None.
        probed: findings of probes of its judges; computed if None.
        on_step: called as each step begins.
    """
    options = options or ReportOptions()
    chosen_criteria = _chosen(
        project.criteria.all() if criteria is None else criteria, options.criteria
    )
    chosen_judges = _chosen(project.judges.all() if judges is None else judges, options.judges)
    if data is None:
        data = selected_data(project, chosen_judges, chosen_criteria, options)
    searches = searches_behind(project)
    return report_of(
        (project.slug, project.name),
        data,
        chosen_criteria,
        chosen_judges,
        options,
        _records(project, searches, probed),
        boards=_boards(project, data, chosen_judges, chosen_criteria, options, searches),
        on_step=on_step,
    )


def criterion_result(
    project: Project,
    criterion: Criterion,
    *,
    options: ReportOptions,
    data: ReportData,
    probed: Sequence[Sensitivity] | None = None,
) -> CriterionResult:
    """Return a report's part on one criterion, without significance letters, which cover all
    criteria.

    Args:
        data: the data that `options` select.
        probed: findings of probes of its judges; computed if None.
    """
    judges = _chosen(project.judges.all(), options.judges)
    records = _records(project, searches_behind(project), probed)
    return result_of(criterion, judges, data, options, records)


def selected_data(
    project: Project,
    judges: Collection[Judge],
    criteria: Collection[Criterion],
    options: ReportOptions,
) -> ReportData:
    """Return the data for a report: without locked ratings, and as the view selects it."""
    data = load_data(project, list(judges), list(criteria))
    return only_round(data, project, options.round).selected(options)


def _chosen(records: Collection[Any], ids: tuple[int, ...]) -> list[Any]:
    return [record for record in records if not ids or record.pk in ids]


def _records(project: Project, searches: Searches, probed: Sequence[Sensitivity] | None) -> Records:
    compared = project.judges.with_scores().count()
    return Records(compared, searches.seen, instructed_judges(project, probed))


def _boards(
    project: Project,
    data: ReportData,
    judges: Collection[Judge],
    criteria: Collection[Criterion],
    options: ReportOptions,
    searches: Searches,
) -> tuple[tuple[str, Leaderboard], ...]:
    """Return the results of comparisons by criterion. For all criteria together, a search counts as
    having seen what it saw on any of them."""
    boards = leaderboards(
        project, data, [*judges], [*criteria],
        annotators=options.annotators, round_id=options.round,
    )  # fmt: skip
    ids = {criterion.name: [criterion.pk] for criterion in criteria}
    every = [criterion.pk for criterion in criteria]
    return tuple(
        (
            name,
            with_seen(
                board,
                {label for pk in ids.get(name, every) for label in searches.made_among(judges, pk)},
            ),
        )
        for name, board in boards
    )
