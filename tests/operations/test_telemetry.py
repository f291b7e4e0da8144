"""Traces and errors leave the site only where the environment asks for them, and without texts."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import brotli
import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, SpanContext, Status, StatusCode

from geval_site import telemetry
from tests.conftest import CHECKOUT

JUDGE = "/v1/chat/completions"
SECRET = "the-ferry-sails-at-noon"
# A request with a secret in its address to a page that is not there, and an error with one in its
# message, by the application that web servers load; and a request to a judge's endpoint.
PROGRAM = f"""
import os
import sys
from wsgiref.util import setup_testing_defaults
from geval_site.wsgi import application
environ = {{"PATH_INFO": "/shared/{SECRET}/nowhere", "QUERY_STRING": "q={SECRET}"}}
setup_testing_defaults(environ)
environ["HTTP_HOST"] = "localhost"
b"".join(application(environ, lambda status, headers: print(status)))
if "sentry_sdk" in sys.modules:
    import sentry_sdk
    try:
        text = "{SECRET}"
        raise ValueError(text)
    except ValueError as error:
        sentry_sdk.capture_exception(error)
    sentry_sdk.flush()
    import urllib.request
    urllib.request.urlopen(os.environ["JUDGE"], data=b"{{}}").read()
if "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ:
    from opentelemetry import trace
    trace.get_tracer_provider().force_flush()
