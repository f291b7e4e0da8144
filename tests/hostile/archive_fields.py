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
from geval.files.archive.errors import WrongValueError
from geval.files.archive.manifest import FILES, FORMAT, VERSION
from geval.files.archive.record_file import Ref
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
TOKENS = [["4", -0.1, [["4", -0.1], ["5", -2.4]]]]


def _others(rows: Rows) -> Rows:
    """Records of what the project of conversations has none of."""
    output = {name: rows["outputs"][0][name] for name in ("doc_id", "system_id")}
    rated = output | {"criterion": "helpfulness"}
    judge = {"judge": "Judy", "version": 1}
    study = {"study": rows["studies"][0]["study"]}
    reply = {
        "reply": 1, "request_key": "k" * 64, "model": "m", "request_id": "r", "prompt_tokens": 5,
        "choices": [{"text": "4", "finish_reason": "stop", "tokens": TOKENS, "thought": "Hm."}],
        "completion_tokens": 1, "calls": 1, "seconds": 0.5, "created_at": WHEN, "removed_at": None,
    }  # fmt: skip
    pair = {"rival": "bot-b", "value": 0.7, "tie": 0.1, "left": 0.5, "coverage": 0.9}
    part = {"model": "m"}
    probes = (UNCHANGED, REPEATED, *(probe.name for probe in PROBES))
    goal = {
        "campaign": "Ratings", "criterion": "helpfulness", "kind": "width", "width": 0.1,
        "rival": None, "rival_version": None, "system_id": None, "other": None, "reached_at": None,
        "documents": None, "low": None, "high": None,
    }  # fmt: skip
    proposal = {
        "search": rows["searches"][0]["search"], "number": 1, "parent": None, "part": "definition",
        "texts": {"definition": "How far."}, "scoring": {}, "prompt_key": "p", "repeat": 0,
        "problem": "", "parent_on_batch": 0.1, "on_batch": 0.2, "on_selection": {"value": 0.3},
        "calls": 1, "prompt_tokens": 2, "completion_tokens": 3, "created_at": WHEN,
    }  # fmt: skip
    look = {
        "lock": rows["locks"][0]["lock"], "candidate": rows["candidates"][0]["candidate"],
        "looked_by_name": "ann", "looked_at": WHEN, "outcome": "proven", "documents": 12,
        "value": 0.5, "today": 0.4, "gain": 0.1, "low": 0.05, "high": 0.2, "confidence": 0.95,
        "reason": "", "ranked": {"documents": 12, "candidate": 12, "today": 12},
    }  # fmt: skip
    span = {"annotator": "ann", "start": 0, "end": 2, "quote": "It", "category": "", "severity": ""}
    item = {"campaign": "Ratings", "position": 0}
    outputs = {"doc_id": output["doc_id"], "systems": [output["system_id"]]}
    scores = {"scores": {"helpfulness": 4.0}, "comment": "c", "flagged": False, "spans": [
        {"start": 0, "end": 2, "quote": "It", "category": "", "severity": ""}]}  # fmt: skip
    noted = {"answer_id": 1, "at": WHEN}
    by = {"by_name": "olga"}
    cause = {"cause": "judge", "note": "n", "given_by": "ann", "given_at": WHEN}
    return {
        "probabilities": [rated | {"probability": 0.5}],
        "spans": [output | span],
        "replies": [reply],
        "pair_scores": [rated | {"run": rows["runs"][-1]["run"], "created_at": WHEN} | pair],
        "gap_causes": [rated | judge | cause],
        # Probes of which all was asked, as pages show no others.
        "study_items": [
            {name: row[name] for name in ("doc_id", "system_id")}
            | study
            | {
                "rating": 3.5,
                "scores": [1.0 + (number + place) % 5 for place in range(len(probes))],
            }
            for number, row in enumerate(rows["outputs"])
        ],
        "study_parts": [
            study | part | {"number": number, "name": name, "started_at": WHEN, "recorded_at": WHEN}
            for number, name in enumerate(probes, start=1)
        ],
        "campaign_goals": [judge | goal],
        "campaign_inclusions": [output | {"campaign": "Ratings", "probability": 0.5}],
        "campaign_seats": [
            {"campaign": "Ratings", "annotator": "ann", "cursor": 0, "handed": 1}
            | {"removed_at": None}
        ],
        "campaign_items": [outputs | item | {"kind": "ordinary", "places": 1, "expected": scores}],
        "answers": [
            outputs
            | item
            | {
                "answer_id": 1,
                "annotator": "ann",
                "state": "submitted",
                "reserved_at": WHEN,
                "lease_until": WHEN,
                "submitted_at": WHEN,
                "seconds": 3.5,
                "version": 1,
                "flagged": False,
                "skip_reason": "",
                "scores_shown": None,
                "saw_others_at": None,
                "answer": scores,
                "passed": None,
            }
        ],
        "answer_changes": [outputs | noted | {"before": scores, "after": deepcopy(scores)}],
        "answer_reviews": [
            outputs
            | noted
            | by
            | {"action": "counted", "reason": "", "skip_reason": "", "answer": scores}
        ],
        "decisions": [
            outputs
            | item
            | by
            | {"answer": {"scores": {"helpfulness": 4.0}}, "note": "n"}
            | {"at": WHEN}
        ],
        "exclusions": [
            {"annotator": "ann", "reason": "r", "at": WHEN, "lifted_at": WHEN}
            | by
            | {"lifted_by_name": "olga"}
        ],
        "proposals": [proposal],
        "looks": [look],
    }


def _certificate() -> dict[str, Any]:
    """A certificate like that of another site, for one without the app that makes them."""
    digest = f"sha256:{'0' * 64}"
    counted = {"digest": digest, "count": 1}
    requirement = {
        "requirement": "documents>=1", "outcome": "met", "value": 12.0, "reason": "",
        "more_documents": None, "more_ratings": None,
    }  # fmt: skip
    bound_to = {
        "prompt": digest, "steps": None, "settings": digest, "model": "m", "answered_by": ["m"],
        "texts": counted, "ratings": counted, "scores": counted, "software": "geval_site 1.0.0",
    }  # fmt: skip
    content = {
        "format": "geval-certificate/1", "project": "Small", "judge": "Judy",
        "criterion": "helpfulness", "outcome": "met", "epsilon": 0.2, "made_at": WHEN,
        "requirements": [requirement], "bound_to": bound_to, "public_key": "k", "signature": "s",
    }  # fmt: skip
    return {
        "judge": "Judy", "version": 1, "criterion": "helpfulness", "outcome": "met",
        "content": content, "made_at": WHEN,
    }  # fmt: skip


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
    rows |= _others(rows)
    rows["certificates"] = rows["certificates"] or [_certificate()]
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
