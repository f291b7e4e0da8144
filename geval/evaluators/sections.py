"""Settings with a part for each criterion: the lines below `[criterion: NAME]`. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

_HEADING = re.compile(r"\[criterion:(?P<name>[^\]]*)\]", re.IGNORECASE)
# Lines above the first heading apply to all criteria without their own part.
EVERY = ""

Part = TypeVar("Part")


@dataclass(frozen=True)
class Line:
    """A line of a setting, with its number."""

    number: int
    text: str


def lines_by_criterion(setting: str) -> dict[str, tuple[Line, ...]]:
    """Group a setting's lines by their criterion, in lower case.

    Raises:
        ValueError: a heading has no name, or a criterion has two; the message names the line.
    """
    parts: dict[str, list[Line]] = {EVERY: []}
    criterion = EVERY
    for number, text in enumerate(setting.splitlines(), start=1):
        heading = _HEADING.fullmatch(text.strip())
        if not heading:
            parts[criterion].append(Line(number, text))
            continue
        name = heading["name"].strip()
        criterion = name.lower()
        if not criterion:
            raise ValueError(f"line {number} needs the name of a criterion: [criterion: NAME]")
        if criterion in parts:
            raise ValueError(f"line {number} is a second part of the criterion {name!r}")
        parts[criterion] = []
    return {criterion: tuple(lines) for criterion, lines in parts.items()}


def part_of(parts: Mapping[str, Part], criterion: str) -> Part:
    """Return a criterion's part, or the part for all criteria where it has none."""
    return parts.get(criterion.strip().lower(), parts[EVERY])
