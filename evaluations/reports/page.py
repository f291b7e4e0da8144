"""The report page: the paper's table, the verdicts and the sentences."""

from dataclasses import dataclass

from evaluations.models import Project
from evaluations.reports.low_coverage import LowCoverage, low_coverage
from evaluations.reports.running import RunInProgress, runs_in_progress
from evaluations.reports.serving.limits import is_large
from evaluations.reports.serving.live import DataVersion, data_version
from geval.reports.at_a_glance import AtAGlance, at_a_glance
from geval.reports.cautions import all_cautions, many_ties
from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.reports.paper_table import PaperTable, paper_table
from geval.reports.report import Report
from geval.reports.words import headline


@dataclass(frozen=True)
class ReportNumbers:
    """All of a report's page that has to be computed; what is kept of large projects' reports."""

    report: Report
    documents: int
    version: DataVersion | None
    low_coverage: tuple[LowCoverage, ...]


@dataclass(frozen=True)
class ReportPage:
    """A report with what its page needs around it."""

    numbers: ReportNumbers
    mark: str
    table: PaperTable
    headline: tuple[str, ...]
    glance: AtAGlance
    running: tuple[RunInProgress, ...]
    cautions: tuple[tuple[str, list[tuple[str, str]]], ...]
    ties: tuple[tuple[str, list[tuple[str, float]]], ...]

    @property
    def report(self) -> Report:
        return self.numbers.report

    @property
    def options(self) -> ReportOptions:
        return self.report.options

    @property
    def states_agreement(self) -> bool:
        """Whether a run in progress says what it has reached."""
        return any(run.agreement for run in self.running)

    @property
    def ratings(self) -> int:
        return sum(criterion.ratings for criterion in self.report.criteria)

    @property
    def annotators(self) -> int:
        return len({name for criterion in self.report.criteria for name in criterion.annotators})


def numbers_of(project: Project, report: Report, data: ReportData) -> ReportNumbers:
    """A report with the other numbers of its page.

    Args:
        data: what the report was computed from.
    """
    return ReportNumbers(
        report=report,
        documents=len(data.document_ids),
        version=data_version(project),
        low_coverage=low_coverage(project, report.options),
    )


def report_page(project: Project, numbers: ReportNumbers, *, mark: str) -> ReportPage:
    """The page's contents.

    Args:
        mark: of these numbers, by which the page learns of newer ones.
    """
    report, options = numbers.report, numbers.report.options
    # Agreement is read as it is now, of everything: a view of a part does not state it.
    states = not (options.is_filtered or options.judges or is_large(project))
    running = runs_in_progress(project, [one.pk for one in report.criteria] if states else ())
    judges = {run.judge for run in running}
    return ReportPage(
        numbers=numbers,
        mark=mark,
        table=paper_table(report, judges),
        headline=headline(report.criteria),
        glance=at_a_glance(report, judges),
        running=running,
        cautions=tuple((c.criterion, texts) for c in report.criteria if (texts := all_cautions(c))),
        ties=tuple((c.criterion, tied) for c in report.criteria if (tied := many_ties(c))),
    )
