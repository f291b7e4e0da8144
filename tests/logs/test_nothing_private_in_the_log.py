"""No line has a text of a document, a key or a token, even where somebody logs one by mistake."""

import logging
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import User
from django.test import Client

from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Document, EvaluationRun, Judge, Project
from evaluations.models.sealing import seal
from geval.evaluators.geval import GEval
from geval.llm.calls import RetryPolicy
from tests.logs.conftest import Lines

TEXT, KEY = "the-sentinel-of-a-text", "sentinel-0123456789-key"
QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.01)
log = structlog.stdlib.get_logger("evaluations.tests")


class Parrot(BaseHTTPRequestHandler):
    """An endpoint whose errors quote the prompt and the key."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = b'{"error": {"message": "%s %s"}}' % (
            TEXT.encode() if TEXT.encode() in body else b"",
            self.headers["Authorization"].encode(),
        )
        self.send_response(400)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_arguments: Any) -> None:
        pass


def private_run(project: Project, judge: Judge) -> EvaluationRun:
    Document.objects.filter(project=project).update(source=f"Before. {TEXT}. After.")
    assert judge.endpoint
    judge.endpoint.sealed_key = seal(KEY)
    judge.endpoint.save()
    return start_run(judge, list(project.criteria.all()))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("endpoint", ["stand-in", "parrot", "error"])
def test_no_line_of_a_run_has_a_text_or_a_key(
    small_project: Project,
    make_judge: Callable[..., Judge],
    lines: Lines,
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("geval.llm.advice.FAILURES_IN_A_ROW", 3)
    logging.getLogger("evaluations").setLevel("DEBUG")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Parrot)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1" if endpoint == "parrot" else ""
    if endpoint == "error":

        def fail(_evaluator: object, question: object, *_more: object) -> None:
            raise ValueError(repr(question))

        monkeypatch.setattr(GEval, "requests", fail)
    judge = make_judge(small_project, base_url=address, use_steps=False)

    run = private_run(small_project, judge)
    work_on_run(run.pk, "host:1", policy=QUICK)
    server.shutdown()
    logging.getLogger("evaluations").setLevel("INFO")

    run.refresh_from_db()
    events = {line["event"] for line in lines.all}
    assert run.state == {"stand-in": "done", "parrot": "failed", "error": "paused"}[endpoint]
    assert events & {"run finished", "run failed", "run paused"}
    assert TEXT not in lines.text
    assert KEY not in lines.text
    if endpoint != "stand-in":
        assert TEXT in run.message + "".join(run.items.values_list("detail", flat=True))


def test_values_with_names_of_secrets_and_texts_are_removed(lines: Lines) -> None:
    log.warning(
        "something",
        api_key=KEY, password=KEY, Authorization=KEY, csrf_token=KEY, source=TEXT, outputs=[TEXT],
        promptText=TEXT, body=TEXT.encode(), replies={"a": TEXT}, nested={"token": KEY, "left": 1},
        prompt_tokens=12, run=3,
    )  # fmt: skip

    line = lines.only("something")
    assert TEXT not in lines.text
    assert KEY not in lines.text
    assert (line["run"], line["prompt_tokens"], line["nested"]["left"]) == (3, 12, 1)
    assert line["api_key"] == "[removed]"


def test_what_looks_like_a_secret_is_masked_wherever_it_is(lines: Lines) -> None:
    log.warning(f"Bearer {KEY}", url=f"https://me:{KEY}@host/x?{KEY}", said=f"no sk-{KEY}")
    logging.getLogger("gunicorn.error").error("Error handling request /shared/%s/", KEY)

    assert len(lines.all) == 2
    assert KEY not in lines.text


def test_long_strings_are_shortened_and_stay_on_one_line(lines: Lines) -> None:
    log.warning("first\nsecond\x1b[31m", reason="x" * 10_000)

    (line,) = lines.all
    assert line["event"] == "first\\nsecond\\x1b[31m"
    assert len(line["reason"]) < 400
    assert line["reason"].endswith("(10000 characters)")


def test_objects_and_messages_of_exceptions_are_logged_by_their_type(lines: Lines) -> None:
    document = Document(source=TEXT)
    try:
        try:
            int(TEXT)
        except ValueError as error:
            raise RuntimeError(TEXT) from error
    except RuntimeError as error:
        log.exception("it failed", found=document, error=error)
        logging.getLogger("openai").exception("failed: %s", error)
        logging.getLogger("openai").warning("failed: %s", error)

    assert TEXT not in lines.text
    line = lines.only("it failed")
    assert (line["found"], line["error"]) == ("<Document>", "RuntimeError")
    assert "ValueError\nwhich led to:" in line["exception"]
    assert [other["event"] for other in lines.all[1:]] == ["failed: RuntimeError"] * 2


def test_a_failed_task_is_logged_without_its_arguments(lines: Lines) -> None:
    context = {"name": "send", "id": "6f1c", "exc": repr(ValueError(TEXT)), "args": f"({KEY!r},)"}
    logging.getLogger("celery.app.trace").error(
        "Task %(name)s[%(id)s] raised: %(exc)s", context, extra={"data": context}
    )

    line = lines.only("task failed")
    assert (line["task"], line["task_id"]) == ("send", "6f1c")
    assert TEXT not in lines.text
    assert KEY not in lines.text


@pytest.mark.django_db
@pytest.mark.parametrize("path", [f"/shared/{KEY}/", f"/invitation/{KEY}/", f"/sharde/{KEY}/"])
def test_addresses_are_logged_without_their_tokens(
    lines: Lines, settings: Any, path: str, owner: User
) -> None:
    settings.SLOW_REQUEST_SECONDS = 0
    logging.getLogger("django_structlog").setLevel("DEBUG")
    client = Client()
    client.force_login(owner)

    assert client.get(path).status_code in (404, 410)
    logging.getLogger("django_structlog").setLevel("INFO")

    assert lines.of("slow request")
    assert [line for line in lines.all if line["logger"] == "django.request"]
    assert lines.of("request_finished")
    assert KEY not in lines.text
