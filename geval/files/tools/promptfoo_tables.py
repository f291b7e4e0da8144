"""Tables of promptfoo: a row for each test, with a column for each provider and prompt."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from geval.files.tools.columns import named_columns
from geval.files.tools.exchanges import decoded
from geval.files.tools.parts import Part
from geval.files.tools.promptfoo import JUDGE, ONLY
from geval.files.tools.ratings import OutputRatings

TITLE = "a table of promptfoo's results"
MARKS = ()
BEGINNINGS: tuple[str, ...] = ("[",)
_COLUMN = re.compile(r"\[(?P<provider>[^\]]{1,200})\]\s.*", re.DOTALL)
_RESULT = re.compile(r"\[(?P<state>PASS|FAIL|ERROR)\](?:\s*\((?P<score>\d+(?:\.\d+)?)\))?\s?")
# What precedes the output where an assertion failed: its reason.
_AFTER_REASON = "\n---\n"
# Columns that newer versions write after each result, instead of a mark before the output.
_STATE, _SCORE, _NAMED, _METRIC = "Status", "Score", "Named Scores", "Metric: "
_OF_RESULTS = (_STATE, _SCORE, _NAMED, "Grader Reason", "Comment")
_OF = "{} of {}"


def with_results_named(header: Sequence[str]) -> tuple[str, ...]:
    """Return a header in which each column about a result has the result's name."""
    names: list[str] = []
    result = ""
    for name in header:
        is_about_it = result and (name in _OF_RESULTS or name.startswith(_METRIC))
        if not is_about_it:
            result = name if _COLUMN.fullmatch(name) else ""
        names.append(_OF.format(name, result) if is_about_it else name)
    return tuple(names)


def has_result_columns(names: Collection[str]) -> bool:
    """Return whether a table has columns of results."""
    return any(map(_COLUMN.fullmatch, names))


def knows(record: Mapping[str, Any]) -> bool:
    cells = {name: str(value) for name, value in record.items() if _COLUMN.fullmatch(name)}
    return bool(cells) and all(
        _OF.format(_STATE, name) in record or not cell or _RESULT.match(cell)
        for name, cell in cells.items()
    )


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield each provider's output, with its score; what stands before the output is no part of
    it."""
    columns = named_columns(record)
    columns.pop("output", None)
    taken: Counter[str] = Counter()
    for match in filter(None, map(_COLUMN.fullmatch, record.reading.record)):
        name, provider = match[0], match["provider"]
        taken[provider] += 1
        number = f", prompt {taken[provider]}" if taken[provider] > 1 else ""
        ratings = OutputRatings()
        output = _output(record, name, ratings)
        if output is None:
            record[name].note_unused("results with an error")
            continue
        yield {**columns, "system_id": f"{provider}{number}", "output": output, **ratings.columns}


def _output(record: Part, name: str, ratings: OutputRatings) -> str | None:
    """Return a result's output, and add its scores; None if there is none."""
    cell = record[name]
    text = str(cell.value or "")
    state, score = (record[_OF.format(part, name)] for part in (_STATE, _SCORE))
    outcome = state.name()
    if outcome:
        named = decoded(record[_OF.format(_NAMED, name)])
        for criterion, value in named.items() if named.holds else ():
            ratings.score(criterion, JUDGE, value)
    elif result := _RESULT.match(text):
        outcome, text = result["state"], text[result.end() :]
        score = Part(cell.reading, cell.path, float(result["score"] or outcome == "PASS"))
        text = text.rpartition(_AFTER_REASON)[2] if outcome == "FAIL" else text
    if outcome in ("", "ERROR"):
        return None
    ratings.score(ONLY, JUDGE, score)
    return text
