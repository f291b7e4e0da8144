"""A token ends after its days, and with its owner's password."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.models import ApiToken, Project

pytestmark = pytest.mark.django_db


def status_of(project: Project, token: str) -> int:
    address = f"/api/v1/projects/{project.slug}"
    return Client().get(address, headers={"Authorization": f"Bearer {token}"}).status_code


@pytest.mark.parametrize(
    ("days", "after", "status"), [(90, 89, 200), (90, 90, 401), (1, 2, 401), (0, 4000, 200)]
)
def test_a_token_expires(
    project: Project,
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    after: int,
    status: int,
) -> None:
    token = ApiToken.objects.issue(user=owner, name="t", days=days)
    later = timezone.now() + timedelta(days=after)
    monkeypatch.setattr("evaluations.models.tokens.timezone.now", lambda: later)

    assert status_of(project, token) == status


def test_a_token_expires_in_90_days_unless_asked_otherwise(
    owner: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("create_token", owner.username, "usual")
    call_command("create_token", owner.username, "always", "--days", "0")

    usual, always = ApiToken.objects.order_by("pk")
    assert timedelta(days=89) < usual.expires_at - timezone.now() <= timedelta(days=90)
    assert always.expires_at is None


def test_the_page_makes_tokens_that_expire(owner: User, client: Client) -> None:
    client.force_login(owner)
    page = client.post(
        reverse("evaluations:token_list"), {"name": "t", "days": "30"}
    ).content.decode()

    assert ApiToken.objects.get().expires_at is not None
    assert "Expires" in page


def test_a_new_password_ends_tokens(project: Project, owner: User) -> None:
    token = ApiToken.objects.issue(user=owner, name="t")
    owner.save()
    assert status_of(project, token) == 200

    owner.set_password("another long one 7")
    owner.save()

    assert status_of(project, token) == 401


def test_a_rehashed_password_ends_none(project: Project, owner: User) -> None:
    owner.set_password("one long enough 7")
    owner.save()
    token = ApiToken.objects.issue(user=owner, name="t")
    User.objects.filter(pk=owner.pk).update(
        password=f"pbkdf2_sha256$1${owner.password.split('$', 2)[2]}"
    )

    User.objects.get(pk=owner.pk).check_password("one long enough 7")

    assert status_of(project, token) == 200
