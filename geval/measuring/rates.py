"""The true pass rate, or mean rating, of each system from many judged and few labelled outputs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from geval.measuring.inputs import InputError, Source
from geval.measuring.measuring import Ends, measure
from geval.measuring.reading import Ask, nobody
from geval.reports.report import JudgeResult
from geval.statistics.thresholds import PPI_RATINGS
from geval.texts.numbers import thin, two_decimals


@dataclass(frozen=True)
class Rate:
    """A system's pass rate (a mean on other scales), by the judge alone over all `outputs` it
    judged, and corrected by people's ratings of `labelled` ones, with the 95 % interval. `more`
    labels would halve it; `reason` says why there is no corrected rate or interval."""

    by: str
    outputs: int
    labelled: int
    rate: float | None = None
    low: float | None = None
    high: float | None = None
    judged: float | None = None
    more: int | None = None
    reason: str = ""

    def __str__(self) -> str:
        alone = "" if self.judged is None else f"; the judge alone {two_decimals(self.judged)}"
        counts = f"{thin(self.labelled)} of {thin(self.outputs)} labelled"
        if self.rate is None:
            return f"{self.by}: no rate, as {self.reason}{alone}; {counts}"
        ends = f" (no interval: {self.reason})"
        if self.low is not None and self.high is not None:
            ends = f" [{two_decimals(self.low)}, {two_decimals(self.high)}]"
        more = "" if self.more is None else f"; {thin(self.more)} more labels halve the interval"
        return f"{self.by}: {two_decimals(self.rate)}{ends}{alone}; {counts}{more}"


@dataclass(frozen=True)
class Rates:
    """The rates of a criterion by a judge, in order of their names, and notes on them."""

    criterion: str
    judge: str
    rates: tuple[Rate, ...]
    notes: tuple[str, ...] = ()

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each rate."""
        return [asdict(rate) for rate in self.rates]

    def __str__(self) -> str:
        head = f"{self.criterion}, by {self.judge}"
        return "\n".join([head, *(f"  {rate}" for rate in self.rates), *self.notes])

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__


def rate(
    source: Source,
    *,
    by: str = "system",
    human: str | list[str] | None = None,
    judge: str | None = None,
    criterion: str | None = None,
    document: str | None = None,
    scale: Ends | Mapping[str, Ends] | None = None,
    sheet: str = "",
    ask: Ask = nobody,
) -> Rates:
    """Return the true pass rate, or the mean on other scales, of each system or week, from outputs
    that a judge scored and few of which people labelled, drawn at random.

    On pass or fail the estimate is post-stratified by the judge's verdict (Cochran, 1977), and
    otherwise prediction-powered (Angelopoulos et al., 2023): a judge that errs makes intervals
    wider, and not wrong.

    Args:
        source: as for `measure`.
        by: the column whose values get a rate each.
        human, judge, document: the columns of people's labels, of the judge's, and of what was
            written about.
        criterion: which one, where there are several; `judge` which judge.

    Raises:
        QuestionError, InputError: as for `measure`; several criteria or judges, and none is named.

    >>> table = [
    ...     {"id": n, "week": f"w{n % 2}", "judge": n % 5 > 0, "human": n % 7 > 0 if n < 80 else ""}
    ...     for n in range(400)
    ... ]
    >>> first, _second = rate(table, by="week", human="human", judge="judge", document="id").rates
    >>> first.by, first.outputs, first.labelled
    ('w0', 200, 40)
    """
    measured = measure(
        source,
        human=human,
        judge=judge,
        criterion=criterion,
        document=document,
        system=by,
        scale=scale,
        sheet=sheet,
        ask=ask,
    )
    names = [each.criterion for each in measured.ordered_criteria(criterion or "")]
    if len(names) > 1:
        raise InputError(f"Name one criterion (there are: {', '.join(names)}).")
    (result,) = (each for each in measured.report.criteria if each.criterion == names[0])
    if len(result.judges) != 1:
        judges = ", ".join(each.judge for each in result.judges)
        raise InputError(f"Name one judge (there are: {judges}).")
    (judged,) = result.judges
    rates = [_rate_of(name, index, judged) for index, name in enumerate(measured.report.systems)]
    notes: tuple[str, ...] = ()
    if not judged.analysis.ppi.is_random:
        notes = (
            "The judge scores labelled and other outputs differently, so the labelled ones are no"
            " random sample of all; on pass or fail that does no harm if they were drawn by the"
            " judge's verdict alone.",
        )
    return Rates(result.criterion, judged.judge, tuple(sorted(rates, key=lambda of: of.by)), notes)


def _rate_of(name: str, index: int, judged: JudgeResult) -> Rate:
    """Return the rate of a system, by its position in the report."""
    if judged.analysis.passing is not None:
        own = judged.analysis.passing.systems[index]
        corrected, ends = own.corrected.estimate, own.corrected.interval
        return Rate(
            name,
            own.outputs,
            own.labelled,
            corrected.value,
            ends.low,
            ends.high,
            judged=own.judged,
            more=own.more,
            reason=corrected.reason,
        )
    table = judged.analysis.ppi.systems[index]
    mean, few = table.mean, f"it takes {PPI_RATINGS} labels"
    if mean is None:
        return Rate(name, table.outputs, table.rated, reason=few)
    reason = few if mean.low is None else ""
    return Rate(name, table.outputs, table.rated, mean.estimate, mean.low, mean.high, reason=reason)
