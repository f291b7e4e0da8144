"""A variable for a key that is not set is said when an endpoint or a judge is saved; nothing is
refused for it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs.accounts import read_account, warn_of_key
from evaluations.models import Endpoint, Project

pytestmark = pytest.mark.django_db
NAME, ADDRESS = "MY_VLLM_API_KEY", "http://127.0.0.1:9/v1"
HERE = f"{NAME} is not set here, and no worker has read it yet. Set {NAME} in the environment of"


@pytest.fixture(autouse=True)
def allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENDPOINT_KEYS = frozenset({NAME})
    monkeypatch.delenv(NAME, raising=False)


@pytest.fixture
def endpoint(project: Project) -> Endpoint:
    return save_endpoint(project, EndpointDraft(base_url=ADDRESS, key_env=NAME))


def test_the_api_says_it_of_endpoints_and_judges(
    as_role: Callable[[str], Client], project: Project
) -> None:
    owner = as_role("owner")

    def post(path: str, body: dict[str, Any]) -> Any:
        address = f"/api/v1/projects/small/{path}"
        return owner.post(address, json.dumps(body), content_type="application/json").json()

    endpoint = post("endpoints", {"base_url": ADDRESS, "key_env": NAME})
    judge = post(
        "judges",
        {"name": "J", "endpoint": endpoint["id"], "model": "m", "mode": "direct", "probe": False},
    )

    assert len(endpoint["warnings"]) == 1
    assert HERE in endpoint["warnings"][0]
    assert judge["warnings"] == endpoint["warnings"]


def test_a_worker_that_has_the_key_is_believed(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Web servers need no keys, so what they lack says little once a worker has read it."""
    read_account(endpoint)
    without = warn_of_key(endpoint)
    monkeypatch.setenv(NAME, "sk-1")
    read_account(endpoint)
    monkeypatch.delenv(NAME)

    assert f"{NAME} is not set where" in without
    assert warn_of_key(endpoint) == ""
