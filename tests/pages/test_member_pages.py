"""Members: invitation links, roles, the last owner, the audit log, passwords."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from evaluations.management import tasks
from evaluations.models import AuditEntry, Invitation, Membership, Project
from evaluations.people.members import invite

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]


@pytest.fixture
def boss(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def link_on(page: str) -> str:
    return re.findall(r"<code[^>]*>http://testserver(/invitation/[^<]+)</code>", page)[0]


def test_an_owner_invites_and_somebody_with_an_account_joins_once(
    boss: Client, project: Project, make_user: MakeUser
) -> None:
    page = boss.post(
        "/p/small/members/invite/", {"role": "annotator", "note": "Kim from Oslo", "days": "3"}
    ).content.decode()
    link = link_on(page)
    kim, lee = Client(), Client()
    kim.force_login(make_user("kim"))
    lee.force_login(make_user("lee"))

    assert "Your role: <strong>Annotator</strong>" in kim.get(link).content.decode()
    kim.post(link)

    assert Membership.objects.get(user__username="kim").role == "annotator"
    assert lee.get(link).status_code == lee.post(link).status_code == 410
    assert (
        "Kim from Oslo" not in boss.get("/p/small/members/").content.decode()
    )  # the invitation is used up
    assert link.split("/")[-2] not in boss.get("/p/small/members/").content.decode()


def test_somebody_without_an_account_makes_one_by_the_link(
    boss: Client, project: Project, owner: User
) -> None:
    link = f"/invitation/{invite(project, 'viewer', by=owner).token}/"
    stranger = Client()
    data = {"username": "new", "password1": "a-Long-password-77", "password2": "a-Long-password-77"}

    refused = stranger.post(link, data | {"password2": "other"})
    joined = stranger.post(link, data, follow=True)

    assert refused.status_code == 422
    assert joined.status_code == 200
    assert Membership.objects.get(user__username="new").role == "viewer"


def test_an_invitation_ends_when_it_is_taken_back_or_too_old(
    boss: Client, project: Project, owner: User
) -> None:
    back, old = (invite(project, "viewer", by=owner).token for _ in range(2))
    first, second = Invitation.objects.order_by("pk")
    boss.post(f"/p/small/members/invitations/{first.pk}/revoke/")
    Invitation.objects.filter(pk=second.pk).update(expires_at=timezone.now() - timedelta(hours=1))

    assert {
        Client().get(f"/invitation/{token}/").status_code for token in (back, old, "nonsense")
    } == {410}


@pytest.mark.parametrize("change", [{"role": "researcher"}, {"remove": "1"}, "inactive"])
def test_an_invitation_ends_with_the_right_of_whoever_made_it(
    boss: Client, project: Project, make_user: MakeUser, change: dict[str, str] | str
) -> None:
    kim, lee = make_user("kim"), Client()
    member = Membership.objects.create(project=project, user=kim, role="owner")
    link = f"/invitation/{invite(project, 'owner', by=kim).token}/"
    lee.force_login(make_user("lee"))
    assert lee.get(link).status_code == 200

    if isinstance(change, str):
        User.objects.filter(pk=kim.pk).update(is_active=False)
    else:
        boss.post(f"/p/small/members/{member.pk}/", change)

    assert lee.get(link).status_code == lee.post(link).status_code == 410
    assert not Membership.objects.filter(user__username="lee").exists()


def test_a_member_who_is_invited_again_keeps_their_role(
    boss: Client, project: Project, owner: User
) -> None:
    boss.post(f"/invitation/{invite(project, 'viewer', by=owner).token}/")

    assert Membership.objects.get(user=owner).role == "owner"


def test_roles_are_changed_and_members_taken_out_but_an_owner_stays(
    boss: Client, project: Project, owner: User, make_user: MakeUser
) -> None:
    member = Membership.objects.create(project=project, user=make_user("kim"), role="viewer")
    own = Membership.objects.get(user=owner)

    boss.post(f"/p/small/members/{member.pk}/", {"role": "researcher"})
    member.refresh_from_db()
    assert member.role == "researcher"
    for change in ({"role": "viewer"}, {"remove": "1"}):
        page = boss.post(f"/p/small/members/{own.pk}/", change, follow=True).content.decode()
        assert "needs at least one owner" in page
    boss.post(f"/p/small/members/{member.pk}/", {"remove": "1"})
    assert not Membership.objects.filter(user__username="kim").exists()


def test_the_log_tells_who_changed_what_and_not_what_was_typed(
    boss: Client, project: Project, make_user: MakeUser
) -> None:
    member = Membership.objects.create(project=project, user=make_user("kim"), role="viewer")
    boss.post("/p/small/endpoints/new/", {"base_url": "http://127.0.0.1:1/v1", "key": "sk-secret"})
    boss.post(f"/p/small/members/{member.pk}/", {"role": "researcher"})
    boss.post("/p/small/endpoints/new/", {"base_url": "nonsense"})

    entries = list(AuditEntry.objects.order_by("pk").values_list("user_name", "action", "detail"))
    assert ("olga", "evaluations:endpoint_create", "") in entries
    assert ("olga", "evaluations:member_change", "kim is researcher") in entries
    page = boss.get("/p/small/members/log/").content.decode()
    assert "kim is researcher" in page
    assert "sk-secret" not in page


def test_a_forgotten_password_is_set_anew_by_a_link_in_a_mail(
    client: Client, make_user: MakeUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Done at once, without a worker.
    monkeypatch.setattr(
        "evaluations.people.waking.send",
        lambda _task, email, **more: tasks.send_password_reset(email, **more),
    )
    make_user("kim", email="kim-forgets@example.org")

    client.post("/password/forgotten/", {"email": "kim-forgets@example.org"})
    client.post("/password/forgotten/", {"email": "nobody@example.org"})

    assert [message.to for message in mail.outbox] == [["kim-forgets@example.org"]]
    link = re.findall(r"http://testserver(/password/new/\S+)", str(mail.outbox[0].body))[0]
    form = client.get(link, follow=True).redirect_chain[-1][0]
    client.post(form, {"new_password1": "a-New-password-99", "new_password2": "a-New-password-99"})
    assert client.login(
        username="kim", password="a-New-password-99", request=client.get("/sign-in/").wsgi_request
    )
