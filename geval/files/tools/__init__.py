"""Records of other tools that need more than other names of columns, each known by its shape. Pure.

A module has `TITLE`, `MARKS` (a record of its form has one of these fields, or names with dots),
`knows` (whether a record is of its form) and `read`, which gives what is rated in our columns:
nothing for a record without a text, several for several outputs. What a module neither reads nor
skips is listed as not used. If a tool writes one object that holds its records, `HOLDER` is the
field they are in, `ITEM` the field to put each in (else it is merged), and `SHARED` what each also
needs of that object.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from geval.files.tools import (
    argilla,
    batches,
    doccano,
    helm,
    inspect_logs,
    label_studio,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    promptfoo,
    spans,
    system_columns,
)
from geval.files.tools.parts import Part


class Tool(NamedTuple):
    """What a module of this package offers."""

    title: str
    knows: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Part], Iterator[dict[str, Any]]]
    holder: str
    item: str
    shared: tuple[str, ...]


def _tool(module: Any) -> Tool:
    return Tool(
        module.TITLE,
        module.knows,
        module.read,
        getattr(module, "HOLDER", ""),
        getattr(module, "ITEM", ""),
        getattr(module, "SHARED", ()),
    )


# The first that knows a record reads it.
_MODULES: tuple[Any, ...] = (
    lm_eval, batches, spans, mlflow, inspect_logs, helm, langsmith, promptfoo, argilla,
    label_studio, langfuse, doccano, system_columns,
)  # fmt: skip
TOOLS = tuple(map(_tool, _MODULES))
# Where a tool's object may hold its records.
HOLDERS = frozenset(tool.holder for tool in TOOLS if tool.holder)


_MARKS = frozenset(mark for module in _MODULES for mark in module.MARKS)


class Held(NamedTuple):
    """The records in an object that is a whole file, and its fields that none of them needs."""

    tool: Tool
    records: list[Any]
    others: tuple[str, ...]


def tool_of(record: Mapping[str, Any]) -> Tool | None:
    """The tool that wrote a record; None if none is known by this shape."""
    if _MARKS.isdisjoint(record) and not any(
        "." in name or name.startswith(system_columns.BEGINNINGS) for name in record
    ):
        return None  # most files are long tables of ratings
    return next((tool for tool in TOOLS if tool.knows(record)), None)


def held_by(record: Mapping[str, Any]) -> Held | None:
    """The records in an object that a tool wrote as a whole file; None if it is not one."""
    for tool in TOOLS:
        inner = record.get(tool.holder) if tool.holder else None
        if isinstance(inner, dict):  # promptfoo: a summary with the results in it
            inner = inner.get(tool.holder)
        if not isinstance(inner, list) or not inner:
            continue
        shared = {name: record[name] for name in tool.shared if name in record}
        records = [_with(one, tool.item, shared) for one in inner]
        if isinstance(records[0], dict) and tool.knows(records[0]):
            others = tuple(name for name in record if name not in (tool.holder, *tool.shared))
            return Held(tool, records, others)
    return None


def _with(record: Any, item: str, shared: Mapping[str, Any]) -> Any:
    if not isinstance(record, dict):
        return record
    return {**shared, item: record} if item else {**shared, **record}
