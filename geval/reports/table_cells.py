"""Cells and rows of a report's tables, as its page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.reports.report import CriterionResult, JudgeResult
from geval.statistics.correlation import COEFFICIENTS, Level
from geval.statistics.passing import SystemRate
from geval.statistics.ppi import SystemMean
from geval.texts.numbers import in_brackets, shown, whole_percent


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
    return "–" if share is None else whole_percent(share)


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
