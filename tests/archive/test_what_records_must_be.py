"""What the format of archives says of their records, without a site and with what a site has."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import pytest
from django.apps import apps
from django.db import models
from pydantic import ValidationError as ShapeError

from annotations.models import CampaignState, GoalKind, ParticipantState
from evaluations.models.errands import ErrandState
from evaluations.models.improving import OPEN_STATES, Change, EventKind
from evaluations.models.runs import ACTIVE_STATES, ItemState, RunState
from evaluations.projects.archive.rows import STORED
from geval.files.archive.campaigns import ASKED_BY_GOALS
from geval.files.archive.manifest import FILES, IN_EVERY_ARCHIVE
from geval.files.archive.record_file import ArchiveError, RecordFile, Ref, WrongValueError
from geval.files.archive.record_lines import NewIds, RecordReader, as_line
from geval.files.archive.searches import DRAWN, MOST_PARTS
from geval.files.archive.searches import Change as WrittenChange

BY_NAME = {file.name: file for file in FILES}
STUDIES: Mapping[str, dict[str, Any]] = {
    "study_parts": {
        "study": 1, "number": 1, "name": "padded", "model": "m",
        "started_at": "2026-01-02T03:04:05+00:00",
        "recorded_at": "2026-01-02T03:04:05+00:00",
    },
    "study_items": {"study": 1, "doc_id": "d", "system_id": "s", "rating": None, "scores": [1.0]},
}  # fmt: skip


def _reader(name: str, ids: NewIds) -> RecordReader:
    return RecordReader(BY_NAME[name], ids, BY_NAME[name].check)


def _json_fields(file: RecordFile) -> set[str]:
    model = next(
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table == STORED[file.name].table
    )
    stored = {field.column: field for field in model._meta.concrete_fields}
    return {
        field
        for column, field in file.columns.items()
        if isinstance(field, str) and isinstance(stored[column], models.JSONField)
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_json_field_has_a_shape(file: RecordFile) -> None:
    assert _json_fields(file) == set(file.json)


def test_every_file_is_stored_and_those_of_all_archives_are_among_them() -> None:
    assert list(STORED) == list(BY_NAME)
    assert BY_NAME.keys() > IN_EVERY_ARCHIVE


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_records_refer_to_files_before_theirs(file: RecordFile) -> None:
    before = list(BY_NAME)[: list(BY_NAME).index(file.name) + 1]

    for column in file.columns.values():
        if isinstance(column, Ref):
            referred = BY_NAME[column.table]
            key = referred.other_key if column.keeps_name else referred.key
            assert column.table in before
            assert len(column.fields) == len(key)


@pytest.mark.parametrize(
    ("name", "states", "of_site"),
    [
        ("runs", ACTIVE_STATES, RunState),
        ("items", (ItemState.LEASED, ItemState.SENT), ItemState),
        ("campaigns", (CampaignState.OPEN,), CampaignState),
        (
            "participants",
            (ParticipantState.CONSENTED, ParticipantState.ACTIVE),
            ParticipantState,
        ),
        ("searches", OPEN_STATES, ErrandState),
    ],
)
def test_no_record_has_a_state_in_which_a_site_works(
    name: str, states: Iterable[str], of_site: type[models.TextChoices]
) -> None:
    halted = BY_NAME[name].halted

    assert halted
    assert set(halted.states) == set(states)
    assert halted.becomes in set(of_site) - set(states)
    for state in halted.states:
        with pytest.raises(WrongValueError, match=f"state is '{state}'"):
            BY_NAME[name].check({"state": state})
    BY_NAME[name].check({"state": halted.becomes, "parameters": {}})


def test_words_of_the_format_are_those_of_a_site() -> None:
    assert set(get_args(WrittenChange)) == set(Change)
    assert set(ASKED_BY_GOALS) == set(GoalKind)
    assert DRAWN == EventKind.DRAWN


@pytest.mark.parametrize(
    ("name", "field", "odd", "valid"),
    [
        ("study_parts", "number", 0, 1),
        ("study_parts", "number", MOST_PARTS + 1, MOST_PARTS),
        ("study_items", "scores", [1.0] * (MOST_PARTS + 1), [None] * MOST_PARTS),
        ("study_parts", "recorded_at", None, "2026-01-02T03:04:05+00:00"),
    ],
)
def test_a_study_has_no_parts_without_end_nor_any_that_was_not_asked_to_its_end(
    name: str, field: str, odd: object, valid: object
) -> None:
    BY_NAME[name].check(STUDIES[name] | {field: valid})
    with pytest.raises(WrongValueError, match=field):
        BY_NAME[name].check(STUDIES[name] | {field: odd})


@pytest.mark.parametrize(
    ("name", "field", "around"),
    [("judges", "request_options", "{}"), ("runs", "parameters", '{{"request_options": {}}}')],
)
@pytest.mark.parametrize("text", ['""', '"{}"', "null", "[]"])
def test_options_of_requests_are_stored_as_an_object(
    name: str, field: str, around: str, text: str
) -> None:
    shape = BY_NAME[name].json[field]

    shape.validate_json(around.format('{"reasoning_effort": "low"}'), strict=True)
    with pytest.raises(ShapeError, match="dict"):
        shape.validate_json(around.format(text), strict=True)


def test_names_become_ids_in_a_copy_and_older_records_get_what_they_lack() -> None:
    ids = NewIds()
    document = {"doc_id": "d", "source": "s", "context": "", "references": ["r"]}
    output = {"doc_id": "d", "system_id": "bot", "output": "text"}

    assert _reader("systems", ids).values({"system_id": "bot", "kind": "model"}, 7) == [
        "bot", "model", "",
    ]  # fmt: skip
    assert _reader("documents", ids).values(document, 8) == [
        "d", "s", "", '["r"]', "{}", 0, "", None,
    ]  # fmt: skip
    assert _reader("outputs", ids).values(output, 9) == [8, 7, "text", "[]"]


def test_answers_have_names_in_the_file_and_ids_in_a_copy() -> None:
    ids = NewIds()
    change = BY_NAME["answer_changes"]
    answer = {"scores": {"3": 4.0}, "best": {"3": 5}}
    row = {"answer_id": 1, "at": "…", "systems": ["bot"], "outputs": [5], "doc_id": "d"}

    line = json.loads(
        as_line(change, json.dumps(row | {"before": answer, "after": None}), {3: "c"})
    )
    assert line["before"] == {"scores": {"c": 4.0}, "best": {"c": "bot"}}
    assert "outputs" not in line

    for name, row, new_id in (
        ("criteria", {"criterion": "c"}, 30),
        ("outputs", {"doc_id": "d", "system_id": "bot"}, 50),
        ("answers", {"answer_id": 1}, 10),
    ):
        ids.begin(BY_NAME[name])
        ids.keep(BY_NAME[name], row, new_id)
    values = _reader("answer_changes", ids).values(line, 1)

    assert values[0] == 10
    assert json.loads(values[1]) == {"scores": {"30": 4.0}, "best": {"30": 50}}
    assert values[2:] == [None, "…"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"doc_id": "d", "system_id": "bot", "output": ""}, "doc_id 'd' is not in documents.jsonl"),
        ({"doc_id": True, "system_id": "bot", "output": ""}, "doc_id True is not in documents"),
        ({"doc_id": [], "system_id": "bot", "output": ""}, "unhashable.* The archive is damaged"),
        ({"system_id": "bot", "output": ""}, "there is no 'doc_id'"),
        ([], "The archive is damaged"),
    ],
)
def test_a_record_that_cannot_be_used_is_named_by_its_line(record: Any, message: str) -> None:
    ids = NewIds()
    for name in ("documents", "systems"):
        ids.begin(BY_NAME[name])

    with pytest.raises(ArchiveError, match=rf"outputs\.jsonl, line 1: .*{message}"):
        _reader("outputs", ids).values(record, 1)
