"""Slow requests and queries leave a line; lines of a request have its ids."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from evaluations.models import Project
from tests.logs.conftest import Lines

pytestmark = pytest.mark.django_db


def test_a_slow_request_leaves_a_line_with_its_ids(
    lines: Lines, settings: Any, owner: User, project: Project
) -> None:
    settings.SLOW_REQUEST_SECONDS = 0
    client = Client()
    client.force_login(owner)

    client.get("/p/small/", REMOTE_ADDR="10.1.2.3")

    line = lines.only("slow request")
    assert (line["request"], line["status"]) == ("GET /p/<slug:slug>/", 200)
    assert (line["level"], line["ip"]) == ("warning", "10.1.2.3")
    assert (line["user_id"], line["project"]) == (owner.pk, "small")
    assert line["request_id"]


def test_other_requests_leave_no_line(lines: Lines, owner: User, project: Project) -> None:
    client = Client()
    client.force_login(owner)

    assert client.get("/p/small/").status_code == 200
    assert lines.all == []


def test_a_refusal_by_django_has_the_ids_of_its_request(
    lines: Lines, owner: User, project: Project
) -> None:
    client = Client()
    client.force_login(owner)

    client.get("/p/other/")

    (line,) = lines.all
    assert line["event"] == "Not Found: /p/<slug:slug>/"
    assert (line["logger"], line["user_id"]) == ("django.request", owner.pk)
    assert line["request_id"]


def test_an_error_of_a_page_leaves_one_line_with_its_place(
    lines: Lines, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ValueError("a text")

    monkeypatch.setattr("evaluations.people.access.why_not_call_out", fail)
    client = Client(raise_request_exception=False)
    client.force_login(owner)

    assert client.get("/p/small/").status_code == 500

    (line,) = lines.all
    assert (line["level"], line["project"]) == ("error", "small")
    assert "in guarded" in line["exception"]
    assert "a text" not in line["exception"].splitlines()


def test_a_slow_query_leaves_its_beginning_without_parameters(lines: Lines, settings: Any) -> None:
    settings.SLOW_QUERY_SECONDS = 0

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT\n  %s AS x, '{'y' * 500}'", ["a parameter"])

    line = lines.only("slow query")
    assert line["statement"].startswith("SELECT %s AS x, 'yyy")
    assert len(line["statement"]) == 200
    assert "a parameter" not in lines.text
