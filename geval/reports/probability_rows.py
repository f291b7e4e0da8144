"""The calibration of two judges' probabilities: rows of a criterion, and reliability diagrams."""

from collections.abc import Iterable
from dataclasses import dataclass

from geval.reports.probabilities import PairProbabilities, in_words
from geval.statistics.calibration import ReliabilityBin
from geval.statistics.probability_calibration import ProbabilityCalibration
from geval.statistics.resampling import Interval
from geval.texts.numbers import two_decimals

# A diagram's square, in percents of the drawing.
LEFT, RIGHT, TOP, BOTTOM = 14, 96, 6, 88


@dataclass(frozen=True)
class DiagramDot:
    """A bin: the positions of its dot and interval's ends (empty without one), and its table
    row."""

    x: str
    y: str
    low: str
    high: str
    row: tuple[str, str, str, int]


@dataclass(frozen=True)
class Diagram:
    """A judge's reliability diagram on a criterion."""

    criterion: str
    judge: str
    dots: tuple[DiagramDot, ...]


@dataclass(frozen=True)
class ProbabilityRow:
    """A judge's numbers on a criterion, and the conclusion."""

    judge: str
    numbers: ProbabilityCalibration
    in_words: str


@dataclass(frozen=True)
class CriterionRows:
    """A criterion with the rows of both judges; if empty, `pair.reason` says why."""

    pair: PairProbabilities
    rows: tuple[ProbabilityRow, ...]


def criterion_rows(pair: PairProbabilities, names: tuple[str, str]) -> CriterionRows:
    """Return the rows of a criterion on which two judges gave probabilities."""
    if pair.nothing is None:
        return CriterionRows(pair, ())
    return CriterionRows(
        pair,
        tuple(
            ProbabilityRow(name, numbers, in_words(numbers, pair.nothing))
            for name, numbers in zip(names, pair.judges, strict=True)
        ),
    )


def diagrams_of(criteria: Iterable[CriterionRows]) -> tuple[Diagram, ...]:
    """Return a diagram for each judge on each criterion."""
    return tuple(
        Diagram(on.pair.name, row.judge, tuple(_dot(*each) for each in row.numbers.curve))
        for on in criteria
        for row in on.rows
    )


def _dot(at: ReliabilityBin, interval: Interval) -> DiagramDot:
    ends = interval.ends
    return DiagramDot(
        _across(at.score),
        _up(at.rating),
        _up(ends[0]) if ends else "",
        _up(ends[1]) if ends else "",
        (
            two_decimals(at.score),
            two_decimals(at.rating),
            f"{two_decimals(ends[0])} to {two_decimals(ends[1])}" if ends else "–",
            at.outputs,
        ),
    )


def _across(share: float) -> str:
    return f"{LEFT + (RIGHT - LEFT) * share:.2f}%"


def _up(share: float) -> str:
    return f"{BOTTOM - (BOTTOM - TOP) * share:.2f}%"
