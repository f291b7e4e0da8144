"""Traces by OpenTelemetry and errors to Sentry, for sites whose environment configures them.

Both follow the log's rule: never a text of a document, a key or a token. Of a span, only its name,
times and the attributes listed here leave the site; of an error, its types and places, without
messages, variables and addresses. Everything kept is listed here, and every text of it passes the
log's filter. The extra `telemetry` installs the libraries.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from geval_site import environment
from geval_site.logs import clean
from geval_site.version import __version__

INSTALL = "{} is set, but {} is not installed: pip install 'geval-site[telemetry]'."
ATTRIBUTES = frozenset(
    {
        "http.request.method",
        "http.method",
        "http.route",
        "http.response.status_code",
        "http.status_code",
        "db.system",
        "db.system.name",
        "db.statement",
        "db.query.text",
        "celery.action",
        "celery.task_name",
        "celery.state",
        "messaging.destination",
        "messaging.destination.name",
        "messaging.message.id",
        "error.type",
    }
)
# Polled several times a minute by machines.
UNTRACED = "healthz,readyz,metrics,static/"
OF_AN_EVENT = frozenset(
    {
        "event_id",
        "level",
        "timestamp",
        "platform",
        "release",
        "environment",
        "logger",
        "sdk",
        "server_name",
        "modules",
    }
)
# An address as its pattern, and a task by its name; otherwise the visitor's own text.
NAMED_BY_CODE = frozenset({"route", "view", "component", "task"})
TAGS = frozenset({"celery_task_id"})
OF_AN_ERROR = frozenset({"type", "module", "thread_id"})
OF_A_THREAD = frozenset({"id", "name", "crashed", "current"})
# Lines of code are also in the log.
OF_A_FRAME = frozenset(
    {
        "filename",
        "abs_path",
        "function",
        "module",
        "lineno",
        "in_app",
        "pre_context",
        "context_line",
        "post_context",
    }
)


def start() -> None:
    """Start telemetry, once in each web or worker process, before Django loads its middleware.

    Raises:
        ImproperlyConfigured: a library is missing, or Sentry's address is invalid.
    """
    if dsn := environment.text("GEVAL_SENTRY_DSN"):
        _send_errors(dsn)
    # OpenTelemetry's own variable; its others (headers, sampling, …) apply as well.
    if environment.text("OTEL_EXPORTER_OTLP_ENDPOINT"):
        _send_traces()


def _send_errors(dsn: str) -> None:
    try:
        import sentry_sdk
        from sentry_sdk.utils import BadDsn
    except ImportError:
        raise ImproperlyConfigured(INSTALL.format("GEVAL_SENTRY_DSN", "sentry-sdk")) from None
    try:
        sentry_sdk.init(
            dsn,
            release=f"geval-site@{__version__}",
            include_local_variables=False,
            max_request_body_size="never",
            max_breadcrumbs=0,
            # Otherwise requests to models' endpoints would carry the DSN's key and their origin.
            trace_propagation_targets=[],
            before_send=discreet_event,
        )
    except BadDsn:
        raise ImproperlyConfigured(
            "GEVAL_SENTRY_DSN is no address of a Sentry project; copy it from the project's"
            " settings there."
        ) from None


def discreet_event(event: Any, _hint: Mapping[str, Any] | None = None) -> Any:
    """Reduce a Sentry event to types and places of errors."""
    kept = _named(event, OF_AN_EVENT)
    for name, fields in (("exception", OF_AN_ERROR), ("threads", OF_A_THREAD)):
        if name in event:
            entries = event[name].get("values") or ()
            kept[name] = {"values": [_discreet_trace(entry, fields) for entry in entries]}
    if (event.get("transaction_info") or {}).get("source") in NAMED_BY_CODE:
        kept["transaction"] = clean(str(event.get("transaction", "")))
    if isinstance(event.get("tags"), Mapping):
        kept["tags"] = {
            name: clean(str(value)) for name, value in _named(event["tags"], TAGS).items()
        }
    return kept


def _named(entries: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if name in names}


def _discreet_trace(entry: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """Reduce an error or a thread to the places in its trace, without variables."""
    kept = _named(entry, fields)
    if entry.get("stacktrace"):
        frames = entry["stacktrace"].get("frames") or ()
        kept["stacktrace"] = {"frames": [_named(frame, OF_A_FRAME) for frame in frames]}
    return kept


def _send_traces() -> None:
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.celery import CeleryInstrumentor
        from opentelemetry.instrumentation.django import DjangoInstrumentor
        from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured(
            INSTALL.format("OTEL_EXPORTER_OTLP_ENDPOINT", error.name)
        ) from None
    os.environ.setdefault("OTEL_PYTHON_DJANGO_EXCLUDED_URLS", UNTRACED)
    about = {"service.name": "geval-site", "service.version": __version__}
    # The environment's description of the service (OTEL_SERVICE_NAME) is merged over this.
    provider = TracerProvider(resource=Resource(about).merge(Resource.create()))

    class Discreet(OTLPSpanExporter):
        def export(self, spans: Sequence[Any]) -> Any:
            return super().export([discreet_span(span) for span in spans])

    provider.add_span_processor(BatchSpanProcessor(Discreet()))
    trace.set_tracer_provider(provider)
    for instrumentor in (DjangoInstrumentor, CeleryInstrumentor, PsycopgInstrumentor):
        instrumentor().instrument()


def discreet_span(span: Any) -> Any:
    """Reduce a span to the attributes listed above, passed through the log's filter, without events
    and links' attributes, which may contain errors' messages or anything else."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Link, Status

    kept = {
        name: clean(value) if isinstance(value, str) else value
        for name, value in _named(span.attributes, ATTRIBUTES).items()
    }
    return ReadableSpan(
        name=clean(span.name),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=kept,
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
