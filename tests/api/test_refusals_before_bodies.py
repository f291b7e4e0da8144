"""Whoever may not do something learns that first, whatever they send."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from evaluations.people.access import SAFE
from tests.pages.addresses import address, operations, records_of

pytestmark = pytest.mark.django_db
CHANGES = [(method, path) for method, path in operations() if method not in SAFE]


def nested(deep: int) -> str:
    return json.dumps(dict.fromkeys(("name", "settings"), 0)).replace("0", "[" * deep + "]" * deep)


BODIES = {"none": "", "no JSON": "[", "wrong fields": '{"name": 7}', "deep": nested(450)}


@pytest.fixture
def place(judged_project: Project, make_user: Callable[..., Any]) -> dict[str, Any]:
    return records_of(judged_project, make_user)


def answers(user: User, place: dict[str, Any], body: str, **fields: Any) -> dict[str, int]:
    """The status of each changing operation of the API, by its name."""
    token, digest = new_token()
    ApiToken.objects.create(user=user, name="t", digest=digest, **fields)
    client = Client(raise_request_exception=False)
    return {
        f"{method} {path}": client.generic(
            method,
            address(path, place),
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        ).status_code
        for method, path in CHANGES
    }


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_token_that_only_reads_is_refused_before_its_body_is_read(
    owner: User, place: dict[str, Any], body: str
) -> None:
    given = answers(owner, place, body, may_change=False)

    assert {name: status for name, status in given.items() if status != 403} == {}
    assert len(given) > 30


@pytest.mark.parametrize("deep", [150, 300, 450])
def test_a_body_nested_deeply_is_an_invalid_request(
    owner: User, place: dict[str, Any], deep: int
) -> None:
    given = answers(owner, place, nested(deep))

    assert {name: status for name, status in given.items() if status >= 500} == {}


def test_a_token_of_one_project_makes_no_other(owner: User, place: dict[str, Any]) -> None:
    given = answers(owner, place, "[", project=place["project"])

    assert given["POST /api/v1/projects"] == 403
