"""The audit log says what was refused: rights, addresses, keys, guessed passwords; and nobody can
fill it with that."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import AuditEntry, Endpoint, Project
from evaluations.people import audit

pytestmark = pytest.mark.django_db


def refused() -> list[tuple[str, str, str]]:
    entries = AuditEntry.objects.filter(refused=True).order_by("pk")
    return [(entry.user_name, entry.action, entry.detail) for entry in entries]


def test_a_right_that_is_missing_is_noted(
    as_role: Callable[[str], Client], project: Project
) -> None:
    as_role("viewer").post("/p/small/endpoints/new/", {"base_url": "http://127.0.0.1:9/v1"})
    as_role("stranger").post("/p/small/members/invite/", {"role": "owner"})
    as_role("researcher").get("/p/small/webhooks/")  # reading changes nothing

    assert refused() == [
        ("viewer", "evaluations:endpoint_create", "no right to do this"),
        ("stranger", "evaluations:invitation_create", "not a member"),
    ]


def test_refused_addresses_and_keys_are_noted_without_what_was_typed(
    owner: User, project: Project
) -> None:
    client = Client()
    client.force_login(owner)
    client.post(
        "/p/small/endpoints/new/", {"base_url": "http://169.254.169.254/x", "key": "sk-typed"}
    )
    client.post(
        "/p/small/endpoints/new/",
        {"base_url": "http://127.0.0.1:9/v1", "key_env": "GEVAL_SECRET_KEY"},
    )
    client.post(
        "/p/small/webhooks/", {"url": "http://169.254.169.254/", "events": ["run.finished"]}
    )
    body = json.dumps({"base_url": "http://169.254.169.254/", "key": "sk-typed"})
    client.post("/api/v1/projects/small/endpoints", body, content_type="application/json")

    assert [(action.rsplit(":")[-1], detail) for _user, action, detail in refused()] == [
        ("endpoint_create", "address refused"),
        ("endpoint_create", "key variable refused"),
        ("webhook_list", "address refused"),
        ("make_endpoint", "address refused"),
    ]
    assert not Endpoint.objects.exists()
    page = client.get("/p/small/members/log/").content.decode()
    assert page.count("Refused: ") == 4
    assert "sk-typed" not in page
    assert set(AuditEntry.objects.values_list("address", flat=True)) == {"127.0.0.1"}


def test_guessed_passwords_are_noted_once(make_user: Callable[..., User], settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    make_user("kim")

    for _ in range(5):
        Client().post("/sign-in/", {"username": "kim", "password": "a-guess"})

    assert refused() == [("kim", "login", "locked out")]
    assert "a-guess" not in repr(list(AuditEntry.objects.values()))


def test_nobody_fills_the_log(
    as_role: Callable[[str], Client], project: Project, monkeypatch: Any
) -> None:
    monkeypatch.setattr(audit, "MOST_REFUSED_AN_HOUR", 3)
    viewer, owner = as_role("viewer"), as_role("owner")

    for _ in range(5):
        viewer.post("/p/small/archived/")
    owner.post("/p/small/archived/")

    assert len(refused()) == 3
    assert AuditEntry.objects.filter(refused=False).count() == 1
