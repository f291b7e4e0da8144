"""The report page: the paper's table, the sentences, and the links behind each number."""

from dataclasses import dataclass

from evaluations.models import Project
from evaluations.reports.at_a_glance import AtAGlance, at_a_glance
from evaluations.reports.cautions import LowCoverage, all_cautions, low_coverage, many_ties
from evaluations.reports.data import ReportData
from evaluations.reports.options import ReportOptions
from evaluations.reports.report import CriterionResult, JudgeResult, Report
from evaluations.reports.running import RunInProgress, runs_in_progress
from evaluations.reports.serving.limits import is_large
from evaluations.reports.serving.live import DataVersion, data_version
from evaluations.reports.words import headline
from geval.statistics.correlation import Coefficient
from geval.statistics.null_judges import NULL_NAMES
from geval.texts.numbers import in_brackets, shown
from geval.verdicts.null_judges import TITLES, NullJudge


@dataclass(frozen=True)
class JudgeNumbers:
    """A judge on a criterion in the paper's table: the chosen coefficient with interval and
    letters, and the other. `outputs` count so far for one that is `running`."""

    criterion: int
    judge: int
    value: str
    interval: str
    letters: str
    second: str
    is_best: bool
    second_is_best: bool
    reason: str
    outputs: int
    running: bool


@dataclass(frozen=True)
class JudgeRow:
    """A judge's row of the paper's table; None where it has no scores."""

    judge: str
    cells: tuple[JudgeNumbers | None, ...]
    average: str
    average_is_best: bool
    running: bool
    named: str = ""


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
    rows: tuple[JudgeRow, ...]
    ceilings: tuple[tuple[str, str, str], ...]
    nulls: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]
    headline: tuple[str, ...]
    glance: AtAGlance
    running: tuple[RunInProgress, ...]
    cautions: tuple[tuple[str, list[tuple[str, str]]], ...]
    ties: tuple[tuple[str, list[tuple[str, float]]], ...]
    second: Coefficient

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
    second = options.second
    # Agreement is read as it is now, of everything: a view of a part does not state it.
    states = not (options.is_filtered or options.judges or is_large(project))
    running = runs_in_progress(project, [one.pk for one in report.criteria] if states else ())
    judges = {run.judge for run in running}
    return ReportPage(
        numbers=numbers,
        mark=mark,
        rows=_rows(report, second, judges),
        ceilings=tuple(_ceiling(criterion, options, second) for criterion in report.criteria),
        nulls=_nulls(report),
        headline=headline(report.criteria),
        glance=at_a_glance(report, judges),
        running=running,
        cautions=tuple((c.criterion, said) for c in report.criteria if (said := all_cautions(c))),
        ties=tuple((c.criterion, tied) for c in report.criteria if (tied := many_ties(c))),
        second=second,
    )


def _rows(report: Report, second: Coefficient, running: set[int]) -> tuple[JudgeRow, ...]:
    chosen = report.options.coefficient
    best, second_best = report.best(chosen), report.best(second)
    rows = []
    for judge in report.judges:
        average = report.average(judge)
        cells = [
            _cell(criterion, result, second, (highest, second_highest), result.pk in running)
            if result
            else None
            for criterion, result, highest, second_highest in zip(
                report.criteria,
                report.row(judge),
                best.by_criterion,
                second_best.by_criterion,
                strict=True,
            )
        ]
        is_best = average is not None and average == best.average
        rows.append(
            JudgeRow(
                judge,
                tuple(cells),
                "–" if average is None else f"{average:.2f}",
                is_best,
                any(cell.running for cell in cells if cell),
                report.named(judge),
            )
        )
    return tuple(rows)


def _cell(
    criterion: CriterionResult,
    result: JudgeResult,
    second: Coefficient,
    best: tuple[float | None, float | None],
    running: bool,
) -> JudgeNumbers:
    options = criterion.options
    first, other = result.shown(options), result.correlations.estimates[second][options.level]
    return JudgeNumbers(
        criterion=criterion.pk,
        judge=result.pk,
        value=shown(first),
        interval=in_brackets(result.analysis.shown),
        letters=result.letters,
        second=shown(other),
        is_best=first.value is not None and first.value == best[0],
        second_is_best=other.value is not None and other.value == best[1],
        reason=first.reason,
        outputs=result.correlations.pairs,
        running=running,
    )


def _nulls(report: Report) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    """A row for each judge that reads nothing: in each criterion its value with the ends of its
    interval, and what it passes."""
    rows = []
    for name in NULL_NAMES:
        found = [
            next((null for null in criterion.nulls if null.name == name), None)
            for criterion in report.criteria
        ]
        if any(found):
            cells = tuple(
                (shown(null.correlation), in_brackets(null.interval), _passes(null))
                if null
                else ("–", "", "")
                for null in found
            )
            rows.append((TITLES[name], cells))
    return tuple(rows)


def _passes(null: NullJudge) -> str:
    return "passes the annotator test" if null.passes else ""


def _ceiling(
    criterion: CriterionResult, options: ReportOptions, second: Coefficient
) -> tuple[str, str, str]:
    """The human ceiling at the view's level, its interval, and at summary level that of the other
    coefficient."""
    other = shown(criterion.agreement.ceiling[second]) if options.level == "summary" else ""
    return shown(criterion.ceiling), in_brackets(criterion.ceiling_interval), other
