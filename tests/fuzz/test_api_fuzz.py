"""Schemathesis against the API's own OpenAPI: whatever is sent, no 5xx and no answer off the
schema.

A short run, always the same, is part of `make test-hostile`; `make fuzz` goes on for ten minutes,
with other requests each time.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from evaluations.models import ApiToken, Membership, Project
from evaluations.models.tokens import new_token
from evaluations.web.api.app import api
from geval_site.wsgi import application
from tests.fuzz.bodies import json_lines, tables

EXAMPLES = os.environ.get("GEVAL_FUZZ_EXAMPLES")  # for each operation
# Bodies that are no JSON, it knows nothing of.
schemathesis.openapi.media_type("application/x-ndjson", json_lines)
schemathesis.openapi.media_type("text/csv", tables)
# Not asked of the site, whose gates ask the database: there is none while tests are collected.
schema = schemathesis.openapi.from_dict(api.get_openapi_schema())
schema.app = application
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """Requests share the test's transaction, as those of Django's own test client do."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def token(small_project: Project, owner: User) -> str:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="fuzz", digest=digest)
    assert Membership.objects.filter(user=owner, project=small_project).exists()
    return token


@schema.parametrize()
@settings(
    max_examples=int(EXAMPLES or 3),
    derandomize=EXAMPLES is None,
    print_blob=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_api(case: Any, token: str) -> None:
    if "slug" in (case.path_parameters or {}):
        case.path_parameters["slug"] = "small"
    response = case.call(headers={"Authorization": f"Bearer {token}"})

    case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])