"""


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A server that keeps what it is sent; its address, and paths with bodies."""
    received: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            unpack = {"gzip": gzip.decompress, "br": brotli.decompress}
            coding = self.headers.get("Content-Encoding")
            is_judge = self.path == JUDGE  # the headers of this one are of interest
            received.append(
                (
                    self.path,
                    bytes(self.headers) if is_judge else unpack.get(coding or "", bytes)(body),
                )
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", received
    server.shutdown()
    server.server_close()


def run(tmp_path: object, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    given = {"GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(tmp_path), "DATABASE_URL":
             "postgresql://nobody@127.0.0.1:9/none", "DJANGO_SETTINGS_MODULE":
             "geval_site.settings"}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=CHECKOUT, env=kept | given | variables,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_request_becomes_a_span_without_its_address(
    tmp_path: object, collector: tuple[str, list[tuple[str, bytes]]]
) -> None:
    address, received = collector

    done = run(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{address}")

    assert done.returncode == 0, done.stderr
    spans = [
        span
        for path, body in received
        if path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    request = next(span for span in spans if span.name.startswith("GET"))
    named = {one.key for one in request.attributes}
    assert named & {"http.method", "http.request.method"}
    assert named <= telemetry.ATTRIBUTES
    assert SECRET.encode() not in b"".join(body for _, body in received)


@pytest.mark.slow
def test_an_error_goes_with_its_type_and_place_and_without_its_message(
    tmp_path: object, collector: tuple[str, list[tuple[str, bytes]]]
) -> None:
    address, received = collector

    # Another host than Sentry's, to which nothing is added anyway.
    judge = f"http://{address.replace('127.0.0.1', 'localhost')}{JUDGE}"
    done = run(tmp_path, GEVAL_SENTRY_DSN=f"http://key@{address}/1", JUDGE=judge)

    assert done.returncode == 0, done.stderr
    bodies = b"".join(body for _, body in received)
    assert b"ValueError" in bodies
    assert SECRET.encode() not in bodies
    events = [json.loads(line) for line in bodies.splitlines() if b'"exception"' in line]
    (error,) = events[0]["exception"]["values"]
    assert error["stacktrace"]["frames"][-1]["lineno"] > 0
    assert "value" not in error
    assert "request" not in events[0]
    (headers,) = (body.lower() for path, body in received if path == JUDGE)
    assert b"baggage" not in headers
    assert b"sentry" not in headers


@pytest.mark.slow
def test_nothing_is_sent_or_loaded_unless_asked_for(tmp_path: object) -> None:
    asked = (
        "import sys, geval_site.wsgi; print({'sentry_sdk', 'opentelemetry.sdk'} & {*sys.modules})"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=CHECKOUT, capture_output=True, text=True, check=False,
        env=kept | {"GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(tmp_path)},
    )  # fmt: skip

    assert done.stdout.strip().endswith("set()"), done.stderr


def event(**more: Any) -> dict[str, Any]:
    """What Sentry's library hands over, with a secret wherever it may hold any text."""
    frame = {"function": "f", "lineno": 3, "vars": {"text": SECRET}, "data": {"a": SECRET}}
    trace = {"frames": [frame], "registers": {"a": SECRET}}
    return {
        "level": "error",
        "exception": {"values": [{"type": "ValueError", "value": SECRET, "stacktrace": trace,
                                  "mechanism": {"data": {"a": SECRET}}}]},
        "threads": {"values": [{"id": 1, "current": True, "stacktrace": trace, "held": SECRET}]},
        "transaction": f"/shared/{SECRET}/nowhere",
        "transaction_info": {"source": "url"},
        "tags": {"document": SECRET, "celery_task_id": "7", "url": SECRET},
        "fingerprint": [SECRET],
        "extra": {"a": SECRET},
        "contexts": {"trace": {"data": SECRET}},
        "request": {"url": SECRET},
        "user": {"username": SECRET},
        "breadcrumbs": {"values": [{"message": SECRET}]},
        "message": SECRET,
        "logentry": {"params": [SECRET]},
        "vars": {"text": SECRET},
        "a_field_of_tomorrow": SECRET,
    } | more  # fmt: skip


def test_no_field_of_an_error_carries_texts() -> None:
    sent = telemetry.discreet_event(event())

    assert SECRET not in json.dumps(sent)
    assert sent["tags"] == {"celery_task_id": "7"}
    (error,), (thread,) = sent["exception"]["values"], sent["threads"]["values"]
    assert (error["type"], error["stacktrace"]["frames"]) == (
        "ValueError",
        [{"function": "f", "lineno": 3}],
    )
    assert thread == {"id": 1, "current": True, "stacktrace": error["stacktrace"]}


@pytest.mark.parametrize(
    ("name", "source", "sent"),
    [
        ("/p/{slug}/report/", "route", "/p/{slug}/report/"),
        ("evaluations.management.tasks.run", "task", "evaluations.management.tasks.run"),
        (f"/shared/{SECRET}/", "route", "/shared/…"),
        (f"/p/{SECRET}/", "url", None),
        (SECRET, "custom", None),
        (SECRET, None, None),
    ],
)
def test_where_an_error_happened_is_named_by_code_alone(
    name: str, source: str | None, sent: str | None
) -> None:
    about = {"source": source} if source else None

    found = telemetry.discreet_event(event(transaction=name, transaction_info=about))

    assert found.get("transaction") == sent


def test_no_part_of_a_span_carries_texts() -> None:
    context = SpanContext(1, 2, is_remote=False)
    span = ReadableSpan(
        name=f"GET /shared/{SECRET}/",
        context=context,
        attributes={
            "http.method": "GET",
            "http.route": f"/invitation/{SECRET}/",
            "db.statement": f"SELECT 1 -- postgresql://geval:{SECRET}@db/geval",
            "http.url": SECRET,
        },
        events=[Event("exception", {"exception.message": SECRET})],
        links=[Link(context, {"document": SECRET})],
        status=Status(StatusCode.ERROR, SECRET),
    )

    sent = telemetry.discreet_span(span)

    assert SECRET not in sent.to_json()
    assert sent.attributes == {
        "http.method": "GET",
        "http.route": "/invitation/…",
        "db.statement": "SELECT 1 -- postgresql://…@db/geval",
    }


def test_an_address_that_is_none_is_an_error_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEVAL_SENTRY_DSN", "sentry")

    with pytest.raises(ImproperlyConfigured, match="GEVAL_SENTRY_DSN is no address"):
        telemetry.start()


@pytest.mark.parametrize(
    ("variable", "library"),
    [
        ("GEVAL_SENTRY_DSN", "sentry_sdk"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry.instrumentation.celery"),
    ],
)
def test_a_missing_library_is_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, variable: str, library: str
) -> None:
    monkeypatch.setenv(variable, "http://key@127.0.0.1:9/1")
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ImproperlyConfigured, match=r"pip install 'geval-site\[telemetry\]'"):
        telemetry.start()
