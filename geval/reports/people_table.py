"""The table of a campaign's people: who is listed, in which order, and what is drawn of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from geval.reports.campaign_progress import AnnotatorProgress, CampaignProgress
from geval.reports.campaign_questions import QuestionPerson, Severity

# Cells are as wide as rho from here to 1.
LEAST_RHO = -0.4
# The drawing of an opened row, in pixels from its upper end.
MIDDLE, HALF = 32.0, 26.0
DOUBT, PERSON, ANSWERS = "doubt", "person", "answers"
# One question is sorted by its place, as its name may be that of another order.
BY_QUESTION = "question-"


@dataclass(frozen=True)
class Mark:
    """A part of the answers: `x` in percent of the drawing's width, the rest in pixels."""

    x: float
    y: float
    top: float | None
    bottom: float | None
    severity: Severity


@dataclass(frozen=True)
class Column:
    """A question: its place, the order by it, and the middle person's rho in percent of the
    width."""

    name: str
    order: str
    usual: float | None


@dataclass(frozen=True)
class Cell:
    """A person on a question. `dot`, `low` and `high` are in percent of the width, None where there
    is nothing to draw; `marks` are the severity over time, up to `reach` points."""

    column: Column
    of: QuestionPerson
    dot: float | None
    low: float | None
    high: float | None
    marks: tuple[Mark, ...]
    reach: float

    @property
    def apart(self) -> float | None:
        """The severity where its interval leaves out 0."""
        severity = self.of.severity
        return severity.points.value if severity.interval.leaves_out_zero else None


@dataclass(frozen=True)
class Row:
    """A person, with a cell for each question; none where no agreement is shown."""

    person: AnnotatorProgress
    cells: tuple[Cell, ...]
    is_open: bool

    @property
    def none(self) -> str:
        """A word for nothing to look at; empty where there is something."""
        return "" if any(self.person.doubts) or self.person.returned else "None"

    @property
    def nothing(self) -> str:
        """Why no agreement is shown on any question."""
        reasons = [of.rho.reason for of in self.person.questions]
        return "no answers that others gave too" if not reasons else reasons[0]


@dataclass(frozen=True)
class PeopleTable:
    """The columns and rows; `doubted` are the people with warnings, whatever is searched for."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    doubted: tuple[str, ...]


Order = Callable[[AnnotatorProgress], tuple[Any, ...]]


def orders_of(progress: CampaignProgress) -> dict[str, Order]:
    """Return the orders of the table, each by its name."""

    def by_rho(name: str) -> Order:
        def order(row: AnnotatorProgress) -> tuple[bool, float]:
            rho = next((of.rho.value for of in row.questions if of.question == name), None)
            return rho is None, rho or 0.0

        return order

    questions = enumerate(_questions(progress), start=1)
    return {
        DOUBT: lambda row: tuple(-count for count in row.doubts),
        PERSON: lambda row: (row.annotator.casefold(),),
        ANSWERS: lambda row: (-row.submitted,),
        **{f"{BY_QUESTION}{place}": by_rho(name) for place, name in questions},
    }


def people_table(
    progress: CampaignProgress, *, search: str = "", order: str = DOUBT, opened: int = 0
) -> PeopleTable:
    """Return the people of a campaign whose name contains a text.

    Args:
        order: one of `orders_of`.
        opened: the person whose row is open, by id.
    """
    questions, people = _questions(progress), progress.annotators
    of = {name: [each for row in people for each in row.questions if each.question == name]
          for name in questions}  # fmt: skip
    reach = {name: _reach(each) for name, each in of.items()}
    columns = tuple(
        Column(name, f"{BY_QUESTION}{place}", _usual(of[name]))
        for place, name in enumerate(questions, start=1)
    )
    wanted = search.casefold().strip()
    rows = [row for row in people if wanted in row.annotator.casefold()]
    return PeopleTable(
        columns,
        tuple(
            Row(row, _cells(row, columns, reach), is_open=row.pk == opened)
            for row in sorted(rows, key=orders_of(progress)[order])
        ),
        tuple(row.annotator for row in people if row.warnings),
    )


def _questions(progress: CampaignProgress) -> list[str]:
    return list(dict.fromkeys(of.question for row in progress.annotators for of in row.questions))


def _reach(people: Sequence[QuestionPerson]) -> float:
    """Return the largest severity over time on a question, so that drawings compare."""
    parts = [part for of in people for part in of.over_time]
    ends = [abs(end) for part in parts for end in part.interval.ends or (part.points.value or 0,)]
    return max(ends, default=0.0) or 1.0


def _usual(people: Sequence[QuestionPerson]) -> float | None:
    values = [of.rho.value for of in people if of.rho.value is not None]
    return _across(median(values)) if values else None


def _across(rho: float) -> float:
    return 100 * (max(rho, LEAST_RHO) - LEAST_RHO) / (1 - LEAST_RHO)


def _cells(
    row: AnnotatorProgress, columns: Sequence[Column], reach: dict[str, float]
) -> tuple[Cell, ...]:
    of = {each.question: each for each in row.questions}
    if all(each.rho.value is None for each in of.values()):
        return ()
    # Who answers at all answers every question.
    return tuple(_cell(column, of[column.name], reach[column.name]) for column in columns)


def _cell(column: Column, of: QuestionPerson, reach: float) -> Cell:
    ends = of.rho_interval.ends
    low, high = (_across(ends[0]), _across(ends[1])) if ends else (None, None)
    dot = None if of.rho.value is None else _across(of.rho.value)
    parts = of.over_time if len(of.over_time) > 1 else ()
    marks = tuple(_mark(part, place, len(parts), reach) for place, part in enumerate(parts))
    return Cell(column, of, dot, low, high, marks, reach)


def _mark(part: Severity, place: int, parts: int, reach: float) -> Mark:
    def down(points: float) -> float:
        return MIDDLE - HALF * points / reach

    ends = part.interval.ends
    top, bottom = (down(ends[1]), down(ends[0])) if ends else (None, None)
    x = 10.0 + 80.0 * place / (parts - 1)
    return Mark(x, down(part.points.value or 0.0), top, bottom, part)
