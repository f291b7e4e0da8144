"""Members, invitations and the end of a project over the API: what their pages do, by the same
rules."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import ApiToken, AuditEntry, IdempotentAnswer, Project
from evaluations.models.tokens import new_token
from evaluations.people import waking
from evaluations.people.activity import in_words

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/projects/small"


class Program:
    """A program with a token of somebody."""

    def __init__(self, user: User, **about: Any) -> None:
        token, digest = new_token()
        ApiToken.objects.create(user=user, name="t", digest=digest, **about)
        self.headers = {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return Client().generic(
            method,
            ROOT + path,
            "" if body is None else json.dumps(body),
            content_type="application/json",
            headers={**self.headers, **headers},
        )


@pytest.fixture
def program(owner: User) -> Program:
    return Program(owner)


def members(program: Program) -> dict[str, str]:
    return {row["user"]: row["role"] for row in program.send("GET", "/members").json()}


def id_of(program: Program, user: str) -> int:
    rows = program.send("GET", "/members").json()
    return next(row["id"] for row in rows if row["user"] == user)


def logged() -> list[tuple[str, str]]:
    entries = AuditEntry.objects.filter(refused=False).order_by("pk")
    return [(entry.action, entry.detail) for entry in entries]


def test_somebody_joins_gets_a_role_and_leaves(
    program: Program, make_user: Callable[..., User]
) -> None:
    made = program.send("POST", "/invitations", {"role": "viewer", "note": "Kim"})
    (listed,) = program.send("GET", "/invitations").json()
    kim = Client()
    kim.force_login(make_user("kim"))
    kim.post(made.json()["link"])

    assert made.status_code == 201
    assert listed == {name: made.json()[name] for name in listed}
    assert "link" not in listed
    assert members(program) == {"kim": "viewer", "olga": "owner"}

    changed = program.send("PUT", f"/members/{id_of(program, 'kim')}", {"role": "researcher"})
    assert changed.json()["role"] == "researcher"
    assert program.send("DELETE", f"/members/{id_of(program, 'kim')}").status_code == 204
    assert members(program) == {"olga": "owner"}
    assert logged() == [
        ("api:make_invitation", "as viewer"),
        ("api:edit_member", "kim is researcher"),
        ("api:remove_member", "kim removed"),
    ]
    assert in_words("api:remove_member") == "removed a member"


def test_the_last_owner_stays(program: Program) -> None:
    olga = id_of(program, "olga")
    for answer in (
        program.send("PUT", f"/members/{olga}", {"role": "viewer"}),
        program.send("DELETE", f"/members/{olga}"),
    ):
        assert answer.status_code == 409
        assert "at least one owner" in answer.json()["detail"]
    assert members(program) == {"olga": "owner"}


def test_a_withdrawn_invitation_lets_nobody_in(program: Program) -> None:
    made = program.send("POST", "/invitations", {}).json()

    assert program.send("DELETE", f"/invitations/{made['id']}").status_code == 204
    assert program.send("DELETE", f"/invitations/{made['id']}").status_code == 404
    assert program.send("GET", "/invitations").json() == []
    assert Client().get(made["link"]).status_code == 410


def test_a_link_is_not_kept_for_repeated_requests(program: Program) -> None:
    key = {"Idempotency-Key": "once"}
    links = {program.send("POST", "/invitations", {}, **key).json()["link"] for _ in range(2)}

    assert len(links) == 2
    assert not IdempotentAnswer.objects.exists()


def test_people_are_invited_in_bulk(
    program: Program, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SENDS_MAIL = True
    messages: list[Any] = []
    monkeypatch.setattr(waking, "send", lambda *sent, **_more: messages.append(sent) or True)
    body = {"addresses": ["ann@example.org", "Ben <ben@example.org>"], "language": "de"}

    first = program.send("POST", "/invitations/mailed", body)
    again = program.send("POST", "/invitations/mailed", body)
    wrong = program.send("POST", "/invitations/mailed", {"addresses": ["a@b"]})
    unknown = program.send("POST", "/invitations/mailed", body | {"language": "tlh"})

    assert first.json() == {"mailed": 2, "left_out": 0, "lost_from": ""}
    assert again.json() == {"mailed": 0, "left_out": 2, "lost_from": ""}
    assert [message[3] for message in messages] == ["de", "de"]
    assert (wrong.status_code, unknown.status_code) == (422, 422)
    assert "nobody was invited: a@b" in wrong.json()["detail"]
    assert logged()[0] == ("api:mail_invitations", "2 as annotator")


def test_a_member_without_an_address_gets_a_link_for_a_new_password(
    program: Program, project: Project, make_user: Callable[..., User]
) -> None:
    member = project.memberships.create(user=make_user("ann"), role="annotator")

    answer = program.send("POST", f"/members/{member.pk}/password").json()

    assert answer["mailed"] is False
    assert Client().get(answer["link"], follow=True).status_code == 200


def test_only_an_archived_project_goes_and_only_by_its_name(
    program: Program, project: Project
) -> None:
    early = program.send("DELETE", "", {"name": "Small"})
    assert program.send("PUT", "/archived", {"archived": True}).json()["archived_at"]
    fixed = program.send("PUT", "", {"name": "Renamed"})
    slip = program.send("DELETE", "", {"name": "small"})
    unread = program.send("DELETE", "", {"name": "Small", "force": True})
    assert Project.objects.filter(slug="small", deleted_at=None).exists()

    gone = program.send("DELETE", "", {"name": "Small"})

    assert (early.status_code, fixed.status_code) == (409, 403)
    assert "Archive the project first" in early.json()["detail"]
    (error,) = slip.json()["errors"]
    assert error["at"] == "name"
    assert error["message"].endswith("Type: Small")
    assert unread.status_code == 400
    assert gone.status_code == 204
    assert program.send("GET", "").status_code == 404
    entry = AuditEntry.objects.get(project=None)
    assert (entry.action, entry.user_name, entry.detail) == (
        "project deleted", "olga", "small: Small",
    )  # fmt: skip


def test_a_project_comes_back_from_the_archive(program: Program, project: Project) -> None:
    program.send("PUT", "/archived", {"archived": True})

    assert program.send("PUT", "/archived", {"archived": False}).json()["archived_at"] is None
    assert logged() == [
        ("api:archive_project", "archived"),
        ("api:archive_project", "restored"),
    ]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/invitations", None),
        ("POST", "/invitations", {}),
        ("PUT", "/archived", {"archived": True}),
        ("DELETE", "", {"name": "Small"}),
    ],
)
def test_others_than_owners_may_not(
    project: Project, make_user: Callable[..., User], method: str, path: str, body: Any
) -> None:
    researcher = make_user("rita")
    project.memberships.create(user=researcher, role="researcher")

    assert Program(researcher).send(method, path, body).status_code == 403


def test_a_token_that_reads_changes_no_members(owner: User, project: Project) -> None:
    reading = Program(owner, may_change=False)

    assert len(members(reading)) == 1
    assert reading.send("POST", "/invitations", {}).status_code == 403
    assert reading.send("DELETE", "", {"name": "Small"}).status_code == 403
