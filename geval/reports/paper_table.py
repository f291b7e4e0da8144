"""The paper's table, judges by criteria, and that of pass or fail, for pages and texts."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from geval.reports.drawings.forest import ONE_RATER
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.verdicts.null_judges import TITLES, NullJudge
from geval.statistics.correlation import Coefficient
from geval.statistics.null_judges import SHOWN_NULLS
from geval.statistics.pass_fail import PassFail
from geval.texts.numbers import in_brackets, shown, two_decimals


@dataclass(frozen=True)
class JudgeCell:
    """A judge on a criterion in the paper's table: the chosen coefficient with interval and
    letters, and the other coefficient. `outputs` counts those so far if it is `running`."""

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
    cells: tuple[JudgeCell | None, ...]
    running: bool
    named: str = ""


@dataclass(frozen=True)
class OtherRow:
    """A row to compare judges with: for each criterion its value with the ends of its interval, and
    a remark: the tests that a null judge passes, or one rater's other coefficient."""

    name: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class VerdictShares:
    """A judge, or one that reads nothing, on pass or fail. `cells` are kappa, what it finds and
    keeps, and accuracy, each with the ends of its interval, in the order of VERDICT_HEADS."""

    criterion: str
    judge: str
    cells: tuple[tuple[str, str], ...]
    outputs: int
    is_null: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells, each with its interval."""
        return tuple(f"{value} {interval}".rstrip() for value, interval in self.cells)

    @property
    def labelled(self) -> tuple[tuple[str, str, str], ...]:
        """The cells, each with its head."""
        heads = zip(VERDICT_HEADS, self.cells, strict=True)
        return tuple((head, value, interval) for head, (value, interval) in heads)


SHARES_NOTE = (
    "Agreement on pass or fail, with 95 % intervals over documents: found is the share of the class"
    " to find that a judge finds (sensitivity), kept that of the other class that it keeps"
    " (specificity)."
)
VERDICT_HEADS = ("kappa", "found", "kept", "accuracy")


@dataclass(frozen=True)
class PaperTable:
    """The table: judges by their mean over criteria, the highest first, then those without one;
    null judges; and one rater. `second` is the coefficient next to the view's, `criteria` those of
    the table; those of pass or fail have `verdicts` instead."""

    criteria: tuple[str, ...]
    verdicts: tuple[VerdictShares, ...]
    rows: tuple[JudgeRow, ...]
    nulls: tuple[OtherRow, ...]
    rater: OtherRow
    second: Coefficient

    @property
    def note(self) -> str:
        """What the table of pass or fail has."""
        return SHARES_NOTE


def paper_table(report: Report, running: Container[int] = ()) -> PaperTable:
    """Build the table of a report.

    Args:
        running: the ids of judges whose scores still arrive.
    """
    second = report.options.second
    verdicts = tuple(verdict_shares(report))
    report = report.of_correlations
    return PaperTable(
        criteria=tuple(result.criterion for result in report.criteria),
        verdicts=verdicts,
        rows=_rows(report, second, running),
        nulls=_nulls(report),
        rater=OtherRow(ONE_RATER, tuple(_rater(result, second) for result in report.criteria)),
        second=second,
    )


def verdict_shares(report: Report) -> Iterator[VerdictShares]:
    """Yield the rows of judges on pass or fail by criterion, the best first, and those that read
    nothing."""
    for criterion in report.criteria:
        if not criterion.has_pass_fail:
            continue
        for judge in sorted(criterion.judges, key=criterion.compared_by, reverse=True):
            if passing := judge.analysis.passing:
                yield _shares(criterion.criterion, judge.named, passing)
        if majority := criterion.majority:
            shares = majority.kappa, majority.sensitivity, majority.specificity, majority.share
            cells = tuple((two_decimals(share), "") for share in shares)
            title = TITLES["majority"]
            yield VerdictShares(criterion.criterion, title, cells, criterion.rated_outputs, True)
        for null in criterion.shown_nulls:
            if null.passing:
                yield replace(_shares(criterion.criterion, null.title, null.passing), is_null=True)


def _shares(criterion: str, judge: str, passing: PassFail) -> VerdictShares:
    figures = (passing.kappa, passing.sensitivity, passing.specificity, passing.accuracy)
    cells = tuple((shown(each.estimate), in_brackets(each.interval)) for each in figures)
    return VerdictShares(criterion, judge, cells, passing.outputs)


def _rows(report: Report, second: Coefficient, running: Container[int]) -> tuple[JudgeRow, ...]:
    chosen = report.options.coefficient
    best, second_best = report.best(chosen), report.best(second)
    rows = []
    averages = {judge: report.average(judge) for judge in report.judges}
    for judge in sorted(
        averages, key=lambda name: (averages[name] is None, -(averages[name] or 0.0))
    ):
        cells = [
            _cell(criterion, result, second, (highest, second_highest), result.pk in running)
            if result
            else None
            for criterion, result, highest, second_highest in zip(
                report.criteria,
                report.row(judge),
                best,
                second_best,
                strict=True,
            )
        ]
        rows.append(
            JudgeRow(
                judge,
                tuple(cells),
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
) -> JudgeCell:
    options = criterion.options
    first, other = result.shown(options), result.correlations.estimates[second][options.level]
    return JudgeCell(
        criterion=criterion.pk,
        judge=result.pk,
        value=shown(first),
        interval=in_brackets(criterion.interval_of(result)),
        letters=result.letters,
        second=shown(other),
        is_best=first.value is not None and first.value == best[0],
        second_is_best=other.value is not None and other.value == best[1],
        reason=first.reason,
        outputs=result.correlations.pairs,
        running=running,
    )


def _nulls(report: Report) -> tuple[OtherRow, ...]:
    """Return a row for each null judge."""
    rows = []
    for name in SHOWN_NULLS:
        nulls = [
            next((null for null in criterion.nulls if null.name == name), None)
            for criterion in report.criteria
        ]
        if any(nulls):
            cells = tuple(
                (shown(null.correlation), in_brackets(null.interval), _passes(null))
                if null
                else ("–", "", "")
                for null in nulls
            )
            rows.append(OtherRow(TITLES[name], cells))
    return tuple(rows)


def _passes(null: NullJudge) -> str:
    return "passes the annotator test" if null.passes else ""


def _rater(criterion: CriterionResult, second: Coefficient) -> tuple[str, str, str]:
    """Return one rater's row at the view's level, with its interval, and at summary level its other
    coefficient."""
    is_summary = criterion.options.level == "summary"
    other = shown(criterion.agreement.ceiling[second]) if is_summary else ""
    return shown(criterion.ceiling), in_brackets(criterion.ceiling_interval), other
