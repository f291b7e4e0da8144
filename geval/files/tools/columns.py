"""Read the texts of a record by the names of their fields, ours or those usual in other tools."""

from collections.abc import Mapping
from typing import Any

from geval.files.column_aliases import NAMES
from geval.files.messages import turns_column
from geval.files.tools.parts import Part

MORE = ("session_id", "rate")
METADATA = "metadata."


def named_columns(*parts: Part, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Our columns, from the first of these objects that has one of the column's names.

    Columns `metadata.NAME` are kept; all other fields stay unread.

    Args:
        without: names with another meaning there, such as the id of an output.
    """
    named_columns: dict[str, Any] = {}
    for column, usual in (*NAMES.items(), *((name, (name,)) for name in MORE)):
        names = [name for name in usual if name not in without]
        given = (part[name] for name in names for part in parts if part[name].holds)
        # An output may be empty.
        blank = (part[column] for part in parts if part[column].given == "")
        if (first := next(given, next(blank, None))) is not None:
            named_columns[column] = first.value
    for part in parts:
        if not isinstance(part.given, Mapping):
            continue
        for name in part.given:
            if str(name).startswith(METADATA):
                named_columns[name] = part[name].value
        if column := turns_column(part.given):
            named_columns[column] = part[column].value
    if isinstance(named_columns.get("context"), list):
        named_columns["context"] = "\n\n".join(map(str, named_columns["context"]))
    return named_columns


def text_is_missing(columns: Mapping[str, Any], part: Part) -> bool:
    """Return whether the rated text, or what it answers, is missing; an error lists the possible
    names."""
    if turns_column(columns) or not part.sound:
        return False
    for column in ("source", "output"):
        if columns.get(column) is None:
            usual = ", ".join(NAMES[column][:6])
            has = ", ".join(map(str, part.given)) if isinstance(part.given, Mapping) else "none"
            part.error(
                f"no field is the {column}: give one of them a usual name ({usual}); the fields are"
                f" {has[:200]}"
            )
            return True
    return False
