"""Ratings by people and scores by evaluators, in the forms that tools write. Pure."""

import re
from typing import Any

from geval.files.cells import CellColumn
from geval.files.fields import CRITERION_LIMIT, ID_LIMIT, number_of, written_number
from geval.files.rows import is_text
from geval.files.tools.parts import Part

OVERALL = "overall"
# The question whose answer is a comment, and the field that has comments by person.
COMMENT, COMMENTS = "comment", "comments"
# Verdicts that are read as 1 and 0, a scale of two points.
VERDICTS = {
    "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0,
    "passed": 1.0, "failed": 0.0, "correct": 1.0, "incorrect": 0.0,
}  # fmt: skip
# A choice that begins with its number: "4 - good", "2: poor", "5 (excellent)".
_NUMBERED = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:[-–—:=).(/].*)?", re.DOTALL)


def points_of(value: Any) -> float | None:
    """Return a rating as a number on a scale, or None: numbers, verdicts, and choices with a
    number."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, list) and len(value) == 1:
        return points_of(value[0])
    if not isinstance(value, str):
        return number_of(value)
    plain = value.strip().lower()
    if plain in VERDICTS:
        return VERDICTS[plain]
    if (number := written_number(plain)) is not None:
        return number
    match = _NUMBERED.fullmatch(value)
    return written_number(match[1]) if match else None


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
        points = points_of(value.given)
        whose = "scores" if cell.by_judge else "ratings"
        if points is None:
            value.note_unused(f"{whose} without a number: {cell.criterion}")
        elif self.columns.setdefault(cell.target, points) != points:
            value.error(
                f"{cell.rater} gave {cell.criterion} twice, {self.columns[cell.target]:g} and"
                f" {points:g}; keep one"
            )
        value.skip()


def _short(name: str, most: int) -> str:
    """Return a name to be part of a column's name, where too long a name is reported."""
    return name.strip() or OVERALL if len(name) <= most else name
