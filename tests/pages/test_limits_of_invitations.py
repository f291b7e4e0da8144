"""Mails in the site's name: how many a project and a user may send, and what subjects hold."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Invitation, Project, ProjectLimits, Role
from evaluations.people import waking
from evaluations.people.mails import quoted
from evaluations.people.members import TooManyInvitationsError, invite, invite_by_mail

pytestmark = pytest.mark.django_db
INVITE = "/p/small/members/mail/"
FORM = {"mailed-role": "annotator", "mailed-language": "en", "mailed-days": "14"}


def addresses(count: int, start: int = 0) -> list[str]:
    return [f"person{number}@example.org" for number in range(start, start + count)]


@pytest.fixture
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    settings.SENDS_MAIL = True
    messages: list[Any] = []
    monkeypatch.setattr(waking, "send", lambda *message: messages.append(message) or True)
    return messages


@pytest.fixture
def small(project: Project) -> Project:
    Project.objects.filter(pk=project.pk).update(name="Small", slug="small")
    project.refresh_from_db()
    return project


def mail_to(client: Client, people: list[str]) -> Any:
    return client.post(INVITE, {**FORM, "mailed-addresses": " ".join(people)})


def test_a_project_has_at_most_fifty_open_invitations(
    owner: User, small: Project, client: Client, sent: list[Any]
) -> None:
    client.force_login(owner)

    refused = mail_to(client, addresses(51))

    assert refused.status_code == 422
    assert "may have 50 open invitations" in refused.content.decode()
    assert (len(sent), Invitation.objects.count()) == (0, 0)
    assert mail_to(client, addresses(50)).status_code == 302
    assert len(sent) == 50
    link = client.post("/p/small/members/invite/", {"role": "viewer", "days": "14"})
    assert (link.status_code, Invitation.objects.count()) == (422, 50)


def test_the_api_counts_the_same_invitations(
    owner: User, small: Project, client: Client, sent: list[Any]
) -> None:
    client.force_login(owner)

    refused = client.post(
        "/api/v1/projects/small/invitations/mailed",
        {"addresses": addresses(51)},
        content_type="application/json",
    )

    assert (refused.status_code, refused.json()["title"]) == (409, "Too many invitations")
    assert len(sent) == 0


def invite_all(project: Project, owner: User, people: list[str]) -> int:
    return invite_by_mail(
        project, people, Role.VIEWER, by=owner, days=1, language="en", link_of=str
    ).mailed


def test_a_user_invites_at_most_a_hundred_a_day_over_all_projects(
    owner: User, sent: list[Any]
) -> None:
    for number in range(2):
        project = Project.objects.make(f"P{number}", "", owner_id=owner.pk)
        assert invite_all(project, owner, addresses(49)) == 49
        project.delete()  # what was mailed is mailed
    last = Project.objects.make("last", "", owner_id=owner.pk)

    with pytest.raises(TooManyInvitationsError, match="100 invitations in a day"):
        invite_all(last, owner, addresses(3))

    assert len(sent) == 98
    assert invite_all(last, owner, addresses(2)) == 2


def test_an_administrator_raises_the_limits(owner: User, sent: list[Any], settings: Any) -> None:
    project = Project.objects.make("P", "", owner_id=owner.pk)
    ProjectLimits.objects.create(project=project, invitations=120)
    settings.USER_INVITATIONS = 0

    assert invite_all(project, owner, addresses(120)) == 120
    with pytest.raises(TooManyInvitationsError):
        invite(project, Role.VIEWER, by=owner)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Summaries", "“Summaries”"),
        ("Win at https://evil.example/x now", "“Win at … now”"),
        ("www.evil.example", "“…”"),
        ("call me@evil.example", "“call …”"),
        ("evil。com and ａ＠b", "“… and …”"),
        ("Round 2.1, of 3.", "“Round 2.1, of 3.”"),
        ("two\nlines ” here", "“two lines ' here”"),
        ("x" * 99, f"“{'x' * 60}”"),
    ],
)
def test_names_in_mails_are_quoted_without_links(name: str, shown: str) -> None:
    assert quoted(name) == shown
