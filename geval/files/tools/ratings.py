"""Ratings by people and scores by evaluators, in the forms that tools write. Pure."""

from typing import Any

from geval.files.cells import CellColumn
from geval.files.fields import (
    CRITERION_LIMIT,
    ID_LIMIT,
    is_not_applicable,
    number_in,
    number_of,
    only_of,
)
from geval.files.rows import is_text
from geval.files.tools.parts import Part
from geval.statistics.scales import NOT_APPLICABLE, value_in_pair

OVERALL = "overall"
# The question whose answer is a comment, and the field that has comments by person.
COMMENT, COMMENTS = "comment", "comments"


def points_of(value: Any) -> float | None:
    """Return a rating as a number on a scale, or None: numbers, words of a pair such as yes and no,
    and choices with a number."""
    value = _written(value)
    if not isinstance(value, str):
        return number_of(value)
    in_pair = value_in_pair(value)
    return number_in(value.strip()) if in_pair is None else in_pair


def _written(value: Any) -> Any:
    """Return a rating as in our own files: the only one of a list, and a word for a boolean."""
    value = only_of(value)
    return str(value).lower() if isinstance(value, bool) else value


# Records whose state begins so are no answers, whichever tool wrote them.
NO_ANSWERS = ("discard", "draft", "pending", "skip", "cancel", "fail", "error", "overrid", "reject",
              "return", "timed")  # fmt: skip


def is_answer(status: Part, what: str) -> bool:
    """Return whether a record with this status is an answer; others are listed as unused.

    Args:
        what: the records, in the plural, such as "responses".
    """
    state = status.given.strip().lower() if isinstance(status.given, str) else ""
    if state.startswith(NO_ANSWERS):
        status.note_unused(f"{what} that are {state}")
        return False
    status.skip()
    return True


class OutputRatings:
    """The ratings and scores of an output, as columns of its record."""

    def __init__(self) -> None:
        self.columns: dict[str, Any] = {}

    def rating(self, criterion: str, annotator: str, value: Part) -> None:
        """Add a person's rating; a rating without a number is listed as unused."""
        self._add(
            CellColumn(_short(criterion, CRITERION_LIMIT), _short(annotator, ID_LIMIT)), value
        )

    def score(self, criterion: str, judge: str, value: Part) -> None:
        """Add an evaluator's score; a score without a number is listed as unused."""
        cell = CellColumn(_short(criterion, CRITERION_LIMIT), _short(judge, ID_LIMIT), True)
        self._add(cell, value)

    def comment(self, annotator: str, text: Part) -> None:
        """Add what a person wrote with their ratings."""
        if text.holds:
            comments = self.columns.setdefault(COMMENTS, {})
            comments[_short(annotator, ID_LIMIT)] = str(text.value)

    def _add(self, cell: CellColumn, value: Part) -> None:
        if not value.holds:
            return
        if not is_text(cell.criterion + cell.rater):
            value.error("a name is not valid UTF-8 text; save the file as UTF-8")
            return
        points, written = points_of(value.given), _written(value.given)
        whose = "scores" if cell.by_judge else "ratings"
        if points is None and not is_not_applicable(written):
            value.note_unused(f"{whose} without a number: {cell.criterion}")
            value.skip()
            return
        # What a word or "4/5" stands for depends on its criterion, so it stays one.
        cell_value = written if isinstance(written, str) else points
        earlier = points_of(self.columns.setdefault(cell.target, cell_value))
        if earlier != points:
            both = (NOT_APPLICABLE if each is None else f"{each:g}" for each in (earlier, points))
            value.error(f"{cell.rater} gave {cell.criterion} twice, {' and '.join(both)}; keep one")
        value.skip()


def _short(name: str, most: int) -> str:
    """Return a name to be part of a column's name, where too long a name is reported."""
    return name.strip() or OVERALL if len(name) <= most else name
