"""The most parallel calls of an endpoint: entered on its page and over the API, shown, and in
archives."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Endpoint, Project
from evaluations.projects.archive.read import read_archive
from tests.archive.test_round_trip import archived

pytestmark = pytest.mark.django_db
VALUES = {"base_url": "http://127.0.0.1:9/v1", "parallel_calls": 4}
AsRole = Callable[[str], Client]


@pytest.fixture
def endpoint(small_project: Project) -> Endpoint:
    return Endpoint.objects.create(project=small_project, name="e", **VALUES)


def test_a_form_takes_and_shows_it(as_role: AsRole, small_project: Project) -> None:
    owner = as_role("owner")
    owner.post("/p/small/endpoints/new/", {**VALUES, "parallel_calls": 1})

    endpoint = Endpoint.objects.get()
    page = owner.get(endpoint.get_absolute_url()).content.decode()
    form = owner.get(f"{endpoint.get_absolute_url()}edit/").content.decode()

    assert endpoint.parallel_calls == 1
    assert "1 parallel call" in page
    assert 'name="parallel_calls" value="1"' in form


@pytest.mark.parametrize("wrong", [0, -1, 2**31, "many"])
def test_the_form_and_the_api_refuse_what_is_no_number_of_calls(
    as_role: AsRole, small_project: Project, wrong: object
) -> None:
    owner, values = as_role("owner"), {**VALUES, "parallel_calls": wrong}

    page = owner.post("/p/small/endpoints/new/", values)
    answer = owner.post(
        "/api/v1/projects/small/endpoints", json.dumps(values), content_type="application/json"
    )

    assert (page.status_code, answer.status_code) == (422, 422)
    assert not Endpoint.objects.exists()


def test_the_api_takes_and_returns_it(as_role: AsRole, small_project: Project) -> None:
    answer = as_role("owner").post(
        "/api/v1/projects/small/endpoints", json.dumps(VALUES), content_type="application/json"
    )

    assert answer.json()["parallel_calls"] == 4
    assert "account" not in answer.json()


def test_an_archive_brings_it_along(small_project: Project, endpoint: Endpoint) -> None:
    copy = read_archive(archived(small_project), slug="copy")

    assert copy.endpoints.get().parallel_calls == 4
    assert copy.endpoints.get().account == ""
