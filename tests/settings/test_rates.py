"""Who asks too often is told when to come back: in the API as a problem, on pages as a page; each
sender for itself."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from geval_site import environment

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _few() -> Iterator[None]:
    cache.clear()
    with override_settings(REQUEST_RATE="2/h"):
        yield
    cache.clear()


def test_pages_say_it_and_count_each_user(make_user: Callable[..., User]) -> None:
    anna, bob = Client(), Client()
    anna.force_login(make_user("anna"))
    bob.force_login(make_user("bob"))

    answers = [anna.get("/") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "This site accepts 2/h requests" in answers[2].content.decode()
    assert 1 <= int(answers[2]["Retry-After"]) <= 3600
    assert bob.get("/").status_code == 200


def test_the_api_says_it_and_counts_each_token(owner: User, project: Project) -> None:
    tokens = []
    for name in ("a", "b"):
        token, digest = new_token()
        ApiToken.objects.create(user=owner, name=name, digest=digest)
        tokens.append(token)

    def ask(token: str) -> Any:
        return Client().get("/api/v1/projects", headers={"Authorization": f"Bearer {token}"})

    answers = [ask(tokens[0]) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2]["Content-Type"] == "application/problem+json"
    assert "(GEVAL_REQUEST_RATE)" in answers[2].json()["detail"]
    assert ask(tokens[1]).status_code == 200


def test_a_refused_change_changes_nothing(owner: User, project: Project) -> None:
    client = Client()
    client.force_login(owner)
    for _ in range(2):
        client.get("/")

    assert client.post("/p/small/archived/").status_code == 429
    project.refresh_from_db()
    assert project.archived_at is None


@pytest.mark.parametrize("value", ["many", "0/m", "10/min", "-1/s", "10"])
def test_a_rate_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("GEVAL_REQUEST_RATE", value)

    with pytest.raises(ImproperlyConfigured, match="as in 600/m"):
        environment.rate("GEVAL_REQUEST_RATE", default="1/s")
