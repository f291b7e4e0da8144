"""Over the API, a project, its criteria and its campaigns are changed as on their pages."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Campaign
from evaluations.models import Membership, Project, Role

pytestmark = pytest.mark.django_db
BASE = "/api/v1/projects/small"
Call = Callable[..., Any]
GOLD = [
    {"doc_id": "d1", "system_id": "good", "criterion": "coherence", "score": 4.0},
    {"doc_id": "d2", "system_id": "odd", "criterion": "coherence", "score": 1.0},
]


@pytest.fixture
def call(owner: User, client: Client) -> Call:
    client.force_login(owner)

    def send(method: str, path: str, body: object, *, base: str = BASE) -> tuple[int, Any]:
        content = json.dumps(body)
        response = client.generic(method, base + path, content, content_type="application/json")
        return response.status_code, response.json()

    return send


def test_a_criterion_has_everything_that_its_page_has(call: Call, small_project: Project) -> None:
    body = {
        "name": "faithful",
        "scale_min": 0,
        "scale_max": 1,
        "scale_labels": {"0": "No", "1": "Yes"},
        "task_introduction": "You read a text.",
        "inputs": "{{Document}} {{Summary}}",
        "guidelines": "Read *twice*.",
    }
    status, made = call("POST", "/criteria", body)

    assert status == 201
    assert {name: made[name] for name in body} == body


def test_a_changed_criterion_keeps_what_is_left_out(call: Call, small_project: Project) -> None:
    pk = small_project.criteria.get(name="fluency").pk
    call("PUT", f"/criteria/{pk}", {"definition": "Reads well."})
    status, changed = call("PUT", f"/criteria/{pk}", {"scale_labels": {"5": "Best"}})

    assert status == 200
    assert (changed["name"], changed["definition"]) == ("fluency", "Reads well.")
    assert changed["scale_labels"] == {"5": "Best"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale_labels": {"9": "Off"}}, "not on the scale"),
        ({"prompt_file": "{{Nothing}}"}, "{{Nothing}}"),
        ({"name": "Coherence"}, "already exists"),
    ],
)
def test_what_the_page_refuses_of_a_criterion_the_api_refuses(
    call: Call, small_project: Project, change: dict[str, Any], message: str
) -> None:
    pk = small_project.criteria.get(name="fluency").pk
    status, refused = call("PUT", f"/criteria/{pk}", change)

    assert status == 422
    assert message in refused["detail"]


def test_a_project_gets_the_short_name_that_is_asked_for(
    call: Call, small_project: Project
) -> None:
    made = call("POST", "", {"name": "Chosen", "slug": "my-own"}, base="/api/v1/projects")
    taken = call("POST", "", {"name": "Again", "slug": "my-own"}, base="/api/v1/projects")
    wrong = call("POST", "", {"name": "Wrong", "slug": "a b"}, base="/api/v1/projects")

    assert (made[0], made[1]["slug"]) == (201, "my-own")
    assert taken[0] == 422
    assert "'my-own' is taken" in taken[1]["detail"]
    assert wrong[0] == 422


@pytest.fixture
def campaign(call: Call, small_project: Project, make_user: Callable[..., User]) -> dict[str, Any]:
    ann = make_user("ann")
    Membership.objects.create(project=small_project, user=ann, role=Role.ANNOTATOR)
    criterion = small_project.criteria.get(name="coherence").pk
    body = {
        "name": "First", "criteria": [criterion], "annotators": ["ann"], "overlap": 1,
        "gold": GOLD, "practice_items": 1, "practice_pass": 60, "check_percent": 20,
        "span_categories": ["Accuracy"], "span_severities": ["minor", "major"],
        "adjudicate_beyond": 1.5,
    }  # fmt: skip
    status, made = call("POST", "/campaigns", body)
    assert status == 201, made
    assert {name: made[name] for name in body} == body
    return dict(made)


def test_a_draft_is_changed_field_by_field(call: Call, campaign: dict[str, Any]) -> None:
    address = f"/campaigns/{campaign['id']}"
    status, changed = call("PUT", address, {"selection": "sample", "sample_size": 2})
    refused = call("PUT", address, {"sample_size": None})

    assert status == 200
    revision = {"revision": changed["revision"]}
    assert changed == campaign | revision | {"selection": "sample", "sample_size": 2}
    assert (refused[0], refused[1]["errors"][0]["at"]) == (422, "sample_size")


def test_known_answers_that_do_not_fit_are_refused_by_row(
    call: Call, campaign: dict[str, Any]
) -> None:
    address = f"/campaigns/{campaign['id']}"
    status, refused = call("PUT", address, {"gold": [*GOLD, GOLD[0] | {"doc_id": "d9"}]})
    lacking = call("PUT", address, {"gold": [{"doc_id": "d1"}]})

    assert status == 422
    assert refused["detail"].startswith("Row 3: there is no output")
    assert "of good for document d9" in refused["detail"]
    assert "Row 1: system_id is missing" in lacking[1]["detail"]


def test_the_plan_of_an_opened_campaign_is_fixed(call: Call, campaign: dict[str, Any]) -> None:
    address = f"/campaigns/{campaign['id']}"
    call("POST", f"{address}/open", {})
    same = {name: campaign[name] for name in ("criteria", "gold", "overlap", "goal")}
    status, changed = call("PUT", address, same | {"show_others": True, "annotators": []})
    refused = call("PUT", address, {"overlap": 2, "criteria": []})

    assert status == 200
    assert (changed["show_others"], changed["annotators"]) == (True, [])
    assert refused[0] == 422
    assert {error["at"] for error in refused[1]["errors"]} == {"overlap", "criteria"}
    assert Campaign.objects.get().overlap == 1


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("pairwise", [{"doc_id": "d1", "system_a": "odd", "system_b": "good", "winner": "b"}]),
        (
            "ranking",
            [
                {"doc_id": "d1", "system_id": "odd", "rank": 2},
                {"doc_id": "d1", "system_id": "good", "rank": 1},
            ],
        ),
        (
            "best_worst",
            [
                {"doc_id": "d1", "system_id": "odd", "place": "worst"},
                {"doc_id": "d1", "system_id": "good", "place": "best"},
            ],
        ),
    ],
)
def test_known_answers_of_all_kinds_come_back_as_they_went_in(
    call: Call, small_project: Project, kind: str, rows: list[dict[str, Any]]
) -> None:
    status, made = call("POST", "/campaigns", {"name": kind, "kind": kind, "gold": rows})

    assert status == 201, made
    assert made["gold"] == rows
