"""Security headers are on every answer, whatever made it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project
from evaluations.web.views import projects

pytestmark = pytest.mark.django_db
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def assert_safe(response: Any) -> None:
    assert {name: response.headers.get(name) for name in ALWAYS} == ALWAYS
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert "camera=()" in response.headers["Permissions-Policy"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/sign-in/", 200),
        ("/", 302),
        ("/sign-in", 301),
        ("/nowhere/", 404),
        ("/static/css/site.css", 200),
        ("/static/css/nothing.css", 404),
        ("/api/v1/projects", 401),
        ("/api/v1/nowhere", 404),
        ("/api/v1/openapi.json", 200),
        ("/admin/login/", 200),
    ],
)
def test_a_visitor_gets_them(path: str, status: int) -> None:
    response = Client().get(path)

    assert response.status_code == status
    assert_safe(response)


def test_errors_have_them(owner: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    monkeypatch.setattr(projects, "report_view", lambda *_arguments: 1 / 0)

    broken = client.get("/p/small/")
    forbidden = Client(enforce_csrf_checks=True).post("/sign-in/", {})
    wrong_host = Client(headers={"host": "evil.example"}).get("/sign-in/")

    assert [answer.status_code for answer in (broken, forbidden, wrong_host)] == [500, 403, 400]
    for answer in (broken, forbidden, wrong_host):
        assert_safe(answer)


def test_so_does_the_redirect_to_https_and_hsts_follows(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31_536_000

    plain, safe = Client().get("/sign-in/"), Client().get("/sign-in/", secure=True)

    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/sign-in/")
    assert_safe(plain)
    assert "Strict-Transport-Security" not in plain
    assert safe["Strict-Transport-Security"].startswith("max-age=31536000")


def test_pages_of_somebody_are_kept_nowhere(
    owner: User, small_project: Project, client: Client
) -> None:
    client.force_login(owner)

    for address in ("/", "/p/small/", "/p/small/annotate/export/ratings.csv", "/p/nothing/"):
        assert client.get(address).headers["Cache-Control"] == "private, no-store"
    assert client.get("/api/v1/projects").headers.get("Cache-Control") != "private, no-store"
    client.logout()
    assert "no-store" not in client.get("/docs/").headers.get("Cache-Control", "")
