"""What is unclear in a file, as questions with choices and the result of each, and what users state
beforehand: the meanings of columns as `THEIRS=OURS`, and scales as `CRITERION=1-5`. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from geval.files.cells import is_target_with_names
from geval.files.load_results import LoadContents
from geval.files.mapping import TARGETS
from geval.statistics.scales import parsed_scale, usual_scale_for

# The names are part of a sentence.
SHOWN_NAMES = 4
_TARGET_WITH_NAMES = re.compile(r"=(?:ratings|scores|annotator|output)\[")


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
    """A question; if it `names_criterion`, the first answer may also be given with another
    criterion."""

    text: str
    choices: tuple[UploadAnswer, ...]
    names_criterion: bool = False


def listed(names: Iterable[str]) -> str:
    """Return some names as words, only the first few of many."""
    distinct = list(dict.fromkeys(names))
    shown = [f"“{name}”" for name in distinct[:SHOWN_NAMES]]
    if len(distinct) > SHOWN_NAMES:
        return f"{', '.join(shown)} and {len(distinct) - SHOWN_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


class StatementError(ValueError):
    """A user's statement about files is not possible; the message says why."""


def parsed_columns(options: Iterable[str]) -> dict[str, str]:
    """Parse the meanings of columns by name ("" ignores a column).

    Raises:
        StatementError: a text is not written `THEIRS=OURS`; the message begins with it.
    """
    columns = {}
    for written in options:
        name, target = _parts_of(written)
        if not name or not (target in ("", *TARGETS) or is_target_with_names(target)):
            raise StatementError(
                f"{written}: write THEIRS=OURS, with OURS one of {', '.join(TARGETS)}."
            )
        columns[name] = target
    return columns


def _parts_of(written: str) -> tuple[str, str]:
    """Split at the "=" that separates both; names in brackets may contain others."""
    with_names = _TARGET_WITH_NAMES.search(written, 1) if written.endswith("]") else None
    place = with_names.start() if with_names else written.rfind("=")
    return written[: max(0, place)], written[place + 1 :]


def written_columns(columns: Mapping[str, str]) -> list[str]:
    """Return columns in the form that `parsed_columns` reads."""
    return [f"{name}={target}" for name, target in columns.items()]


def parsed_scales(options: Iterable[str]) -> dict[str, tuple[float, float, float]]:
    """Parse lowest point, highest point and step, by criterion.

    Raises:
        StatementError: a text is not written `CRITERION=LOWEST-HIGHEST`, with which the message
            begins.
    """
    scales = {}
    for text in options:
        criterion, _, written = text.rpartition("=")
        try:
            scale = parsed_scale(written)
        except ValueError as error:
            raise StatementError(f"{text}: {error}") from None
        if not criterion:
            raise StatementError(f"{text}: write CRITERION=LOWEST-HIGHEST.")
        scales[criterion] = (scale.lowest, scale.highest, scale.step)
    return scales


def wider_scales(contents: LoadContents | None) -> list[str]:
    """Return scales that include stray ratings, for criteria with ratings off the scale of all
    others, as `parsed_scales` reads them."""
    return [
        f"{criterion.name}={usual_scale_for([criterion.lowest, criterion.highest, *criterion.off])}"
        for criterion in (contents.criteria if contents else ())
        if criterion.off
    ]
