"""A request's token is read once, whatever asks for it: limits, idempotency keys, sizes, rights."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(owner: User) -> str:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    return token


def send(project: Project, size: int, authorization: str, key: str = "one") -> int:
    """The status of a bulk load with a body of so many bytes."""
    response = Client().post(
        f"/api/v1/projects/{project.slug}/outputs",
        " " * size,
        content_type="text/csv",
        headers={"Authorization": authorization, "Idempotency-Key": key},
    )
    return response.status_code


def test_a_token_is_read_once_for_a_request(project: Project, token: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        Client().get(
            f"/api/v1/projects/{project.slug}", headers={"Authorization": f"bearer {token}"}
        )

    reads = [query for query in queries if "SELECT" in query["sql"] and "apitoken" in query["sql"]]
    assert len(reads) == 1


@pytest.mark.parametrize("authorization", ["Bearer {}x", "Bearer  {}", "Basic {}", "{}"])
def test_a_large_body_needs_a_token_as_every_request_does(
    project: Project, token: str, authorization: str, settings: Any
) -> None:
    settings.BODY_LIMIT_BYTES = 1000

    assert send(project, 1001, f"Bearer {token}") != 413
    assert send(project, 1000, authorization.format(token)) == 401
    assert send(project, 1001, authorization.format(token)) == 413


def test_a_token_of_a_user_who_is_not_active_is_none(
    project: Project, owner: User, token: str
) -> None:
    assert list(ApiToken.objects.valid(token).values_list("user", flat=True)) == [owner.pk]

    User.objects.filter(pk=owner.pk).update(is_active=False)

    assert not ApiToken.objects.valid(token).exists()
