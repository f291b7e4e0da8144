"""Campaigns with their designs and goals in the HTTP API: made, opened, followed and closed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from ninja.responses import NinjaJSONEncoder

from annotations.api import campaign_json
from annotations.models import Annotator, Campaign, CampaignState
from evaluations.models import ApiToken, Membership, Project, Role
from evaluations.models.tokens import new_token
from tests.annotations.answered import answer, many_documents
from tests.annotations.test_goals import by_system

pytestmark = pytest.mark.django_db
CAMPAIGNS = "/api/v1/projects/small/campaigns"


@pytest.fixture
def ready(project: Project, owner: User, make_user: Callable[..., User], client: Client) -> Client:
    """Thirty documents of two systems, an annotator, and the owner at the API."""
    many_documents(project, 30)
    Membership.objects.create(project=project, user=make_user("ann"), role=Role.ANNOTATOR)
    client.force_login(owner)
    return client


def send(client: Client, path: str, data: dict[str, Any] | None = None) -> Any:
    return client.post(path, json.dumps(data or {}), content_type="application/json")


def with_goal(project: Project) -> dict[str, Any]:
    criterion = project.criteria.get().pk
    better, worse = project.systems.order_by("name")
    return {
        "name": "Enough", "criteria": [criterion], "annotators": ["ann"], "overlap": 1,
        "goal": {"kind": "systems", "criterion": criterion, "system": better.pk,
                 "other": worse.pk},
    }  # fmt: skip


def test_a_campaign_is_made_opened_followed_and_closed(ready: Client, project: Project) -> None:
    made = send(ready, CAMPAIGNS, with_goal(project))
    assert made.status_code == 201, made.content
    campaign = made.json()
    assert (campaign["state"], campaign["selection"]) == ("draft", "all")
    assert campaign["goal"]["kind"] == "systems"
    assert campaign["goal"]["reached_at"] is None

    address = f"{CAMPAIGNS}/{campaign['id']}"
    opened = send(ready, f"{address}/open").json()
    assert (opened["state"], opened["items"], opened["complete"]) == ("open", 60, 0)
    answer(Campaign.objects.get(), Annotator.objects.get(), by_system, most=20)
    standing = ready.get(address).json()["standing"]
    assert standing["documents"] > 0
    assert standing["low"] < standing["estimate"] <= standing["high"]

    assert send(ready, f"{address}/close").json()["state"] == "closed"
    assert [one["id"] for one in ready.get(CAMPAIGNS).json()["items"]] == [campaign["id"]]


def test_a_reply_is_the_campaign_and_nothing_that_is_undefined(
    ready: Client, project: Project
) -> None:
    plain = send(ready, CAMPAIGNS, with_goal(project) | {"goal": None, "name": "Plain"}).json()
    made = send(ready, CAMPAIGNS, with_goal(project)).json()
    campaign = Campaign.objects.get(pk=made["id"])
    stored = json.loads(json.dumps(campaign_json(campaign), cls=NinjaJSONEncoder))

    listed = ready.get(CAMPAIGNS)
    single = ready.get(f"{CAMPAIGNS}/{plain['id']}").json()

    assert made == stored
    assert [each["id"] for each in listed.json()["items"]] == [plain["id"], made["id"]]
    assert {*listed.json()["items"][1]} == {*stored}
    assert b'"lease_minutes": 60.0' in listed.content
    assert {*single} == {*stored, "items", "complete"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"criteria": []}, "Choose at least one criterion"),
        ({"selection": "sample"}, "Enter the number of items"),
        ({"annotators": ["nobody"]}, "nobody is not a member of this project"),
        ({"goal": {"kind": "width", "criterion": 1}}, "This goal needs a value here"),
        ({"goal": {"kind": "width", "criterion": 1, "width": 9}}, "less than or equal to 0.5"),
        ({"goal": {"kind": "width", "criterion": 999_999}}, "Select a valid choice."),
        ({"criteria": [999_999]}, "999999 is not one of the available choices"),
        ({"order": "random"}, "A goal counts document by document"),
        ({"whole_documents": True}, "Whole documents are drawn for ratings of a random sample"),
        ({"name": "  "}, "This field is required"),
        ({"overlap": 0}, "greater than or equal to 1"),
        ({"lease_minutes": 1e9}, "less than or equal to 10080"),
        ({"seed": -1}, "greater than or equal to 0"),
    ],
)
def test_what_the_page_refuses_the_api_refuses(
    ready: Client, project: Project, change: dict[str, Any], said: str
) -> None:
    refused = send(ready, CAMPAIGNS, with_goal(project) | change)

    assert refused.status_code == 422
    assert said in refused.content.decode()
    assert not Campaign.objects.exists()


def test_a_campaign_that_cannot_be_opened_stays_a_draft(ready: Client, project: Project) -> None:
    pk = send(ready, CAMPAIGNS, with_goal(project) | {"annotators": []}).json()["id"]

    refused = send(ready, f"{CAMPAIGNS}/{pk}/open")

    assert refused.status_code == 422
    assert "Each item needs 1 annotator" in refused.content.decode()
    assert Campaign.objects.get().state == CampaignState.DRAFT


def test_a_plan_is_asked_for(ready: Client, project: Project) -> None:
    send(ready, CAMPAIGNS, with_goal(project) | {"goal": None})
    send(ready, f"{CAMPAIGNS}/{Campaign.objects.get().pk}/open")
    answer(Campaign.objects.get(), Annotator.objects.get(), by_system)
    better, worse = project.systems.order_by("name")
    asked = {"kind": "systems", "criterion": project.criteria.get().pk, "system": better.pk,
             "other": worse.pk}  # fmt: skip

    found = ready.get("/api/v1/projects/small/plan", asked)

    assert found.status_code == 200, found.content
    assert found.json()["documents"] == 30
    refused = ready.get("/api/v1/projects/small/plan", asked | {"other": better.pk})
    assert "Choose another one to compare with." in refused.content.decode()
    assert ready.get("/api/v1/projects/small/plan").status_code == 422


def test_a_token_that_only_reads_follows_campaigns_and_makes_none(
    ready: Client, project: Project, owner: User
) -> None:
    pk = send(ready, CAMPAIGNS, with_goal(project)).json()["id"]
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="reader", digest=digest, may_change=False)
    reader = Client(headers={"Authorization": f"Bearer {token}"})

    assert reader.get(f"{CAMPAIGNS}/{pk}").json()["name"] == "Enough"
    assert reader.get("/api/v1/projects/small/plan").status_code in (200, 422)
    refused = send(reader, f"{CAMPAIGNS}/{pk}/open")
    assert (refused.status_code, refused.json()["detail"]) == (403, "This token can only read.")
