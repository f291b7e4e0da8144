"""Who asks too often is told when to come back: in the API as a problem, on pages as a page; each
sender for itself."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.test import Client, override_settings

from evaluations.management import upkeep
from evaluations.models import ApiToken, Project, RequestCount
from evaluations.models.tokens import new_token
from evaluations.web.gate import refusals
from evaluations.web.gate.refusals import seconds_to_wait
from geval_site import environment

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _few() -> Iterator[None]:
    refusals.forget_shares()
    with override_settings(REQUEST_RATE="2/h"):
        yield
    refusals.forget_shares()


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


@pytest.mark.parametrize("rate", ["3/d", "99/d", "1000/d"])
def test_processes_never_allow_more_than_the_rate_together(rate: str) -> None:
    most = int(rate[:-2])
    allowed = 0
    for process in range(4):
        refusals.forget_shares()  # as another process does not know
        allowed += sum(seconds_to_wait("anna", rate) == 0 for _ in range(most // (3 + process) + 1))

    refusals.forget_shares()
    allowed += sum(seconds_to_wait("anna", rate) == 0 for _ in range(most))

    shares_of_others = 4 * (most // 100)
    assert most - shares_of_others <= allowed <= most
    assert 0 < seconds_to_wait("anna", rate) <= 86_400
    assert seconds_to_wait("bob", rate) == 0


def test_the_next_window_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = [seconds_to_wait("anna", "2/h") for _ in range(3)]
    RequestCount.objects.update(ends_at=time.time() - 1)
    later = time.monotonic() + waits[-1] + 1
    monkeypatch.setattr(refusals.time, "monotonic", lambda: later)

    assert waits[:2] == [0, 0]
    assert seconds_to_wait("anna", "2/h") == 0
    assert RequestCount.objects.get().taken == 1


def test_a_window_that_a_wrong_clock_has_opened_does_not_count() -> None:
    seconds_to_wait("anna", "2/h")
    RequestCount.objects.update(ends_at=time.time() + 86_400, taken=2)
    refusals.forget_shares()

    assert [seconds_to_wait("anna", "2/h") for _ in range(2)] == [0, 0]


def test_ended_windows_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds_to_wait("anna", "2/s")
    seconds_to_wait("bob", "2/d")
    RequestCount.objects.filter(ends_at__lt=time.time() + 10).update(ends_at=time.time() - 1)

    upkeep.do_if_due(next(job for job in upkeep.JOBS if job.name == "counts of requests"))

    assert RequestCount.objects.count() == 1


def test_requests_are_allowed_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(RequestCount.objects, "take", away)

    assert [seconds_to_wait("anna", "2/h") for _ in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("value", ["many", "0/m", "10/min", "-1/s", "10"])
def test_a_rate_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("GEVAL_REQUEST_RATE", value)

    with pytest.raises(ImproperlyConfigured, match="as in 600/m"):
        environment.rate("GEVAL_REQUEST_RATE", default="1/s")
