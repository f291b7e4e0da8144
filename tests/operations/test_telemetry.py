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
