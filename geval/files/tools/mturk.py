"""Results of Amazon Mechanical Turk: a row for each assignment, with columns Input and Answer."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from geval.files.contents import may_be_rated
from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, is_answer

TITLE = "results of Mechanical Turk"
MARKS = ("WorkerId",)
_INPUT, _ANSWER = "Input.", "Answer."
_BEGINNINGS = ("HIT", "Assignment", "Lifetime", "Last", "Approval", "Number", "Requester", "Reward")


def is_of_turk(names: Collection[str]) -> bool:
    """Return whether a table has the columns of assignments."""
    return "WorkerId" in names and any(name.startswith(_ANSWER) for name in names)


def knows(record: Mapping[str, Any]) -> bool:
    return is_of_turk(record)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield what was shown with the worker's answers that have a number and are not about the
    worker; rejected work is none."""
    if not is_answer(record["AssignmentStatus"], "assignments"):
        return
    who = record["WorkerId"].name()
    output_ratings = OutputRatings()
    shown: dict[str, Part] = {}
    for name in record.reading.record:
        if name.startswith(_INPUT):
            shown[name.removeprefix(_INPUT)] = record[name]
        elif name.startswith(_ANSWER) and may_be_rated(name):
            output_ratings.rating(name.removeprefix(_ANSWER), who, record[name])
        elif name.startswith(_BEGINNINGS):
            record[name].skip()
    inputs = Part(record.reading, (), {name: part.given for name, part in shown.items()})
    columns = named_columns(inputs)
    for part in shown.values():
        part.skip()
    if not text_is_missing(columns, inputs):
        yield {**columns, **output_ratings.columns}
