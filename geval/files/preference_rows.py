"""Read preferences from uploaded files: our own columns, and MT-bench's format. Pure.

Our columns: `doc_id, system_a, system_b, winner, annotator`, optionally `criterion`, `strength` and
`shown_first`. MT-bench's: `question` (or `question_id`), `model_a`, `model_b`, `turn`, `winner`,
`judge`; or all of them in a single `key`, `question__model_a__model_b__turn`. Each turn after the
first is a separate document, named `question__turn`.

They belong to a person named in `annotator`, or a judge named in our column `judge`. MT-bench names
people and models in `judge`, models with their prompt as `["gpt-4", "pair"]`; a plain name there is
a person's.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from geval.files.fields import COMMENT_LIMIT, ID_LIMIT
from geval.files.rows import FileErrors, PreferenceRow, is_text
from geval.texts.spelling import as_name
from geval.texts.turns import NAME_SEPARATOR as SEPARATOR

DOCUMENT = ("doc_id", "question", "question_id")
FIRST = ("system_a", "model_a")
SECOND = ("system_b", "model_b")
ANNOTATOR = ("annotator", "judge")
FIRST_WINS = ("a", "model_a", "system_a", "a wins")
SECOND_WINS = ("b", "model_b", "system_b", "b wins")


def is_preference(columns: Collection[str]) -> bool:
    """Return whether a header or a record describes comparisons."""
    return "winner" in columns and ("key" in columns or any(name in columns for name in FIRST))


def is_preference_map(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a whole file of the form {annotator: {key: winner}}."""
    return bool(record) and all(
        isinstance(value, dict) and value and all(SEPARATOR in key for key in value)
        for value in record.values()
    )


def preferences_of_map(
    record: Mapping[str, Any], line: int, name: str, errors: FileErrors
) -> Iterator[PreferenceRow]:
    for annotator, choices in record.items():
        for key, winner in choices.items():
            fields = {"annotator": annotator, "key": key, "winner": winner}
            yield from read_preference(fields, line, name, errors)


def read_preference(
    record: Mapping[str, Any], line: int, name: str, errors: FileErrors
) -> Iterator[PreferenceRow]:
    """Read the comparison in a record; errors are collected."""
    before = errors.total
    document, first, second, turn = _compared(record, line, name, errors)
    annotator = _named(record, ANNOTATOR, "annotator", line, name, errors)
    by_judge = _is_by_judge(record)
    criterion = _text(record.get("criterion"))
    comment = "" if by_judge else _text(record.get("comment"))
    value = _value(record, first, second, line, name, errors)
    if first and first == second:
        errors.add(name, line, "system_b", f"{first} is compared with itself")
    shown_first = _text(record.get("shown_first")).lower()
    if shown_first not in ("", "a", "b"):
        errors.add(
            name, line, "shown_first", f"expected a, b or nothing, found {shown_first[:40]!r}"
        )
    for column, text in (
        ("doc_id", document),
        ("system_a", first),
        ("system_b", second),
        ("criterion", criterion),
        ("comment", comment),
    ):
        most = COMMENT_LIMIT if column == "comment" else ID_LIMIT
        if len(text) > most:
            errors.add(name, line, column, f"{len(text)} characters; the limit is {most}")
        elif "\0" in text or not is_text(text):
            errors.add(
                name,
                line,
                column,
                "is not valid UTF-8 text, or contains a NUL character; save the file as UTF-8",
            )
    if errors.total == before:
        left = None if not shown_first else shown_first == "a"
        yield PreferenceRow(
            line, document, first, second, criterion, annotator, value, left, turn, by_judge,
            comment,
        )  # fmt: skip


def _is_by_judge(record: Mapping[str, Any]) -> bool:
    annotator, judge = record.get("annotator"), record.get("judge")
    if isinstance(annotator or judge, list):
        return True
    return bool(judge) and not _text(annotator) and FIRST[0] in record


def _compared(
    record: Mapping[str, Any], line: int, name: str, errors: FileErrors
) -> tuple[str, str, str, str]:
    key = _text(record.get("key"))
    if key:
        parts = key.split(SEPARATOR)
        if len(parts) == 4 and all(parts):
            return parts[0], parts[1], parts[2], parts[3]
        errors.add(
            name, line, "key", f"expected question__model_a__model_b__turn, found {key[:80]!r}"
        )
        return "", "", "", ""
    document = _named(record, DOCUMENT, "doc_id", line, name, errors)
    first = _named(record, FIRST, "system_a", line, name, errors)
    second = _named(record, SECOND, "system_b", line, name, errors)
    return document, first, second, _text(record.get("turn"))


def _value(
    record: Mapping[str, Any], first: str, second: str, line: int, name: str, errors: FileErrors
) -> int:
    """Return a positive value if the first output is preferred; 2 for a strength of 2."""
    winner = _text(record.get("winner"))
    strength = _text(record.get("strength")) or "1"
    if strength not in ("0", "1", "2"):
        errors.add(name, line, "strength", f"expected 1 or 2, found {strength[:40]!r}")
        return 0
    size = 2 if strength == "2" else 1
    if winner == first or winner.lower() in FIRST_WINS:
        return size
    if winner == second or winner.lower() in SECOND_WINS:
        return -size
    if winner.lower().startswith("tie"):
        return 0
    errors.add(
        name, line, "winner", f"expected a, b, tie or the winner's name, found {winner[:60]!r}"
    )
    return 0


def _named(
    record: Mapping[str, Any],
    columns: tuple[str, ...],
    column: str,
    line: int,
    name: str,
    errors: FileErrors,
) -> str:
    for candidate in columns:
        if name_in_cell := as_name(_text(record.get(candidate))):
            return name_in_cell
    errors.add(name, line, column, "expected a name, found nothing")
    return ""


def _text(value: Any) -> str:
    if isinstance(value, list):  # MT-bench sometimes names a judge as ["gpt-4", "pair"]
        return " ".join(map(str, value)).strip()
    return "" if value is None or isinstance(value, bool | dict) else str(value).strip()
