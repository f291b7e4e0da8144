"""What a file leaves unclear: a question with choices, and what each would give. Pure data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SHOWN_NAMES = 4


@dataclass(frozen=True)
class UploadAnswer:
    """An answer: what it would give, and the meaning of columns that it sets ("": left out), or
    the `sheet` of a workbook that it chooses."""

    label: str
    gives: str
    columns: Mapping[str, str]
    sheet: str = ""


@dataclass(frozen=True)
class UploadQuestion:
    text: str
    choices: tuple[UploadAnswer, ...]


def listed(names: Iterable[str]) -> str:
    """Some names in words, the first few of many."""
    distinct = list(dict.fromkeys(names))
    shown = [f"“{name}”" for name in distinct[:SHOWN_NAMES]]
    if len(distinct) > SHOWN_NAMES:
        return f"{', '.join(shown)} and {len(distinct) - SHOWN_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)
