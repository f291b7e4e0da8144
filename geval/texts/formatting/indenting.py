"""Indent JSON, with each value as it was written."""

import json
import re
from typing import NoReturn

# Deeper lines would begin beyond the right edge of a page.
DEEPEST = 40
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


class NotJsonError(ValueError):
    """The text is not JSON; the message says what is wrong with it."""


def indented(text: str) -> str:
    """Indent a JSON text. Only white space changes: numbers, repeated names and escaped characters
    stay unchanged.

    Raises:
        NotJsonError: it is not JSON, or nested too deeply to be read on a page.
    """
    _check(text)
    lines: list[str] = [""]
    depth = 0
    before = ""
    for piece in _PIECES.findall(text):
        if piece in "]}" and before not in "[{":
            depth -= 1
            lines.append("  " * depth)
        elif piece in "]}":
            depth -= 1
        elif before and before in "[{,":
            lines.append("  " * depth)
        lines[-1] += piece + (" " if piece == ":" else "")
        depth += piece in "[{"
        if depth > DEEPEST:
            raise NotJsonError(f"nested more than {DEEPEST} deep")
        before = piece
    return "\n".join(lines)


def _check(text: str) -> None:
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refused)
    except RecursionError:
        raise NotJsonError(f"nested more than {DEEPEST} deep") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value of JSON")
