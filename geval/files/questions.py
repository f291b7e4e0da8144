"""What is unclear in a file: a question with choices, and the result of each. Pure data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# The names are part of a sentence.
SHOWN_NAMES = 4


@dataclass(frozen=True)
class UploadAnswer:
    """An answer: its result, and the meanings of columns that it sets ("" ignores a column), or the
    `sheet` of a workbook that it chooses."""

    label: str
    gives: str
    columns: Mapping[str, str]
    sheet: str = ""


@dataclass(frozen=True)
class UploadQuestion:
    text: str
    choices: tuple[UploadAnswer, ...]


def listed(names: Iterable[str]) -> str:
    """Return some names as words, only the first few of many."""
    distinct = list(dict.fromkeys(names))
    shown = [f"“{name}”" for name in distinct[:SHOWN_NAMES]]
    if len(distinct) > SHOWN_NAMES:
        return f"{', '.join(shown)} and {len(distinct) - SHOWN_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
