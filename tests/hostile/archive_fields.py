"""Odd values for every field of every file of an archive, also within JSON; and one archive in
which every file has a record."""

import itertools
import json
import zipfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluations.models import Project, StudyKind
from evaluations.projects.archive.read import record_check
from geval.evaluators.perturbing import PROBES, REPEATED, UNCHANGED
from geval.files.archive.manifest import FILES, FORMAT, VERSION
from geval.files.archive.record_file import Ref, WrongValueError
from tests.archive.test_round_trip import archived

Rows = dict[str, list[dict[str, Any]]]
DEEP = json.loads("[" * 500 + "]" * 500)
ODD: tuple[Any, ...] = (
    None, "", "x", "a\0b", "\ud800".encode("utf-8", "replace").decode(), "x" * 5000, 0, -1, 1,
    2**31, 2**63, 1e308, -0.5, True, [], [1], [None], ["x"], [[]], [{}], {}, {"": None}, {"a": 1},
    {"x": [1]}, DEEP, "2024-01-01T00:00:00Z", "javascript:alert(1)", "//host", "running", "open",
)  # fmt: skip
# Nested values get fewer, as there are many of them.
ODD_WITHIN: tuple[Any, ...] = (None, "x", -1, 1e308, True, [], [None], {}, {"a": [1]}, DEEP)
# Names of other records: any other name is refused as one that is not there.
ODD_KEYS: tuple[Any, ...] = (None, True, 2**63, [], {}, DEEP)
MOST_WITHIN = 40
DOCUMENTS = 12
WHEN = "2026-01-02T03:04:05+00:00"
RECORDS = Path(__file__).parents[1] / "data" / "archive_records.json"


def _others(rows: Rows) -> Rows:
    """Records of what the project of conversations has none of: those of `RECORDS` with its names,
    and probes of which all was asked, as pages show no others."""
    study = {"study": rows["studies"][0]["study"]}
    names: dict[str, Any] = {name: rows["outputs"][0][name] for name in ("doc_id", "system_id")}
    for table, name, at in (
        ("runs", "run", -1), ("searches", "search", 0), ("locks", "lock", 0),
        ("candidates", "candidate", 0),
    ):  # fmt: skip
        names[name] = rows[table][at][name]
    others: Rows = _named(json.loads(RECORDS.read_text()), names)
    probes = (UNCHANGED, REPEATED, *(probe.name for probe in PROBES))
    others["study_items"] = [
        {name: row[name] for name in ("doc_id", "system_id")}
        | study
        | {"rating": 3.5, "scores": [1.0 + (number + place) % 5 for place in range(len(probes))]}
        for number, row in enumerate(rows["outputs"])
    ]
    others["study_parts"] = [
        study
        | {"model": "m", "number": number, "name": name}
        | {"started_at": WHEN, "recorded_at": WHEN}
        for number, name in enumerate(probes, start=1)
    ]
    return others


def _named(value: Any, names: Mapping[str, Any]) -> Any:
    """A value in which each `$name` is that of a record."""
    if isinstance(value, dict):
        return {name: _named(inner, names) for name, inner in value.items()}
    if isinstance(value, list):
        return [_named(inner, names) for inner in value]
    return names[value[1:]] if isinstance(value, str) and value.startswith("$") else value


@dataclass(frozen=True)
class Edit:
    """A value put into the first record of a file, at a path of names and places."""

    table: str
    path: tuple[str | int, ...]
    value: Any

    def apply(self, rows: Mapping[str, list[dict[str, Any]]]) -> None:
        place: Any = rows[self.table][0]
        for step in self.path[:-1]:
            place = place[step]
        place[self.path[-1]] = self.value

    def __str__(self) -> str:
        where = ".".join(map(str, self.path))
        return f"{self.table}.{where}={json.dumps(self.value)[:60]}"


def rows_of(project: Project) -> Rows:
    """The records of a project's archive, with a record in every file."""
    rows: Rows = {}
    with zipfile.ZipFile(archived(project)) as archive:
        for file in FILES:
            rows[file.name] = [json.loads(line) for line in archive.read(file.member).splitlines()]
    # Few documents, so that pages take little time.
    kept = {row["doc_id"] for row in rows["documents"][:DOCUMENTS]} | {None}
    for name, records in rows.items():
        rows[name] = [row for row in records if row.get("doc_id") in kept]
    certificates = rows["certificates"]
    rows |= _others(rows)
    # One like that of another site, for a project without the app that makes them.
    rows["certificates"] = certificates or rows["certificates"]
    rows["items"][0]["reply"] = 1
    rows["studies"][0]["kind"] = StudyKind.PROBES.value
    rows["candidates"][0]["training"] = {
        "candidate": 0.5,
        "today": 0.4,
        "gain": 0.1,
        "documents": 9,
    }
    return rows


def write_zip(rows: Rows, file: Path) -> Path:
    """An archive of these records."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "project": {"slug": "small", "name": "Small", "description": "", "guidelines": ""},
        "records": {name: len(records) for name, records in rows.items()},
    }
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, records in rows.items():
            archive.writestr(f"{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in records))
    return file


def edits_of(rows: Rows) -> Iterator[Edit]:
    """Every odd value in every field, and within every JSON field."""
    for file in FILES:
        first = rows[file.name][0]
        references = {
            name
            for column in file.columns.values()
            if isinstance(column, Ref)
            for name in column.fields
        }
        for name, value in first.items():
            odd_values = ODD_KEYS if name in references else ODD
            yield from (Edit(file.name, (name,), odd) for odd in odd_values)
            within = itertools.islice(_paths(value), MOST_WITHIN)
            for path in within:
                yield from (Edit(file.name, (name, *path), odd) for odd in ODD_WITHIN)


def _paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    steps = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        steps = enumerate(value[:3])
    for step, inner in steps:
        yield (step,)
        yield from ((step, *path) for path in _paths(inner))


def passes_checks(edit: Edit, rows: Rows) -> bool:
    """Whether the checks of records take it; references and the database may refuse it still."""
    file = next(file for file in FILES if file.name == edit.table)
    changed = {edit.table: [deepcopy(rows[edit.table][0])]}
    edit.apply(changed)
    try:
        record_check(file)(changed[edit.table][0])
    except (WrongValueError, TypeError, KeyError, AttributeError):
        return False
    return True
