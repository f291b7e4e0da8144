"""A key is sent to the address it was given for; to another one only if somebody says so."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.models import Endpoint, Project

pytestmark = pytest.mark.django_db
HERE, THERE = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def endpoint(project: Project) -> Endpoint:
    return save_endpoint(project, EndpointDraft(base_url=HERE, key="sk-here"))


MOVES: list[dict[str, Any]] = [
    {"base_url": THERE},
    {"base_url": "https://127.0.0.1:9/v1"},
    {"base_url": "http://127.0.0.1:9/v2"},
    {"base_url": HERE, "api_version": "2024-10-21"},
]


@pytest.mark.parametrize("moved", MOVES)
def test_a_stored_key_is_asked_for_again_when_the_address_changes(
    project: Project, endpoint: Endpoint, moved: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError, match="the key for the new address"):
        save_endpoint(project, EndpointDraft(**moved), endpoint=Endpoint.objects.get())

    endpoint.refresh_from_db()
    assert (endpoint.base_url, endpoint.api_key) == (HERE, "sk-here")
    assert (
        save_endpoint(project, EndpointDraft(**moved, key="sk-there"), endpoint=endpoint).api_key
        == "sk-there"
    )


def test_the_page_asks_again_and_the_key_can_be_forgotten(
    browser: Client, endpoint: Endpoint
) -> None:
    edit = f"/p/small/endpoints/{endpoint.pk}/edit/"

    asked = browser.post(edit, {"base_url": THERE})
    endpoint.refresh_from_db()
    assert "the key for the new address" in asked.content.decode()
    assert endpoint.base_url == HERE

    browser.post(edit, {"base_url": THERE, "forget_key": "on"})
    endpoint.refresh_from_db()
    assert (endpoint.base_url, endpoint.api_key) == (THERE, "")


def test_the_api_asks_again(browser: Client, endpoint: Endpoint) -> None:
    def put(**body: str) -> Any:
        address = f"/api/v1/projects/small/endpoints/{endpoint.pk}"
        return browser.put(address, json.dumps(body), content_type="application/json")

    assert put(base_url=HERE, name="same address").status_code == 200
    refused = put(base_url=THERE)
    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "key")
    assert put(base_url=THERE, key="sk-there").status_code == 200


def test_a_variable_is_confirmed_for_the_new_address_on_the_page(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    endpoint = save_endpoint(project, EndpointDraft(base_url=HERE, key_env="OPENAI_API_KEY"))
    edit = f"/p/small/endpoints/{endpoint.pk}/edit/"
    moved = {"base_url": THERE, "key_env": "OPENAI_API_KEY"}

    asked = browser.post(edit, moved).content.decode()
    endpoint.refresh_from_db()
    assert "that the key of this variable" in asked
    assert endpoint.base_url == HERE

    browser.post(edit, moved | {"confirms_key_env": "on"})
    endpoint.refresh_from_db()
    assert endpoint.base_url == THERE


def test_what_was_found_out_about_the_old_address_is_forgotten(
    project: Project, endpoint: Endpoint
) -> None:
    endpoint.probes.create(model="m", findings={}, probed_at=timezone.now())

    save_endpoint(project, EndpointDraft(base_url=HERE, requests_per_minute=5), endpoint=endpoint)
    assert endpoint.probes.exists()
    save_endpoint(project, EndpointDraft(base_url=THERE, key=""), endpoint=endpoint)
    assert not endpoint.probes.exists()
