"""The models of an endpoint come from its own list; a list that cannot be had says what to do."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs.errands import request_models
from evaluations.models import Endpoint, Project
from tests.conftest import do_errands
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db
MODEL = "offline-stand-in"


class ListServer:
    """Answers every request for models with one status and body, and nothing else."""

    def __init__(self, status: int, body: Any) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_args: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@pytest.fixture
def start_list() -> Iterator[Callable[..., ListServer]]:
    started: list[ListServer] = []

    def start(status: int, body: Any) -> ListServer:
        started.append(ListServer(status, body))
        return started[-1]

    yield start
    for one in started:
        one.server.shutdown()
        one.server.server_close()


def listed(project: Project, base_url: str, **more: Any) -> tuple[Endpoint, str]:
    """An endpoint whose models were asked for, and why there are none."""
    endpoint = save_endpoint(project, EndpointDraft(base_url=base_url, **more))
    asked = request_models(endpoint)
    do_errands()
    for row in (endpoint, asked):
        row.refresh_from_db()
    return endpoint, asked.message


def test_a_new_endpoint_s_page_shows_the_models_that_it_lists(
    as_role: Callable[[str], Client], project: Project, start_standin: Callable[..., StandInProcess]
) -> None:
    owner = as_role("owner")
    answer = owner.post("/p/small/endpoints/new/", {"base_url": start_standin().base_url})
    before = owner.get(answer.headers["Location"]).content.decode()
    do_errands()
    after = owner.get(answer.headers["Location"]).content.decode()

    assert "which models it has…" in before
    assert "It lists 1\n" in after
    assert f'<option value="{MODEL}">' in after
    assert "<h2></h2>" not in after


def test_a_refused_key_is_named_by_where_it_is(
    project: Project, start_list: Callable[..., ListServer], settings: Any
) -> None:
    settings.ENDPOINT_KEYS = frozenset({"MY_API_KEY"})
    refused = {"error": {"message": "Incorrect API key provided."}}
    url = start_list(401, refused).base_url

    typed = listed(project, url, name="a", key="sk-1")[1]
    named = listed(project, url, name="b", key_env="MY_API_KEY")[1]
    without = listed(project, url, name="c")[1]

    assert "refused the stored key. Edit the" in typed
    assert "refused the key in MY_API_KEY" in named
    assert "asks for a key. Edit the" in without
    assert all("type the model" in message for message in (typed, named, without))
