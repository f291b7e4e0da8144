"""A program logs outputs in two lines: they arrive, and whatever goes wrong, it goes on."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from evaluations.models import CandidateOutput, Project
from geval.client import Client
from geval.client.outbox import Outbox
from tests.conftest import CHECKOUT
from tests.processes import free_port

TWO_LINES = """
from geval.client import Client
site = Client({address!r}, token={token!r})
site.log("small", doc_id="q1", system="bot", source="When?", output="At 8.")
"""


class Site(ThreadingHTTPServer):
    """Keeps what it is sent; answers with `status` once it is `open`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.received: list[tuple[str, list[dict[str, Any]]]] = []
        self.open = Event()
        self.status, self.problem = 200, b"{}"
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for _, rows in self.received for row in rows]

    def client(self) -> Client:
        return Client(f"http://127.0.0.1:{self.server_port}", token="t")


class Answer(BaseHTTPRequestHandler):
    server: Site

    def do_POST(self) -> None:
        lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
        self.server.open.wait(10)
        self.server.received.append((self.path, [json.loads(line) for line in lines]))
        status, problem = self.server.status, self.server.problem
        # Before it answers: the test may then say what the next answer is.
        self.server.status, self.server.problem = 200, b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(problem)))
        self.end_headers()
        self.wfile.write(problem)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def listening() -> Iterator[Site]:
    server = Site()
    server.open.set()
    yield server
    server.open.set()
    server.shutdown()
    server.server_close()


def test_rows_are_sent_together_by_project(listening: Site) -> None:
    site = listening.client()
    for number in range(20):
        site.log("mine", doc_id=f"d{number}", system="bot", source="s", output="o")
    site.log(site.project("other"), system="bot", source="s", output="", session_id="s1")

    assert site.flush(10)

    assert len(listening.rows) == 21
    assert len(listening.received) < 10
    assert {path for path, _ in listening.received} == {
        "/api/v1/projects/mine/outputs",
        "/api/v1/projects/other/outputs",
    }
    assert listening.rows[-1] == {
        "system_id": "bot", "source": "s", "output": "", "session_id": "s1"
    }  # fmt: skip
    assert site.dropped == 0


def test_refused_rows_are_left_out_and_the_others_sent_again(listening: Site) -> None:
    problem = {"title": "Not loaded", "errors": [{"line": 2, "message": "source: nothing"}]}
    listening.status, listening.problem = 422, json.dumps(problem).encode()
    listening.open.clear()
    site = listening.client()
    for name in ("a", "b", "c"):
        site.log("mine", doc_id=name, system="bot", source="s", output="o")
    listening.open.set()

    assert site.flush(10)

    assert [row["doc_id"] for row in listening.received[-1][1]] == ["a", "c"]
    assert site.dropped == 1


def test_a_site_that_refuses_everything_is_warned_of_once(
    listening: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site = listening.client()
    for _ in range(2):
        listening.status, listening.problem = 401, b'{"title": "Not signed in"}'
        site.log("mine", system="bot", source="s", output="o")
        assert site.flush(10)

    assert site.dropped == 2
    [warning] = caplog.records
    assert "401 Not signed in" in warning.getMessage()


def test_what_is_too_much_is_dropped_at_once(listening: Site) -> None:
    listening.open.clear()
    outbox = Outbox(listening.client()._send_logged, most=5)

    for number in range(100):
        outbox.put("mine", {"doc_id": str(number)})

    assert outbox.dropped >= 90
    listening.open.set()
    assert outbox.flush(10)
    assert len(listening.rows) == 100 - outbox.dropped


def test_what_cannot_be_written_does_not_reach_the_caller(listening: Site) -> None:
    site = listening.client()
    circle: list[object] = []
    circle.append(circle)

    site.log("mine", system="bot", output="o", more=circle)
    site.log("mine", system="bot", output="o", metadata={"when": object})

    assert site.flush(10)
    assert (site.dropped, len(listening.rows)) == (1, 1)


def test_nobody_waits_for_a_site_that_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    site = Client(f"http://127.0.0.1:{free_port()}", token="t")

    site.log("mine", system="bot", source="s", output="o")

    assert not site.flush(0.1)
    with caplog.at_level(logging.WARNING):
        site._outbox.ended = True
        site.log("mine", system="bot", source="s", output="o")
    assert site.dropped == 1


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_two_lines_log_to_a_site_when_the_program_ends(site_address: str, project: Project) -> None:
    program = TWO_LINES.format(address=site_address, token=os.environ["GEVAL_TOKEN"])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    [output] = CandidateOutput.objects.of_project(project).select_related("document", "system")
    assert (output.document.doc_id, output.system.name, output.text) == ("q1", "bot", "At 8.")
