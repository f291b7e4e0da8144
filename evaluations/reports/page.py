"""The report page: the paper's table, the verdicts and the sentences."""

from evaluations.models import Project
from evaluations.reports.low_coverage import low_coverage
from evaluations.reports.running import runs_in_progress
from evaluations.reports.serving.limits import is_large
from evaluations.reports.serving.live import data_version
from geval.reports.data import ReportData
from geval.reports.page import ReportNumbers, ReportPage, page_of
from geval.reports.report import Report


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
