"""NUL characters, numbers of thousands of digits, NaN and odd JSON are refused with a sentence,
everywhere."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from geval_site.wsgi import application

pytestmark = pytest.mark.django_db
DIGITS = "9" * 5000
PROBLEM = "application/problem+json"
API = "/api/v1/projects"


@pytest.fixture
def client(owner: User, project: Project) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    return client


@pytest.fixture
def send(owner: User, project: Project) -> Any:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)

    def send(
        method: str, path: str, content: bytes = b"", kind: str = "application/json", **more: str
    ) -> Any:
        headers = {"Authorization": f"Bearer {token}", **more}
        return Client(raise_request_exception=False).generic(
            method, path, content, kind, headers=headers
        )

    return send


@pytest.mark.parametrize(
    "path",
    [
        "/p/small/data/?q=a%00b", "/p/small/data/?name=%00&value=%00", "/%00", "/p/sm%00all/",
        "/invitation/a%00/",
        "/shared/%00/", "/p/small/annotate/export/%00", "/p/small/report/?documents=%00",
        "/sign-in/?next=%00",
    ],
)  # fmt: skip
def test_a_nul_in_an_address_is_refused(client: Client, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code in (400, 404)
    assert answer.status_code == 404 or "NUL character" in answer.content.decode()


def test_a_nul_in_a_cookie_is_refused(project: Project) -> None:
    answer = Client(raise_request_exception=False).get(
        "/", headers={"Cookie": 'sessionid="abcdefgh\\000i"'}
    )

    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/sign-in/", {"username": "a\0b", "password": "x\0"}),
        ("/new/", {"name": "a\0b", "description": "\0"}),
        ("/p/small/data/upload/", {"text": "a\0b"}),
        ("/p/small/criteria/presets/", {"preset": "\0"}),
        (
            "/p/small/criteria/new/",
            {"name": "\0", "scale_min": "1", "scale_max": DIGITS, "scale_step": "nan"},
        ),
        ("/p/small/webhooks/", {"url": "http://example.org/\0"}),
        ("/tokens/", {"name": "\0", "project": DIGITS}),
        ("/p/small/members/invite/", {"role": "\0", "email": "\0"}),
        ("/password/forgotten/", {"email": "a\0@example.org"}),
        ("/p/small/annotate/guidelines/", {"guidelines": "\0"}),
        ("/p/small/annotate/new/", {"name": "\0", "share": DIGITS}),
        ("/p/small/runs/start/", {"judge": DIGITS, "criteria": "\0", "budget": "NaN"}),
        ("/p/small/endpoints/new/", {"base_url": "http://\0", "requests_per_minute": DIGITS}),
        ("/p/small/report/share/", {"name": "\0", "days": DIGITS}),
    ],
)
def test_odd_values_in_a_form_are_an_answer_and_no_failure(
    client: Client, path: str, fields: dict[str, str]
) -> None:
    assert client.post(path, fields).status_code < 500


@pytest.mark.parametrize(
    "path",
    [
        "/p/small/data/?page=" + DIGITS, "/p/small/report/?level=" + DIGITS,
        f"/p/small/data/{DIGITS}/",
        f"/p/small/runs/{DIGITS}/", "/p/small/runs/99999999999999999999/",
        "/p/small/data/99999999999999999999/",
        "/p/small/report/figure/scatter/99999999999999999999/",
        "/p/small/report/cell/99999999999999999999/1/",
        "/p/small/annotate/99999999999999999999/task/", "/p/small/data/?sort=high-" + DIGITS,
        "/p/small/runs/1/items/?page=" + DIGITS,
    ],
)  # fmt: skip
def test_numbers_of_thousands_of_digits_in_an_address_are_no_failure(
    client: Client, path: str
) -> None:
    assert client.get(path).status_code < 500


@pytest.mark.parametrize(
    "path",
    [
        "judges/{id}/steadiness", "runs/{id}", "campaigns/{id}", "campaigns/{id}/participants",
        "campaigns/{id}/answers",
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**25])
def test_an_id_beyond_what_the_database_holds_is_not_found(
    client: Client, path: str, number: int
) -> None:
    answer = client.get(f"{API}/small/{path.format(id=number)}")

    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("No ")  # the row, not the address


@pytest.mark.parametrize(
    "content",
    [
        b'{"name": ' + DIGITS.encode() + b"}", b'{"name": NaN}', b'{"name": "\\u0000"}',
        b'{"name": "\\ud800"}',
        b"[" * 100_000 + b"]" * 100_000, b'{"name":' * 50_000, b"\xff\xfe", b"", b"null", b"[]",
        b'"x"', b"1e999",
        b'{"name": "x", "description": ' + b"[" * 3000 + b"]" * 3000 + b"}", b'{"name": Infinity}',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "path", [API, f"{API}/small/judges", f"{API}/small/criteria", f"{API}/small/runs"]
)
def test_odd_json_is_refused_with_problem_details(send: Any, path: str, content: bytes) -> None:
    answer = send("POST", path, content)

    assert answer.status_code in (400, 422)
    assert answer["Content-Type"] == PROBLEM
    json.loads(answer.content, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nowhere", 404),
        ("GET", "/api/v2/", 404),
        ("GET", "/api/", 404),
        ("DELETE", API, 405),
        ("PATCH", f"{API}/small", 405),
        ("GET", f"{API}/absent", 404),
        ("GET", f"{API}/small/runs/{DIGITS}", 404),
        ("GET", f"{API}/small/runs/99999999999999999999", 404),
        ("GET", f"{API}/a%00b", 400),
        ("GET", f"{API}?cursor=" + DIGITS, 422),
        ("GET", f"{API}?limit=%00", 400),
    ],
)
def test_every_error_of_the_api_is_problem_details(
    send: Any, method: str, path: str, status: int
) -> None:
    answer = send(method, path)

    assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM)
    assert answer.json()["status"] == status


def test_a_failure_of_ours_is_problem_details_too(
    send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluations.web.api.projects.page_of", lambda *_given: 1 // 0)

    answer = send("GET", API)

    assert (answer.status_code, answer["Content-Type"]) == (500, PROBLEM)
    assert "ZeroDivisionError" not in answer.content.decode()


CODECS = (
    "hex",
    "base64",
    "zlib",
    "punycode",
    "idna",
    "utf-7",
    "utf-16",
    "rot13",
    "undefined",
    "latin-1",
    "'utf-8",
    "x",
)


def answered(kind: str) -> tuple[int, dict[str, str]]:
    """What the site's WSGI application answers, without the test client, which makes requests of
    its own."""
    environ = RequestFactory()._base_environ(
        PATH_INFO="/sign-in/", QUERY_STRING="next=%61", CONTENT_TYPE=kind
    )
    found: list[Any] = []
    application(
        environ, lambda status, headers: found.extend([int(status.split()[0]), dict(headers)])
    )
    return found[0], found[1]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "kind", ["text/html", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]
)
def test_a_request_in_another_codec_than_utf_8_is_refused(codec: str, kind: str) -> None:
    status, headers = answered(f"{kind}; charset={codec}")

    assert status == 415
    assert "Content-Security-Policy" in headers


@pytest.mark.parametrize("codec", ["utf-8", "UTF-8", '"utf-8"', "us-ascii"])
def test_utf_8_may_be_named(codec: str) -> None:
    assert answered(f"text/html; charset={codec}")[0] == 200
