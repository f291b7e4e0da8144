"""Tables with a column for each system: `output_gpt-4o`, `output_llama`, `quality_gpt-4o_Anna`."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings

TITLE = "a table with a column for each system"
MARKS = ()
# How the columns of outputs begin; what follows is the system's name.
BEGINNINGS: tuple[str, ...] = tuple(
    f"{word}{mark}"
    for small in ("output", "response", "answer", "summary")
    for word in (small, small.capitalize())
    for mark in "_.: "
)
# Of limited length, like the text around it: a column may have any name.
_MARK = r"[_.: ]{1,9}"


def has_system_columns(names: Collection[str]) -> bool:
    """Return whether a table with these columns has several systems' outputs in a row."""
    return len(_systems(names)) > 1 and "system_id" not in names and "output" not in names


def knows(record: Mapping[str, Any]) -> bool:
    return has_system_columns(record)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield an output for each system with a text, with the ratings in columns with its name."""
    systems = _systems(record.given)
    rated = _rated(record.given, systems)
    who = record["annotator"].name()
    shared = named_columns(record, without=("summary", "answer", "response"))
    for system, column in systems.items():
        text = record[column].text()
        output_ratings = OutputRatings()
        for name, (of, criterion, rater) in rated.items():
            if of == system:
                output_ratings.rating(criterion, rater or who or "rater", record[name])
        if text:  # an empty cell is not an output here
            yield {**shared, "system_id": system, "output": text, **output_ratings.columns}


def _systems(names: Collection[str]) -> dict[str, str]:
    """Return the column of each system's outputs, by its name."""
    columns = [name for name in names if name.startswith(BEGINNINGS)]
    return {re.split(_MARK, name, maxsplit=1)[1].strip(): name for name in columns}


def _rated(
    record: Mapping[str, Any], systems: Mapping[str, str]
) -> dict[str, tuple[str, str, str]]:
    """System, criterion and rater of each column that names a system and holds no outputs."""
    rated = {}
    # The longest name first: gpt-4o-mini is not gpt-4o.
    for system in sorted(systems, key=len, reverse=True):
        name_of = re.escape(system)
        forms = (
            re.compile(
                rf"(?P<criterion>.{{1,200}}?){_MARK}{name_of}(?:{_MARK}(?P<rater>.{{1,200}}))?"
            ),
            re.compile(
                rf"{name_of}{_MARK}(?P<criterion>.{{1,200}}?)(?:{_MARK}(?P<rater>.{{1,200}}))?"
            ),
        )
        for name in record:
            if name in rated or name in systems.values():
                continue
            match = next((m for form in forms if (m := form.fullmatch(str(name)))), None)
            if match:
                rated[name] = (system, match["criterion"], match["rater"] or "")
    return rated
