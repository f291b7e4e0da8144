"""Invitations to many addresses, by mail; accounts with an address; new passwords by an owner."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluations.models import Invitation, Membership, Project, Role
from evaluations.people import mails, waking
from evaluations.people.mails import addresses_in, send_invitation_mail, send_reset_mails

pytestmark = pytest.mark.django_db
INVITE = "/p/small/members/mail/"
FORM = {"mailed-role": "annotator", "mailed-language": "en", "mailed-days": "14"}


@pytest.fixture
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Messages to workers, who have not come yet."""
    settings.SENDS_MAIL = True
    messages: list[Any] = []

    def keep(task: str, *arguments: Any, **named: Any) -> bool:
        messages.append((task.rpartition(".")[2], arguments, named))
        return True

    monkeypatch.setattr(waking, "send", keep)
    return messages


def deliver(messages: list[Any]) -> None:
    for name, arguments, named in messages:
        work = {"send_invitation": send_invitation_mail, "send_password_reset": send_reset_mails}
        work[name](*arguments, **named)


@pytest.mark.parametrize(
    ("text", "addresses", "wrong"),
    [
        ("a@example.org, b@example.org", ["a@example.org", "b@example.org"], []),
        ('name,email\n"Ann Lee",ann@example.org\n', ["ann@example.org"], []),
        ("Ann <ann@example.org>; ANN@example.org", ["ann@example.org"], []),
        ("no address here", [], []),
        ("a@b\nc@example.org", ["c@example.org"], ["a@b"]),
    ],
)
def test_addresses_are_read_from_lists_and_tables(
    text: str, addresses: list[str], wrong: list[str]
) -> None:
    assert addresses_in(text) == (addresses, wrong)


def test_each_address_gets_a_link_that_works_once(
    owner: User, small: Project, client: Client, sent: list[Any]
) -> None:
    client.force_login(owner)
    file = SimpleUploadedFile("people.csv", "\ufeffmail\nben@example.org\n".encode())
    answer = client.post(
        INVITE, {**FORM, "mailed-addresses": "ann@example.org", "mailed-file": file}, follow=True
    )
    assert "Invitations to be mailed: 2." in answer.content.decode()

    deliver(sent)
    deliver(sent)  # messages may come twice
    assert [message.to for message in mail.outbox] == [["ann@example.org"], ["ben@example.org"]]
    link = re.search(r"http://testserver(/invitation/\S+)", mail.outbox[0].body)
    assert link is not None
    joined = Client().post(
        link[1],
        {
            "username": "ann",
            "email": "ann@example.org",
            "password1": "a-long-word-7",
            "password2": "a-long-word-7",
        },
    )
    assert joined.status_code == 302
    assert User.objects.get(username="ann").email == "ann@example.org"
    assert Client().get(link[1]).status_code == 410


def test_members_and_invited_people_are_left_out_and_wrong_addresses_refused(
    owner: User, small: Project, client: Client, sent: list[Any]
) -> None:
    User.objects.filter(pk=owner.pk).update(email="Olga@example.org")
    client.force_login(owner)
    client.post(INVITE, {**FORM, "mailed-addresses": "ann@example.org"})
    again = "olga@example.org ann@example.org new@example.org"
    answer = client.post(INVITE, {**FORM, "mailed-addresses": again}, follow=True)
    assert "mailed: 1. Members or invited already: 2." in answer.content.decode()

    wrong = client.post(INVITE, {**FORM, "mailed-addresses": "ok@example.org bad@"})
    assert wrong.status_code == 422
    assert set(Invitation.objects.values_list("address", flat=True)) == {
        "ann@example.org",
        "new@example.org",
    }


def test_a_revoked_invitation_is_not_mailed(
    owner: User, small: Project, client: Client, sent: list[Any]
) -> None:
    client.force_login(owner)
    client.post(INVITE, {**FORM, "mailed-addresses": "ann@example.org"})
    client.post(f"/p/small/members/invitations/{Invitation.objects.get().pk}/revoke/")

    deliver(sent)

    assert mail.outbox == []


def test_what_a_mail_server_refused_can_be_sent_again(
    owner: User, small: Project, client: Client, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(owner)
    client.post(INVITE, {**FORM, "mailed-addresses": "ann@example.org"})

    def fail(*_args: Any) -> None:
        raise OSError("away")

    with monkeypatch.context() as broken:
        broken.setattr(mails, "send", fail)
        with pytest.raises(OSError, match="away"):
            deliver(sent)

    deliver(sent)
    assert len(mail.outbox) == 1


def test_without_the_setting_nobody_is_invited_by_mail(
    owner: User, small: Project, client: Client
) -> None:
    client.force_login(owner)
    assert "Mail invitations" not in client.get("/p/small/members/").content.decode()

    answer = client.post(INVITE, {**FORM, "mailed-addresses": "ann@example.org"})

    assert (answer.status_code, Invitation.objects.count()) == (422, 0)


@pytest.fixture
def small(project: Project) -> Project:
    Project.objects.filter(pk=project.pk).update(name="Small", slug="small")
    project.refresh_from_db()
    return project


@pytest.fixture
def member(small: Project, make_user: Callable[..., User]) -> Membership:
    user = make_user("kim")
    return Membership.objects.create(project=small, user=user, role=Role.ANNOTATOR)


def test_a_member_with_an_address_gets_the_link_by_mail(
    owner: User, member: Membership, client: Client, sent: list[Any]
) -> None:
    User.objects.filter(pk=member.user_id).update(email="kim@example.org")
    client.force_login(owner)

    answer = client.post(f"/p/small/members/{member.pk}/password/", follow=True)
    deliver(sent)

    assert "/password/new/" not in answer.content.decode()
    assert mail.outbox[0].to == ["kim@example.org"]
    assert "/password/new/" in mail.outbox[0].body


def test_an_annotator_without_an_address_gets_it_from_the_owner(
    owner: User, member: Membership, client: Client
) -> None:
    client.force_login(owner)

    page = client.post(f"/p/small/members/{member.pk}/password/").content.decode()

    link = re.search(r"http://testserver(/password/new/[^<\s]+)", page)
    assert link is not None
    visitor = Client()
    form = visitor.get(link[1], follow=True)
    visitor.post(
        form.redirect_chain[-1][0],
        {"new_password1": "another-word-8", "new_password2": "another-word-8"},
    )
    member.user.refresh_from_db()
    assert member.user.check_password("another-word-8")


@pytest.mark.parametrize("more", ["staff", "researcher", "elsewhere"])
def test_an_owner_gains_no_rights_by_a_link(
    owner: User, member: Membership, client: Client, more: str
) -> None:
    if more == "staff":
        User.objects.filter(pk=member.user_id).update(is_staff=True)
    elif more == "researcher":
        Membership.objects.filter(pk=member.pk).update(role=Role.RESEARCHER)
    else:
        other = Project.objects.create(slug="other", name="Other")
        Membership.objects.create(project=other, user=member.user, role=Role.ANNOTATOR)
    client.force_login(owner)

    page = client.post(f"/p/small/members/{member.pk}/password/", follow=True).content.decode()

    assert "/password/new/" not in page
    assert "rights that you could gain" in page
