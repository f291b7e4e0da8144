"""Causes of gaps between judges and people: stored, removed and downloaded."""

from collections.abc import Iterator
from typing import Any

import orjson
from django.db.models import Value
from django.utils import timezone

from evaluations.models import CandidateOutput, Criterion, GapCause, Judge, Project
from geval.texts.spreadsheets import csv_line

COLUMNS = (
    "judge",
    "judge_version",
    "criterion",
    "doc_id",
    "system_id",
    "cause",
    "note",
    "given_by",
    "given_at",
)
WHO = "given_by_name"
_VALUES = (
    "judge__name",
    "judge__version",
    "criterion__name",
    "output__document__doc_id",
    "output__system__name",
    "cause",
    "note",
    WHO,
    "given_at",
)


def give_cause(
    judge: Judge,
    criterion: Criterion,
    output: CandidateOutput,
    cause: str,
    *,
    note: str | None,
    by: Any,
) -> GapCause:
    """Store the cause of a gap, replacing an earlier one.

    Args:
        cause: matched to the project's existing causes regardless of case.
        note: None keeps an earlier note.
        by: the user.
    """
    names = GapCause.objects.of_project(judge.project).names()
    spellings = {name.lower(): name for name in names}
    values: dict[str, Any] = {
        "cause": spellings.get(cause.lower(), cause),
        "given_by": by,
        "given_by_name": by.get_username(),
        "given_at": timezone.now(),
    }
    if note is not None:
        values["note"] = note
    given, _made = GapCause.objects.update_or_create(
        judge=judge, criterion=criterion, output=output, defaults=values
    )
    return given


def take_cause_back(judge: Judge, criterion: Criterion, output: CandidateOutput) -> bool:
    """Remove the cause of a gap; return whether there was one."""
    causes = GapCause.objects.filter(judge=judge, criterion=criterion, output=output)
    return bool(causes.delete()[0])


def as_csv(project: Project, *, pseudonyms: bool = False) -> Iterator[str]:
    """Yield a header and a line per cause."""
    yield csv_line(COLUMNS)
    for row in _rows(project, pseudonyms=pseudonyms):
        yield csv_line(value.isoformat() if hasattr(value, "isoformat") else value for value in row)


def as_json(project: Project, *, pseudonyms: bool = False) -> bytes:
    """Return all causes as one list."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in _rows(project, pseudonyms=pseudonyms)]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def as_jsonl(project: Project, *, pseudonyms: bool = False) -> Iterator[bytes]:
    """Yield one JSON object per line."""
    for row in _rows(project, pseudonyms=pseudonyms):
        yield orjson.dumps(dict(zip(COLUMNS, row, strict=True)), option=orjson.OPT_APPEND_NEWLINE)


def _rows(project: Project, *, pseudonyms: bool) -> Iterator[tuple[Any, ...]]:
    """Yield all causes; with pseudonyms nobody is named who gave one."""
    causes = GapCause.objects.of_project(project).order_by("pk")
    shown = [Value("") if pseudonyms and name == WHO else name for name in _VALUES]
    yield from causes.values_list(*shown).iterator(2000)
