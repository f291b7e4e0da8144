"""A variable for a key that is not set is said when an endpoint or a judge is saved; nothing is
refused for it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs.accounts import read_account, warn_of_key
from evaluations.models import Endpoint, Judge, Project

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


def test_the_page_says_it_and_saves(as_role: Callable[[str], Client], project: Project) -> None:
    wanted = {"base_url": ADDRESS, "key_env": NAME}
    page = as_role("owner").post("/p/small/endpoints/new/", wanted, follow=True).content.decode()

    assert HERE in page
    assert '<li class="warning">' in page
    assert Endpoint.objects.get().key_env == NAME


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


def test_commands_say_it_beside_what_they_did(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    save_endpoint(project, EndpointDraft(ADDRESS, name="mine", key_env=NAME))
    call_command(
        *("add_judge", "small", "J", "--endpoint", "mine", "--model", "m"),
        *("--mode", "direct", "--no-probe"),
    )
    second = capsys.readouterr()

    assert "Judge J: created" in second.out
    assert HERE in second.err
    assert Judge.objects.exists()


def test_a_changed_judge_warns_as_a_new_one(
    as_role: Callable[[str], Client], project: Project, endpoint: Endpoint
) -> None:
    judge = project.judges.create(name="J", endpoint=endpoint, model="m", mode="direct")
    endpoint.probes.create(model="m", findings={"answered_model": "m"})
    form = {
        "kind": "geval", "name": "J2", "endpoint": endpoint.pk, "model": "m", "mode": "direct",
        "samples": "20", "max_tokens": "32", "concurrency": "4", "min_coverage": "0.5",
    }  # fmt: skip
    page = as_role("owner").post(f"{judge.get_absolute_url()}edit/", form, follow=True)

    assert HERE in page.content.decode()


def test_nothing_is_said_where_it_is_set_or_not_needed(
    project: Project, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = save_endpoint(project, EndpointDraft(base_url=ADDRESS, name="b", key="sk-1"))
    before = warn_of_key(endpoint)
    monkeypatch.setenv(NAME, "sk-1")

    assert before
    assert [warn_of_key(one) for one in (endpoint, stored, None)] == ["", "", ""]


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
