"""Projects, corpus, runs and reports over HTTP: in and out in bulk, in pages, with errors by
line."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import ApiToken, Membership, Project
from evaluations.models.tokens import new_token
from evaluations.reports.report import build_report
from geval.reports.downloads.report_json import as_json

pytestmark = pytest.mark.django_db
Send = Callable[..., Any]


def sender(user: User, **fields: Any) -> Send:
    token, digest = new_token()
    ApiToken.objects.create(user=user, name="t", digest=digest, **fields)

    def send(method: str, path: str, body: Any = "", kind: str = "application/json") -> Any:
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        headers = {"Authorization": f"Bearer {token}"}
        return Client().generic(
            method, f"/api/v1/projects{path}", content, content_type=kind, headers=headers
        )

    return send


@pytest.fixture
def send(owner: User) -> Send:
    return sender(owner)


OUTPUTS = "\n".join(
    json.dumps(
        {"doc_id": f"n{d}", "system_id": "s", "source": f"source {d}", "output": f"output {d}"}
    )
    for d in range(5)
)


def test_outputs_go_in_in_bulk_and_come_out_in_pages(send: Send, project: Project) -> None:
    loaded = send("POST", "/small/outputs", OUTPUTS, "application/x-ndjson")
    first = send("GET", "/small/outputs?limit=2").json()
    rest = send("GET", f"/small/outputs?limit=1000&cursor={first['next']}").json()

    assert loaded.json()["outputs"] == {"created": 5, "unchanged": 0, "changed": 0}
    assert [one["doc_id"] for one in first["items"] + rest["items"]] == [
        "n0",
        "n1",
        "n2",
        "n3",
        "n4",
    ]
    assert first["items"][0] | {"id": 0} == {
        "id": 0,
        "doc_id": "n0",
        "system_id": "s",
        "output": "output 0",
        "turns": [],
    }
    assert rest["next"] is None
    assert send("GET", "/small/outputs?doc_id=n3").json()["items"][0]["output"] == "output 3"


def test_errors_come_back_with_their_lines_and_nothing_is_loaded(
    send: Send, project: Project
) -> None:
    broken = OUTPUTS + '\n{"doc_id": "x"}\nnot json\n'

    answer = send("POST", "/small/outputs", broken, "application/x-ndjson")

    problem = answer.json()
    assert answer.status_code == problem["status"] == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert {error["line"] for error in problem["errors"]} == {6, 7}
    assert project.documents.count() == 0


def test_a_body_over_the_limit_is_refused(send: Send, project: Project, settings: Any) -> None:
    settings.UPLOAD_LIMIT_BYTES = 100

    assert send("POST", "/small/outputs", OUTPUTS, "application/x-ndjson").status_code == 413


def test_ratings_and_scores_come_out_as_lines(send: Send, judged_project: Project) -> None:
    ratings = [json.loads(line) for line in send("GET", "/small/ratings").getvalue().splitlines()]
    scores = [json.loads(line) for line in send("GET", "/small/scores").getvalue().splitlines()]

    assert len(ratings) == 24
    assert ratings[0]["annotator"] == "ann"
    assert len(scores) == 11
    assert scores[0] | {"run": 0, "score": 0} == {
        "doc_id": "d1", "system_id": "good", "criterion": "coherence", "judge": "Judge Judy",
        "judge_version": 1,
        "run": 0, "score": 0, "coverage": 0.97,
    }  # fmt: skip


def test_the_report_is_the_commands(send: Send, judged_project: Project) -> None:
    answer = send("GET", "/small/report?pseudonyms=false")

    assert answer.content.decode() == as_json(build_report(judged_project))
    refused = send("GET", "/small/report?level=turn").json()
    assert (
        refused["errors"][0]["message"]
        == "level is summary, session, system or dataset, not 'turn'."
    )


def test_a_run_is_started_looked_at_paused_and_ended(send: Send, judged_project: Project) -> None:
    judge = judged_project.judges.get()

    started = send(
        "POST", "/small/runs", {"judge": judge.pk, "criteria": ["Coherence"], "fresh": True}
    )
    again = send("POST", "/small/runs", {"judge": judge.pk})
    unknown = send("POST", "/small/runs", {"judge": judge.pk, "criteria": ["charm"]})
    run = started.json()
    paused = send("POST", f"/small/runs/{run['id']}/pause").json()
    ended = [send("POST", f"/small/runs/{run['id']}/cancel").json()["done"] for _ in range(2)]

    assert (started.status_code, run["state"], run["judge"]) == (201, "preparing", judge.pk)
    assert again.status_code == 409
    assert "still running" in again.json()["detail"]
    assert "no criterion 'charm'" in unknown.json()["errors"][0]["message"]
    assert (paused["done"], ended) == (True, [True, False])
    assert send("GET", f"/small/runs/{run['id']}").json()["state"] == "cancelled"
    assert [one["id"] for one in send("GET", "/small/runs").json()["items"]][-1] == run["id"]


def test_projects_are_made_and_listed_as_far_as_a_token_reaches(
    owner: User, project: Project
) -> None:
    send, narrow, reading = (
        sender(owner),
        sender(owner, project=project),
        sender(owner, may_change=False),
    )

    made = send("POST", "", {"name": "Second"})

    assert made.status_code == 201
    slug = made.json()["slug"]
    assert Membership.objects.get(project__slug=slug).role == "owner"
    assert [one["slug"] for one in send("GET", "").json()["items"]] == ["small", slug]
    assert [one["slug"] for one in narrow("GET", "").json()["items"]] == ["small"]
    assert narrow("GET", f"/{slug}").status_code == 404
    assert narrow("POST", "", {"name": "x"}).status_code == 403
    assert reading("POST", "", {"name": "x"}).status_code == 403
    assert send("POST", "", {"name": ""}).status_code == 422


def test_a_conversation_goes_in_and_its_turns_come_out(send: Send, project: Project) -> None:
    chat = '{"session_id": "s", "system_id": "bot", "turns": [{"role": "user", "text": "Hello"}, '
    chat += '{"role": "assistant", "text": "Hi."}]}'

    loaded = send("POST", "/small/outputs?rate=assistant", chat, "application/x-ndjson").json()
    document = send("GET", "/small/documents").json()["items"][0]
    found = send("GET", f"/small/documents/{document['id']}/conversation").json()

    assert loaded["outputs"]["created"] == 1
    assert (document["session"], document["turns_before"]) == ("s", 1)
    assert found == {
        "turns": [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi."}],
        "rated": 2,
    }
    assert send("GET", "/small/outputs").json()["items"][0]["turns"] == []
