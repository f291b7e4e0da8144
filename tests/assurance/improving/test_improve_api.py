"""Improving a judge over HTTP: lock, search, look, use."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from assurance.improving.work import work_on_search
from evaluations.models import Criterion, Judge, LockedDocuments

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(as_role: Callable[[str], Client]) -> Callable[..., Any]:
    client = as_role("researcher")

    def send(method: str, path: str, body: Any = None) -> Any:
        content = json.dumps(body or {})
        return client.generic(
            method, f"/api/v1/projects/small{path}", content, content_type="application/json"
        )

    return send


def test_from_locked_documents_to_a_judge_that_is_used(
    send: Callable[..., Any], judge: Judge, criterion: Criterion
) -> None:
    asked = {"judge": judge.pk, "criterion": criterion.pk, "changes": ["panel"]}
    refused = send("POST", "/searches", asked)
    assert refused.status_code == 409
    assert "No documents are locked" in refused.json()["detail"]
    assert send("GET", "/locked").status_code == 404

    assert send("POST", "/locked", {"share": 0.4, "looks": 2}).status_code == 201
    LockedDocuments.objects.update(seed="fixed")
    made = send("POST", "/searches", asked)
    assert made.status_code == 201
    search = made.json()
    assert search["state"] == "waiting"
    work_on_search(search["search"])
    found = send("GET", f"/searches/{search['search']}").json()
    assert found["state"] == "done"
    assert found["proposals"] == []
    candidate = found["candidates"][0]["candidate"]
    assert send("GET", "/searches").json()["items"][0]["candidates"][0]["candidate"] == candidate

    look = send("POST", f"/candidates/{candidate}/look").json()
    assert look["outcome"] == "proven"
    assert send("POST", f"/candidates/{candidate}/look").json() == look
    assert send("GET", "/locked").json()["looks_used"] == 1
    used = send("POST", f"/candidates/{candidate}/use").json()
    assert used["label"] == "today improved"


def test_a_search_is_paused_resumed_and_cancelled(
    send: Callable[..., Any], judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    asked = {"judge": judge.pk, "criterion": criterion.pk}
    search = send("POST", "/searches", asked).json()["search"]
    done = [
        send("POST", f"/searches/{search}/{what}").json()["done"]
        for what in ("pause", "pause", "resume", "cancel", "cancel", "resume")
    ]
    assert done == [True, False, True, True, False, False]
    assert send("GET", f"/searches/{search}").json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"changes": ["magic"]}, 409),
        ({"changes": ["wording"]}, 409),  # its scores were imported
        ({"most_calls": 0}, 422),
        ({"budget": -1}, 422),
        ({"judge": 10**9}, 404),
        ({"reflector": 10**9}, 404),
    ],
)
def test_a_search_that_cannot_be_is_refused_with_the_reason(
    send: Callable[..., Any],
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    wrong: dict[str, Any],
    status: int,
) -> None:
    answer = send("POST", "/searches", {"judge": judge.pk, "criterion": criterion.pk} | wrong)
    assert answer.status_code == status
    assert answer.json()["detail"]
