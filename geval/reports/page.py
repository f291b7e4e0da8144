"""The report page: the paper's table, verdicts and sentences, with runs in progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from geval.reports.at_a_glance import AtAGlance, at_a_glance
from geval.reports.cautions import all_cautions, many_ties
from geval.reports.options import ReportOptions
from geval.reports.paper_table import PaperTable, paper_table
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.words import headline
from geval.statistics.correlation import COEFFICIENTS, Level
from geval.statistics.pass_fail import SystemRate
from geval.statistics.ppi import SystemMean
from geval.texts.numbers import in_brackets, shown, whole_percent


@dataclass(frozen=True)
class LowCoverage:
    """How many items of a judge have no score because their coverage is below its minimum."""

    judge: str
    items: int
    minimum: float


@dataclass(frozen=True)
class RunInProgress:
    """A run that is being executed, its judge's id, and how many of its items are done or failed;
    `agreement` is its judge's agreement so far, in words."""

    pk: int
    judge: int
    name: str
    address: str
    finished: int
    total: int
    agreement: str = ""

    @property
    def share(self) -> float:
        return self.finished / self.total if self.total else 0.0


@dataclass(frozen=True)
class DataVersion:
    """The last change of a project's ratings or scores: its number, which only increases, and
    time."""

    number: int
    at: datetime


@dataclass(frozen=True)
class ReportNumbers:
    """The computed parts of a report's page, which are stored for large projects."""

    report: Report
    documents: int
    version: DataVersion | None
    low_coverage: tuple[LowCoverage, ...]


@dataclass(frozen=True)
class ReportPage:
    """A report with the other content of its page."""

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
        """Whether a run in progress states an agreement."""
        return any(run.agreement for run in self.running)

    @property
    def ratings(self) -> int:
        # Totals of rubrics are no further ratings.
        return sum(each.ratings for each in self.report.criteria if not each.items)

    @property
    def not_applicable(self) -> int:
        """On how many outputs people said so, over all criteria."""
        people = {each.criterion: each.people for each in self.report.not_applicable}
        return sum(people.values())

    @property
    def annotators(self) -> int:
        return len({name for criterion in self.report.criteria for name in criterion.annotators})


def page_of(numbers: ReportNumbers, mark: str, running: tuple[RunInProgress, ...]) -> ReportPage:
    """Return the page of a report.

    Args:
        mark: the version of these numbers, by which the page detects newer ones.
        running: runs whose judges' numbers are not final.
    """
    judges = {run.judge for run in running}
    report = numbers.report
    return ReportPage(
        numbers=numbers,
        mark=mark,
        table=paper_table(report, judges),
        headline=headline(report.criteria, report.labels),
        glance=at_a_glance(report, judges),
        running=running,
        cautions=tuple((c.criterion, texts) for c in report.criteria if (texts := all_cautions(c))),
        ties=tuple((c.criterion, tied) for c in report.criteria if (tied := many_ties(c))),
    )


@dataclass(frozen=True)
class TableNumber:
    """A number as shown in the table, with the reason if it is undefined."""

    text: str
    reason: str
    begins_group: bool
    interval: str


def estimate_cells(result: JudgeResult, levels: Sequence[Level]) -> list[TableNumber]:
    """Return a judge's coefficients at some levels, in the order of the table's columns."""
    estimates = result.correlations.estimates
    return [
        TableNumber(
            text=shown(estimates[coefficient][level]),
            reason=estimates[coefficient][level].reason,
            begins_group=coefficient == COEFFICIENTS[0],
            interval=in_brackets(result.intervals[coefficient]) if level == "summary" else "",
        )
        for level in levels
        for coefficient in COEFFICIENTS
    ]


def share_of(criterion: CriterionResult, result: JudgeResult) -> str:
    """Return a judge's correlation in its view as a share of what one rater reaches."""
    share = criterion.share_of_ceiling(result)
    return "–" if share is None or share < 0 else whole_percent(share)


def rate_rows(result: JudgeResult, systems: tuple[str, ...]) -> list[tuple[str, SystemRate]]:
    """Systems with their pass rates, in the report's order."""
    passing = result.analysis.passing
    return list(zip(systems, passing.systems, strict=True)) if passing else []


def ppi_rows(result: JudgeResult, systems: tuple[str, ...]) -> list[tuple[str, SystemMean]]:
    """Systems with their prediction-powered means, the best first."""
    pairs = list(zip(systems, result.analysis.ppi.systems, strict=True))
    return sorted(
        pairs, key=lambda pair: -(pair[1].mean.estimate if pair[1].mean else float("-inf"))
    )
