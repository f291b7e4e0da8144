"""What a project's file would change, compared with what is there: the order of names, the case of
criteria and how numbers are written are no difference; everything else is."""

from typing import Any

import pytest

from geval.pipelines.project_files.command import body_of
from geval.pipelines.project_files.current import Current, current_of
from geval.pipelines.project_files.file import read_project_file
from geval.pipelines.project_files.planning import plan_of

CAMPAIGN: dict[str, Any] = {
    "id": 1, "name": "C", "kind": "rating", "criteria": [7, 8], "annotators": ["Ann", "Ben"],
    "gold": [{"doc_id": "d", "system_id": "s", "criterion": "Style", "score": "3", "note": ""}],
    "goal": None,
}  # fmt: skip


PROJECT = {"name": "p", "description": "", "guidelines": ""}


def current(**parts: Any) -> Current:
    criteria = [{"id": 7, "name": "Style"}, {"id": 8, "name": "Sense"}]
    return current_of(PROJECT, criteria=criteria, campaigns=[CAMPAIGN], **parts)


def differences(fields: str) -> set[str]:
    wanted, _document = read_project_file(
        f"project: p\ncampaigns:\n  C: {{{fields}}}\n".encode(), "f"
    )
    changes = plan_of(wanted, current()).changes
    return {name for change in changes for name in change.differences}


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ("criteria: [style, SENSE]", set()),
        ("criteria: [Sense, Style]", set()),
        ("criteria: [Style]", {"criteria"}),
        ("criteria: [Style, Style]", {"criteria"}),
        ("annotators: [Ben, Ann]", set()),
        ("annotators: [Ann, ben]", {"annotators"}),
        ("annotators: [Ann]", {"annotators"}),
        ("gold: [{doc_id: d, system_id: s, criterion: Style, score: 3}]", set()),
        ("gold: [{score: 3.0, doc_id: d, system_id: ' s ', criterion: Style}]", set()),
        ("gold: [{doc_id: d, system_id: s, criterion: Style, score: 4}]", {"gold"}),
        ("gold: [{doc_id: d, system_id: s, criterion: Style}]", {"gold"}),
        ("gold: []", {"gold"}),
    ],
)
def test_a_campaign_differs_by_what_its_lists_hold(fields: str, changed: set[str]) -> None:
    assert differences(fields) == changed


def test_what_the_file_does_not_name_is_left_alone_and_listed() -> None:
    retired, imported = {"retired_at": "2026-01-01"}, {"kind": "imported"}
    there = current(
        endpoints=[{"id": 1, "name": "here"}],
        judges=[
            {"id": 2, "name": "kept", "kind": "geval"},
            {"id": 3, "name": "old"} | retired,
            {"id": 4, "name": "loaded"} | imported,
        ],
    )
    wanted, _document = read_project_file(b"project: p\ncriteria: {style: {}}\n", "f")

    assert plan_of(wanted, there).left_alone == (
        "criterion Sense", "endpoint here", "judge kept", "campaign C",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ("samples: 5", {"endpoint": 1, "samples": 5, "temperature": 1.0}),
        ("mode: direct", {"endpoint": 1, "mode": "direct", "temperature": None}),
        ('endpoint: ""', {"endpoint": 1, "mode": "samples"}),
        ("endpoint: there, settings: {a: 2}", {"endpoint": 2, "settings": {"a": 2, "b": 1}}),
    ],
)
def test_a_judge_is_sent_whole(fields: str, sent: dict[str, Any]) -> None:
    record = {"id": 3, "name": "J", "kind": "x", "model": "m", "endpoint_id": 1, "samples": 20,
              "mode": "samples", "temperature": 1.0, "settings": {"a": 1, "b": 1},
              "is_frozen": False, "max_tokens": 32}  # fmt: skip
    there = current(
        endpoints=[{"id": 1, "name": "here"}, {"id": 2, "name": "there"}], judges=[record]
    )
    text = f"project: p\njudges:\n  J: {{{fields}}}\n"
    (change,) = plan_of(read_project_file(text.encode(), "f")[0], there).changes

    body = body_of(change, there)

    assert {name: body[name] for name in sent} == sent
    assert (body["name"], body["model"]) == ("J", "m")
