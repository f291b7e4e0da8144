"""The report page: the paper's table, the verdicts and the sentences, judges with too low coverage,
and runs in progress, whose numbers are not final."""

from collections import Counter
from collections.abc import Collection

from evaluations.judging.runs.counts import finished_items
from evaluations.models import Project, RunItem
from evaluations.reports.run_results import describe_agreement
from evaluations.reports.serving.live import data_version, is_large
from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.reports.page import LowCoverage, ReportNumbers, ReportPage, RunInProgress, page_of
from geval.reports.report import Report


def low_coverage(project: Project, options: ReportOptions) -> tuple[LowCoverage, ...]:
    """Return the judges of a view with items below their minimum coverage, those with most such
    items first."""
    counting = RunItem.objects.filter(run__project=project, run__search=None, run__purpose="")
    items = counting.below_coverage()
    if options.judges:
        items = items.filter(run__judge__in=options.judges)
    if options.criteria:
        items = items.filter(criterion__in=options.criteria)
    if options.systems:
        items = items.filter(output__system__in=options.systems)
    if options.documents:
        items = items.filter(output__document__doc_id__icontains=options.documents)
    # An item that failed in several runs counts once.
    failed = set(items.values_list("run__judge", "output", "criterion"))
    counts = Counter(judge for judge, _output, _criterion in failed)
    judges = project.judges.in_bulk(list(counts))
    judges_below = [
        LowCoverage(judges[pk].label, n, judges[pk].min_coverage) for pk, n in counts.items()
    ]
    return tuple(sorted(judges_below, key=lambda coverage: -coverage.items))


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
            agreement=describe_agreement(run, criteria) if criteria else "",
        )
        for run in runs
    )


def numbers_of(project: Project, report: Report, data: ReportData) -> ReportNumbers:
    """Return a report with the other numbers of its page.

    Args:
        data: the data from which the report was computed.
    """
    return ReportNumbers(
        report=report,
        documents=len(data.document_ids),
        version=data_version(project),
        low_coverage=low_coverage(project, report.options),
    )


def report_page(project: Project, numbers: ReportNumbers, *, mark: str) -> ReportPage:
    """Return the page's contents.

    Args:
        mark: the version of these numbers, by which the page detects newer ones.
    """
    report, options = numbers.report, numbers.report.options
    # Agreement is computed live over all data; a view of a part does not state it.
    states = not (options.is_filtered or options.judges or is_large(project))
    running = runs_in_progress(
        project, [criterion.pk for criterion in report.criteria] if states else ()
    )
    return page_of(numbers, mark, running)
