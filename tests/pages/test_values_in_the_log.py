"""The log has what an edit changed, from which value to which; keys and codes are left out."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Campaign, OpenLink
from evaluations.models import AuditEntry, Criterion, Endpoint, Project

pytestmark = pytest.mark.django_db


def changes() -> dict[str, list[str | None]]:
    entry = AuditEntry.objects.latest("pk")
    return {name: sides for name, *sides in entry.changes}


def test_an_edit_by_the_api_is_noted_with_both_values(owner: User, small_project: Project) -> None:
    criterion = Criterion.objects.get(project=small_project, name="fluency")
    client = Client()
    client.force_login(owner)
    body = json.dumps({"definition": "Right.", "scale_max": 7})

    client.put(
        f"/api/v1/projects/small/criteria/{criterion.pk}", body, content_type="application/json"
    )

    assert changes()["definition"] == [criterion.definition, "Right."]
    assert changes()["scale max"] == ["5.0", "7.0"]
    shown = client.get("/p/small/members/log/", {"search": "Right."}).content.decode()
    assert "Right." in shown
    assert "→" in shown
    assert (
        "No entry" in client.get("/p/small/members/log/", {"search": "Wrongly."}).content.decode()
    )


def test_an_edit_of_a_page_is_noted_and_a_refused_one_is_not(
    as_role: Callable[[str], Client], small_project: Project
) -> None:
    campaign = Campaign.objects.create(project=small_project, name="One", overlap=2)
    campaign.criteria.set(small_project.criteria.all()[:1])
    first, second = small_project.criteria.all()
    client, address = as_role("owner"), f"/p/small/annotate/{campaign.pk}/edit/"
    form = client.get(address).context["form"]
    shown = ((name, form.get_initial_for_field(field, name)) for name, field in form.fields.items())
    sent: dict[str, Any] = {name: "" if value is None else value for name, value in shown}
    sent |= {"name": "Two", "criteria": [first.pk, second.pk], "annotators": []}
    before = AuditEntry.objects.count()

    refused = client.post(address, sent | {"overlap": "none"})

    assert refused.status_code == 422
    assert AuditEntry.objects.count() == before

    client.post(address, sent | {"overlap": 3})

    assert changes()["overlap"] == ["2", "3"]
    assert changes()["name"] == ["One", "Two"]
    assert changes()["criteria"] == [str(first), f"{first}, {second}"]


def test_keys_and_codes_are_not_in_the_log(owner: User, small_project: Project) -> None:
    endpoint = Endpoint.objects.create(
        project=small_project, name="e", base_url="http://127.0.0.1:9/v1"
    )
    campaign = Campaign.objects.create(project=small_project, name="One")
    link = OpenLink.objects.create(
        campaign=campaign, title="Rate", address="abc", consent="Yes", done_code="OLD-CODE"
    )
    client = Client()
    client.force_login(owner)

    client.put(f"/api/v1/projects/small/endpoints/{endpoint.pk}", json.dumps({"key": "sk-typed"}),
               content_type="application/json")  # fmt: skip
    client.put(f"/api/v1/projects/small/campaigns/{campaign.pk}/open-link",
               json.dumps({"done_code": "NEW-CODE", "title": "Rate it"}),
               content_type="application/json")  # fmt: skip

    text = json.dumps(list(AuditEntry.objects.values_list("changes", flat=True)))
    assert "sk-typed" not in text
    assert "CODE" not in text
    link.refresh_from_db()
    assert link.done_code == "NEW-CODE"
