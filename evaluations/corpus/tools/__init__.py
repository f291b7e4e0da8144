"""Records of other tools that need more than other names of columns, each known by its shape. Pure.

A module has `knows` (whether a record is of its form), `TITLE`, and `read`, which gives the record
in our columns, or None for one that holds nothing to rate.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evaluations.corpus.tools import lm_eval, spans


class Tool(NamedTuple):
    """What a module of this package offers."""

    title: str
    knows: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], dict[str, Any] | None]


TOOLS = tuple(Tool(one.TITLE, one.knows, one.read) for one in (lm_eval, spans))


def tool_of(record: Mapping[str, Any]) -> Tool | None:
    """The tool that wrote a record; None if none is known by this shape."""
    return next((tool for tool in TOOLS if tool.knows(record)), None)
