"""Headers of an endpoint go into each call; they are stored encrypted and never shown."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client as Browser

from evaluations.judging.judges.clients import client_for
from evaluations.judging.judges.judges import EndpointDraft, endpoint_at, save_endpoint
from evaluations.models import Endpoint, Project
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.network import MASK
from geval.llm.request_headers import read_headers
from geval.llm.requests import ChatRequest

ADDRESS = "http://127.0.0.1:9/v1"
SECRET = "team-secret-1"
HEADERS = {"x-portkey-provider": "openai", "x-team": SECRET}


@contextmanager
def server(status: int, answer: Any) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Answers every call alike; the headers of calls."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            seen.append({name.lower(): value for name, value in self.headers.items()})
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None: ...

    started = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=started.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{started.server_port}/v1", seen
    finally:
        started.shutdown()
        started.server_close()
        thread.join()


def ask(client: Client) -> str:
    async def answer() -> str:
        async with client:
            return (await client.chat(ChatRequest("m", "Rate."))).choices[0].text

    return asyncio.run(answer())


@pytest.mark.parametrize(
    ("written", "phrase"),
    [
        ("x-team research", "Line 1"),
        ("a b: c", "not the name of a header"),
        ("Authorization: Bearer sk", "set by each call itself"),
        ("content-type: text/plain", "set by each call itself"),
        ("Host: other", "set by each call itself"),
        ("x-team:", "cannot be sent"),
        ("x-team: ä-secret", "cannot be sent"),
        ("\n".join(f"x-{number}: a" for number in range(21)), "21 headers"),
    ],
)
def test_wrong_header_is_refused_without_its_value(written: str, phrase: str) -> None:
    with pytest.raises(ValueError, match=phrase) as refused:
        read_headers(written)

    assert "secret" not in str(refused.value)


@pytest.mark.django_db
def test_headers_go_into_calls(project: Project) -> None:
    answer = {"choices": [{"message": {"content": "4"}}]}

    with server(200, answer) as (base_url, seen):
        endpoint = save_endpoint(project, EndpointDraft(base_url, headers=HEADERS))
        text = ask(client_for(endpoint, timeout=10))

    assert text == "4"
    assert HEADERS.items() <= seen[0].items()


def test_value_of_a_header_in_an_answer_is_masked() -> None:
    answer = {"error": {"message": f"Team {SECRET} is unknown."}}

    with server(400, answer) as (base_url, _seen), pytest.raises(EndpointError) as raised:
        ask(Client(base_url, "", timeout=10, allow_private=True, headers=HEADERS))

    assert SECRET not in raised.value.message
    assert MASK.decode() in raised.value.message


@pytest.mark.django_db
def test_headers_are_stored_encrypted_and_kept() -> None:
    project = Project.objects.create(name="P", slug="p")
    endpoint = save_endpoint(project, EndpointDraft(ADDRESS, headers=HEADERS))

    save_endpoint(project, EndpointDraft(ADDRESS), endpoint=endpoint)

    stored = Endpoint.objects.get()
    assert SECRET not in stored.sealed_headers
    assert stored.headers == HEADERS
    assert endpoint_at(project, ADDRESS) != stored
    save_endpoint(project, EndpointDraft(ADDRESS, headers={}), endpoint=endpoint)
    assert Endpoint.objects.get(pk=stored.pk).headers == {}


@pytest.mark.django_db
def test_headers_are_entered_again_for_another_address(project: Project) -> None:
    endpoint = save_endpoint(project, EndpointDraft(ADDRESS, headers=HEADERS))
    moved = "http://127.0.0.1:8/v1"

    with pytest.raises(ValidationError, match="stored headers"):
        save_endpoint(project, EndpointDraft(moved), endpoint=endpoint)
    save_endpoint(project, EndpointDraft(moved, headers={"x-team": "b"}), endpoint=endpoint)

    assert endpoint.headers == {"x-team": "b"}


@pytest.mark.django_db
def test_page_takes_headers_and_shows_none(owner: User, project: Project) -> None:
    browser = Browser()
    browser.force_login(owner)
    lines = "\n".join(f"{name}: {value}" for name, value in HEADERS.items())

    refused = browser.post(
        "/p/small/endpoints/new/", {"base_url": ADDRESS, "headers": f"{lines}\nodd"}
    )
    browser.post("/p/small/endpoints/new/", {"base_url": ADDRESS, "headers": lines})

    endpoint = Endpoint.objects.get()
    edit = browser.get(f"/p/small/endpoints/{endpoint.pk}/edit/").content.decode()
    page = browser.get(endpoint.get_absolute_url()).content.decode()
    assert endpoint.headers == HEADERS
    assert "Line 3" in refused.content.decode()
    assert SECRET not in refused.content.decode() + edit + page
    assert "Headers" in page
    browser.post(
        f"/p/small/endpoints/{endpoint.pk}/edit/", {"base_url": ADDRESS, "forget_headers": "on"}
    )
    assert Endpoint.objects.get().headers == {}


@pytest.mark.django_db
def test_api_takes_headers_and_returns_none(owner: User, project: Project) -> None:
    browser = Browser()
    browser.force_login(owner)
    body = {"base_url": ADDRESS, "headers": HEADERS}

    answer = browser.post("/api/v1/projects/small/endpoints", body, content_type="application/json")
    wrong = browser.post(
        "/api/v1/projects/small/endpoints",
        {"base_url": ADDRESS, "headers": {"Host": "a"}},
        content_type="application/json",
    )

    assert answer.json()["has_stored_headers"] is True
    assert SECRET not in answer.content.decode()
    assert Endpoint.objects.get().headers == HEADERS
    assert (wrong.status_code, wrong.json()["errors"][0]["at"]) == (422, "headers")


@pytest.mark.django_db
def test_archive_has_no_headers(small_project: Project, tmp_path: Path) -> None:
    save_endpoint(small_project, EndpointDraft(ADDRESS, headers=HEADERS))
    with (tmp_path / "a.zip").open("wb") as file:
        write_archive(small_project, file)

    copy = read_archive(tmp_path / "a.zip", slug="copy")

    assert copy.endpoints.get().headers == {}
