"""The Python client against a real server and a real worker, and the notebook that shows it."""

import http.client
import io
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from evaluations.models import Project
from geval.client import ApiError, Client
from tests.processes import StandInProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def site(site_address: str) -> Client:
    """A client of a served site; the owner's token."""
    return Client(site_address, token=os.environ["GEVAL_TOKEN"])


def test_from_files_to_a_frame(site: Client, small_project: Project, tmp_path: Path) -> None:
    project = site.project("small")
    file = tmp_path / "scores.csv"
    file.write_text(
        "doc_id,system_id,criterion,judge,score\n"
        + "\n".join(
            f"d{d},{s},coherence,metric,{v}"
            for d in (1, 2, 3)
            for s, v in (("good", 0.9), ("odd", 0.2))
        )
    )

    loaded = project.request("POST", "/scores", rows=file)
    rows = project.report_frame("polars").to_dicts()

    assert loaded["scores"]["created"] == 6
    assert project.request("GET")["output_count"] == 6
    assert len(list(project.pages("/outputs", system_id="good"))) == 3
    assert [row["doc_id"] for row in project.pages("/documents", q="harbour 2")] == ["d2"]
    assert len(list(project.lines("/ratings"))) == 24
    assert len(list(project.lines("/scores"))) == 6
    summary = next(
        row
        for row in rows
        if (row["criterion"], row["coefficient"], row["level"])
        == ("coherence", "spearman", "summary")
    )
    assert summary["value"] == pytest.approx(1)
    assert summary["judge"] == "metric"


@pytest.mark.slow
def test_a_run_is_started_and_waited_for(
    site: Client, small_project: Project, start_worker: Callable[[], object]
) -> None:
    start_worker()
    small_project.documents.update(references=["The ferry sails again."])
    project = site.project("small")
    project.request("POST", "/judges", body={"name": "Overlap", "kind": "rouge"})
    bar = io.StringIO()

    run = project.start_run("Overlap", fresh=True)
    finished = run.wait(every=0.1, progress=bar)
    paused = project.request("POST", f"/runs/{run.id}/pause")

    assert (finished["state"], finished["done"], finished["failed"]) == ("done", 6, 0)
    assert paused == {"done": False}
    assert "6/6" in bar.getvalue()


@pytest.mark.slow
def test_refusals_say_where_and_what(site: Client, small_project: Project) -> None:
    row = {"doc_id": "d1", "system_id": "good", "criterion": "fluency", "score": 3}
    with pytest.raises(ApiError) as refused:
        site.project("small").request("POST", "/ratings", rows=[row])
    assert refused.value.status == 422
    assert "Whose are the scores in “score”?" in str(refused.value)
    assert "By one person (score=ratings" in str(refused.value)
    with pytest.raises(ApiError, match="404 Not found"):
        site.project("hidden").request("GET")
    with pytest.raises(ApiError, match="401 Not signed in"):
        list(Client(site.base_url, token="wrong").pages("/projects"))
    with pytest.raises(LookupError, match="no judge 'Nobody' in small"):
        site.project("small").start_run("Nobody")


class LosesAnswers(BaseHTTPRequestHandler):
    """Passes requests on to a site, and loses the first answer to each kind of request on the way
    back."""

    site = ""
    lost: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        onwards = http.client.HTTPConnection(urlsplit(self.site).netloc, timeout=30)
        kept = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in ("host", "connection")
        }
        onwards.request("POST", self.path, body=body, headers=kept)
        answer = onwards.getresponse()
        content = answer.read()
        onwards.close()
        if self.path not in self.lost:
            self.lost.add(self.path)
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Idempotency-Replayed", answer.headers.get("Idempotency-Replayed", ""))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.mark.slow
def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_happens_twice(
    site: Client, small_project: Project, tmp_path: Path
) -> None:
    LosesAnswers.site, LosesAnswers.lost = site.base_url, set()
    between = ThreadingHTTPServer(("127.0.0.1", 0), LosesAnswers)
    Thread(target=between.serve_forever, daemon=True).start()
    client = Client(f"http://127.0.0.1:{between.server_port}", token=site.token)
    try:
        made = client.request("POST", "/projects", body={"name": "Made once"})
        row = {"doc_id": "d1", "system_id": "good", "criterion": "fluency", "score": 3}
        ratings = (row | {"annotator": name} for name in ("cy", "di"))
        loaded = client.project("small").request("POST", "/ratings", rows=ratings)
    finally:
        between.shutdown()

    assert Project.objects.get(name="Made once").slug == made["slug"]
    # Without the key the second attempt would find them unchanged.
    assert loaded["ratings"] == {"created": 2, "unchanged": 0, "changed": 0}
    assert len(LosesAnswers.lost) == 2


@pytest.mark.slow
def test_a_judge_is_made_once_a_worker_has_asked_its_endpoint(
    site: Client,
    small_project: Project,
    start_standin: Callable[..., StandInProcess],
    start_worker: Callable[[], object],
) -> None:
    start_worker()
    project = site.project("small")
    answering, silent = (
        project.request("POST", "/endpoints", body={"name": name, "base_url": address})["id"]
        for name, address in (("S", start_standin().base_url), ("N", "http://127.0.0.1:9/v1"))
    )
    body = {"name": "J", "endpoint": answering, "model": "offline-stand-in"}

    judge = project.request("POST", "/judges", body=body)

    assert judge["mode"] == "logprobs"
    with pytest.raises(ApiError, match="Nothing answers at"):
        project.request("POST", "/judges", body={"name": "K", "endpoint": silent, "model": "m"})
