"""Read records of other tools that need more than renamed columns; each tool is recognised by its
records' shape. Pure.

A module has `TITLE`, `MARKS` (a record of its form has one of these fields, or dotted names),
`knows` (whether a record is of its form) and `read`, which yields the rated outputs in our columns:
none for a record without a text, several for several outputs. What a module neither reads nor skips
is listed as unused. If a tool writes its records in one object, `HOLDER` is the field that contains
them, `ITEM` the field to put each in (otherwise it is merged), and `SHARED` the fields of that
object that each also needs. An installed package adds such a module through an entry point of the
group `geval_site.importers`, for example `mytool = "my_package.mytool"`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from geval.files.tools import (
    alpaca_eval,
    arena,
    argilla,
    batches,
    deepeval,
    doccano,
    helm,
    inspect_logs,
    label_studio,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    mt_bench,
    mturk,
    potato,
    promptfoo,
    promptfoo_tables,
    spans,
    system_columns,
)
from geval.files.tools.parts import Part

# The first module that knows a record reads it. Not entry points, which keep no order.
_OWN: tuple[Any, ...] = (
    lm_eval, batches, spans, mlflow, inspect_logs, helm, langsmith, promptfoo, argilla,
    label_studio, langfuse, doccano, deepeval, alpaca_eval, arena, mt_bench, potato,
    promptfoo_tables, mturk, system_columns,
)  # fmt: skip
# How columns begin by which a table is recognised.
BEGINNINGS = (*system_columns.BEGINNINGS, *promptfoo_tables.BEGINNINGS)
ENTRY_POINTS = "geval_site.importers"
log = logging.getLogger(__name__)


class Tool(NamedTuple):
    """The interface of a module of this package or another."""

    title: str
    marks: frozenset[str]
    knows: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Part], Iterator[dict[str, Any]]]
    holder: str
    item: str
    shared: tuple[str, ...]


@cache
def all_tools() -> tuple[Tool, ...]:
    """Return the tools whose records are recognised, in order: ours first, so that another package
    can add forms but not change ours."""
    return (*map(_tool, _OWN), *_installed_tools())


def _installed_tools() -> Iterator[Tool]:
    for point in entry_points(group=ENTRY_POINTS):
        try:
            yield _tool(point.load())
        except Exception:
            # A third-party package must not prevent files from being read.
            log.exception("the importer %s (%s) cannot be loaded", point.name, point.value)


def _tool(module: Any) -> Tool:
    return Tool(
        module.TITLE,
        frozenset(module.MARKS),
        module.knows,
        module.read,
        getattr(module, "HOLDER", ""),
        getattr(module, "ITEM", ""),
        getattr(module, "SHARED", ()),
    )


@cache
def record_holders() -> frozenset[str]:
    """Return where a tool's object may contain its records."""
    holders = (tool.holder for tool in all_tools() if tool.holder)
    return frozenset((*holders, deepeval.WITHIN))


@cache
def _marks() -> frozenset[str]:
    return frozenset(mark for tool in all_tools() for mark in tool.marks)


class HeldRecords(NamedTuple):
    """The records in an object that is a whole file, and its unused fields."""

    tool: Tool
    records: list[Any]
    others: tuple[str, ...]


def tool_of(record: Mapping[str, Any]) -> Tool | None:
    """Return the tool that wrote a record; None if no tool has this shape."""
    if _marks().isdisjoint(record) and not any(
        "." in name or ":::" in name or name.startswith(BEGINNINGS) for name in record
    ):
        return None  # most files are long tables of ratings
    return next((tool for tool in all_tools() if tool.knows(record)), None)


def held_by(record: Mapping[str, Any]) -> HeldRecords | None:
    """Return the records in an object that a tool wrote as a whole file; None if it is not one."""
    if isinstance(inner := record.get(deepeval.WITHIN), Mapping):
        return held_by(inner)
    for tool in all_tools():
        holder, inner = record, record.get(tool.holder) if tool.holder else None
        if isinstance(inner, dict):  # promptfoo: a summary that contains the results
            holder, inner = inner, inner.get(tool.holder)
        if not isinstance(inner, list) or not inner:
            continue
        shared = {name: holder[name] for name in tool.shared if name in holder}
        records = [_with(record, tool.item, shared) for record in inner]
        if isinstance(records[0], dict) and tool.knows(records[0]):
            others = tuple(name for name in record if name not in (tool.holder, *tool.shared))
            return HeldRecords(tool, records, others)
    return None


def _with(record: Any, item: str, shared: Mapping[str, Any]) -> Any:
    if not isinstance(record, dict):
        return record
    return {**shared, item: record} if item else {**shared, **record}
