"""Tables of promptfoo: a row for each test, with a column for each provider and prompt."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns
from geval.files.tools.parts import Part
from geval.files.tools.promptfoo import JUDGE, ONLY
from geval.files.tools.ratings import OutputRatings

TITLE = "a table of promptfoo's results"
MARKS = ()
BEGINNINGS = ("[",)
_COLUMN = re.compile(r"\[(?P<provider>[^\]]{1,200})\]\s.*", re.DOTALL)
_RESULT = re.compile(r"\[(?P<state>PASS|FAIL|ERROR)\](?:\s*\((?P<score>\d+(?:\.\d+)?)\))?\s?")
# What precedes the output where an assertion failed: its reason.
_AFTER_REASON = "\n---\n"


def has_result_columns(names: Collection[str]) -> bool:
    """Return whether a table has columns of results."""
    return any(map(_COLUMN.fullmatch, names))


def knows(record: Mapping[str, Any]) -> bool:
    cells = [str(value) for name, value in record.items() if _COLUMN.fullmatch(name)]
    return bool(cells) and all(_RESULT.match(cell) for cell in cells if cell)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield each provider's output, with its score; what stands before the output is no part of
    it."""
    results = [name for name in record.reading.record if _COLUMN.fullmatch(name)]
    columns = named_columns(record)
    columns.pop("output", None)
    taken: dict[str, int] = {}
    for name in results:
        match = _COLUMN.fullmatch(name)
        provider = match["provider"] if match else name
        taken[provider] = taken.get(provider, 0) + 1
        number = f", prompt {taken[provider]}" if taken[provider] > 1 else ""
        cell = record[name]
        result = _RESULT.match(str(cell.value or ""))
        if result is None or result["state"] == "ERROR":
            cell.note_unused("results with an error")
            continue
        text = str(cell.given)[result.end() :]
        ratings = OutputRatings()
        score = result["score"] or ("1" if result["state"] == "PASS" else "0")
        ratings.score(ONLY, JUDGE, Part(cell.reading, cell.path, float(score)))
        output = text.rpartition(_AFTER_REASON)[2]
        yield {**columns, "system_id": f"{provider}{number}", "output": output, **ratings.columns}
