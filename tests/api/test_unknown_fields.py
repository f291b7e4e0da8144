"""A field that a request's body has and that nobody reads is refused, on every route."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project
from evaluations.web.api.app import api

pytestmark = pytest.mark.django_db
# Their bodies are rows, of which unknown columns are reported.
ROWS = ("outputs", "ratings", "preferences", "scores")


def routes() -> Iterator[tuple[str, str]]:
    """Each method and path that changes something and reads no rows."""
    for path, methods in api.get_openapi_schema(path_prefix="/api/v1")["paths"].items():
        for method in methods:
            if method in ("post", "put", "patch") and path.rsplit("/", 1)[-1] not in ROWS:
                yield method, path


def send(client: Client, method: str, path: str, body: Any) -> Any:
    return client.generic(method.upper(), path, json.dumps(body), content_type="application/json")


@pytest.fixture
def signed_in(owner: User, client: Client) -> Client:
    client.force_login(owner)
    return client


def test_no_route_ignores_a_field(signed_in: Client, small_project: Project) -> None:
    ignored = []
    for method, path in routes():
        address = re.sub(r"\{\w+\}", "1", path.replace("{slug}", "small"))
        refused = send(signed_in, method, address, {"nobody_reads_this": 1})
        names_it = "'nobody_reads_this' is no field here" in refused.content.decode()
        if refused.status_code != 400 or not names_it:
            ignored.append((method, path, refused.status_code))

    assert ignored == []


def test_strangers_learn_no_names(small_project: Project) -> None:
    refused = send(Client(), "post", "/api/v1/projects/small/criteria", {"nothing": 1})

    assert refused.status_code == 401
    assert "scale_max" not in refused.content.decode()
