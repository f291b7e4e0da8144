"""Bodies that are too large are refused before anything reads them; only who may upload sends
more."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client
from django.urls import resolve

from evaluations.models import ApiToken, Project, Role
from evaluations.models.tokens import new_token
from evaluations.web.gate.refusals import DISCARDED_BYTES, UPLOADS

pytestmark = pytest.mark.django_db
GIGABYTE = 2**30
FORM = "multipart/form-data; boundary=b"
UPLOAD = "/p/small/data/upload/"


class Endless:
    """A body that never ends; remembers how much of it was read."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int) -> bytes:
        self.given += size
        return b"x" * size

    readline = read


def post(
    client: Client, path: str, size: int, kind: str = FORM, **headers: str
) -> tuple[Any, Endless]:
    body = Endless()
    environment = {"wsgi.input": body, "CONTENT_LENGTH": str(size)}
    answer = client.generic("POST", path, b"", kind, headers=headers, **environment)  # type: ignore[arg-type]
    return answer, body


@pytest.mark.parametrize(
    "path", ["/sign-in/", "/", "/new/", "/p/small/", "/nowhere/", "/api/v1/projects", "/admin/"]
)
def test_nobody_sends_a_gigabyte_where_nothing_is_uploaded(project: Project, path: str) -> None:
    answer, body = post(Client(), path, GIGABYTE)

    assert answer.status_code == 413
    assert body.given <= DISCARDED_BYTES
    said = answer.json()["detail"] if path.startswith("/api/") else answer.content.decode()
    assert "This address accepts at most 2.5 MB." in said


@pytest.mark.parametrize("role", ["visitor", "stranger", Role.ANNOTATOR, Role.VIEWER])
def test_who_may_not_upload_does_not_send_much_to_where_others_do(
    project: Project, as_role: Callable[[str], Client], role: str
) -> None:
    answer, body = post(as_role(role), UPLOAD, 10**8)

    assert answer.status_code == 413
    assert "as a user who may upload" in answer.content.decode()
    assert body.given <= DISCARDED_BYTES


@pytest.mark.parametrize("token", ["wrong", ""])
def test_the_api_takes_no_large_body_without_a_token(project: Project, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    answer, body = post(Client(), "/api/v1/projects/small/outputs", 10**8, **headers)

    assert answer.status_code == 413
    assert answer["Content-Type"] == "application/problem+json"
    assert body.given <= DISCARDED_BYTES


def test_an_upload_may_be_larger_than_a_form_and_not_larger_than_its_limit(
    owner: User, project: Project, settings: Any
) -> None:
    settings.BODY_LIMIT_BYTES = 2**10
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    client = Client()
    client.force_login(owner)
    content = b"doc_id,system_id,source,output\n" + b"d,s,text,text\n" * 200

    page = client.post(UPLOAD, {"files": [SimpleUploadedFile("a.csv", content)]})
    by_token = Client().generic(
        "POST",
        "/api/v1/projects/small/outputs",
        content,
        headers={"Authorization": f"Bearer {token}"},
    )

    assert (page.status_code, by_token.status_code) == (302, 200)
    assert post(client, UPLOAD, settings.UPLOAD_LIMIT_BYTES + 2**21)[0].status_code == 413


def test_a_body_without_its_length_is_refused(project: Project) -> None:
    answer = Client().post("/sign-in/", headers={"Transfer-Encoding": "chunked"})

    assert answer.status_code == 411
    assert "Content-Length" in answer.content.decode()


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", FORM])
def test_a_form_with_a_hundred_thousand_fields_is_refused_at_once(kind: str) -> None:
    field = (
        b"a=&" if "url" in kind else b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    )
    content = (field * (2 * 2**20 // len(field))) + (b"" if "url" in kind else b"--b--\r\n")

    answer = Client(raise_request_exception=False).generic("POST", "/sign-in/", content, kind)

    assert answer.status_code == 400
    assert "too many fields or files" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (UPLOAD, "evaluations:upload_create"),
        ("/new/archive/", "evaluations:project_import"),
        *(
            (f"/api/v1/projects/small/{kind}", None)
            for kind in ("outputs", "ratings", "preferences", "scores")
        ),
    ],
)
def test_the_addresses_of_uploads_are_those_of_the_site(path: str, name: str | None) -> None:
    assert UPLOADS.fullmatch(path)
    assert name in (None, resolve(path).view_name)
    assert not UPLOADS.fullmatch(path + "x")


def test_django_reads_no_more_than_the_length_says() -> None:
    body = Endless()
    request = WSGIRequest({"REQUEST_METHOD": "POST", "wsgi.input": body, "CONTENT_LENGTH": "5"})

    assert request.read() == b"xxxxx"
