"""Endpoints and judges over HTTP: the same rules as on the pages, tokens, and problem details for
every error."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import ApiToken, Endpoint, Judge, Membership, Project
from evaluations.models.tokens import new_token
from tests.conftest import do_errands
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db
BASE = "/api/v1/projects/small"
Call = Callable[..., Any]


@pytest.fixture
def call(owner: User) -> Call:
    return caller(owner)


def caller(user: User, **fields: Any) -> Call:
    """A program with a token of a user: `call(method, path, body)` gives the status and the
    JSON."""
    token, digest = new_token()
    ApiToken.objects.create(user=user, name="t", digest=digest, **fields)

    def send(method: str, path: str, body: object = None, *, token: str = token) -> tuple[int, Any]:
        response = Client().generic(
            method,
            BASE + path,
            json.dumps(body) if body is not None else "",
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        return response.status_code, response.json()

    return send


@pytest.mark.slow
def test_from_an_endpoint_to_a_judge(
    call: Call, small_project: Project, start_standin: Callable[..., StandInProcess]
) -> None:
    address = start_standin("--api-key", "sk-right").base_url

    made, endpoint = call("POST", "/endpoints", {"base_url": address, "key": "sk-right"})
    body = {"name": "Judge", "endpoint": endpoint["id"], "model": "offline-stand-in"}
    too_early, refused = call("POST", "/judges", body)
    probed, probe = call(
        "POST", f"/endpoints/{endpoint['id']}/probe", {"model": "offline-stand-in"}
    )
    do_errands()
    _, found = call("GET", refused["probe"].removeprefix(BASE))
    first, judge = call("POST", "/judges", body)
    again, _ = call("POST", "/judges", body)
    _, changed = call("PUT", f"/judges/{judge['id']}", body | {"mode": "direct"})
    _, retired = call("PUT", f"/judges/{judge['id']}/retired", {"retired": True})

    assert (made, too_early, probed, first, again) == (201, 409, 202, 201, 200)
    assert (probe["state"], probe["findings"], probe["address"]) == (
        "waiting",
        None,
        refused["probe"],
    )
    assert (found["state"], found["findings"]["logprobs"]) == ("done", 20)
    assert (judge["mode"], changed["mode"]) == ("logprobs", "direct")
    assert retired["retired_at"]
    assert [entry["name"] for entry in call("GET", "/judges")[1]] == ["Judge"]


def test_failed_probe_is_an_error_until_another_is_asked_for(
    call: Call, small_project: Project
) -> None:
    _, endpoint = call("POST", "/endpoints", {"base_url": "http://127.0.0.1:9/v1"})
    options = {"seed": 1}
    body = {"name": "J", "endpoint": endpoint["id"], "model": "m", "request_options": options}
    first, _ = call("POST", "/judges", body)
    do_errands()

    failed, problem = call("POST", "/judges", body)
    again, _ = call("POST", "/judges", body)
    anew, _ = call(
        "POST",
        f"/endpoints/{endpoint['id']}/probe",
        {"model": "m", "request_options": options},
    )
    waiting, _ = call("POST", "/judges", body)

    assert (first, failed, again, anew, waiting) == (409, 422, 422, 202, 409)
    assert "Nothing answers" in problem["detail"]
    assert small_project.endpoints.get().probes.count() == 1


def test_a_key_goes_in_and_never_comes_out(call: Call, small_project: Project) -> None:
    _, endpoint = call(
        "POST", "/endpoints", {"base_url": "http://127.0.0.1:9/v1", "key": "sk-secret"}
    )
    _, listed = call("GET", "/endpoints")

    assert endpoint["has_stored_key"] is True
    assert "sk-secret" not in json.dumps([endpoint, listed])
    assert Endpoint.objects.get().api_key == "sk-secret"


def test_an_endpoint_that_does_not_answer_fails_its_probe_with_a_message(
    call: Call, small_project: Project
) -> None:
    _, endpoint = call("POST", "/endpoints", {"base_url": "http://127.0.0.1:9/v1"})
    _, probe = call("POST", f"/endpoints/{endpoint['id']}/probe", {"model": "m"})
    do_errands()

    _, found = call("GET", probe["address"].removeprefix(BASE))

    assert found["state"] == "failed"
    assert "Nothing answers at http://127.0.0.1:9/v1" in found["message"]


@pytest.mark.parametrize(
    ("role", "read", "change"),
    [
        ("owner", 200, 201),
        ("researcher", 200, 201),
        ("viewer", 200, 403),
        ("annotator", 403, 403),
        (None, 404, 404),
    ],
)
def test_who_may_do_what(
    make_user: Callable[[str], User],
    small_project: Project,
    role: str | None,
    read: int,
    change: int,
) -> None:
    user = make_user("somebody")
    if role:
        Membership.objects.create(project=small_project, user=user, role=role)
    call = caller(user)

    assert call("GET", "/judges")[0] == read
    assert call("POST", "/endpoints", {"base_url": "http://127.0.0.1:9/v1"})[0] == change


def test_a_token_can_be_narrowed_to_reading_and_to_a_project(
    owner: User, small_project: Project
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    reading, elsewhere = caller(owner, may_change=False), caller(owner, project=other)

    assert reading("GET", "/judges")[0] == 200
    assert reading("POST", "/endpoints", {"base_url": "http://127.0.0.1:9/v1"})[0] == 403
    assert elsewhere("GET", "/judges")[0] == 404


@pytest.mark.parametrize("token", ["", "geval_wrong", "ü"])
def test_a_wrong_token_is_refused(call: Call, small_project: Project, token: str) -> None:
    assert call("GET", "/judges", token=token)[0] == 401


def test_a_tokens_last_use_is_kept_and_its_text_is_not(call: Call, small_project: Project) -> None:
    call("GET", "/judges")

    token = ApiToken.objects.get()
    assert token.last_used_at
    assert not token.digest.startswith("geval_")


def test_a_signed_in_browser_needs_the_csrf_token_to_change_things(
    owner: User, small_project: Project
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)

    read = browser.get(BASE + "/judges")
    change = browser.post(
        BASE + "/endpoints", {"base_url": "http://127.0.0.1:9/v1"}, content_type="application/json"
    )

    assert (read.status_code, change.status_code) == (200, 403)
    assert not Judge.objects.exists()


def test_the_command_shows_a_token_once_that_works(
    owner: User, small_project: Project, capsys: Any
) -> None:
    from django.core.management import call_command

    call_command("create_token", "olga", "laptop", "--read-only", "--project", "small")

    token = capsys.readouterr().out.strip()
    assert caller(owner)("GET", "/judges", token=token)[0] == 200
    assert ApiToken.objects.get(name="laptop").may_change is False
