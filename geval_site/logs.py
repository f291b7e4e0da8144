"""The log: one line for each event, for people on a terminal, and as JSON in production.

No line contains a text of a document, a key or a token, not even by mistake: values are removed by
the names of their keys, strings are masked and shortened, and of an exception only its type and
where it came from are logged, because its message may quote anything.
"""

import datetime
import decimal
import logging
import re
import sys
import traceback
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import psycopg
import structlog
from django.db.utils import InterfaceError, OperationalError
from structlog.typing import EventDict, Processor, WrappedLogger

from geval_site import environment

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
REMOVED = "[removed]"
# An event stays a readable line, whatever a server or a request contains.
MOST_CHARACTERS = 300
MOST_ENTRIES = 20
# An endless recursion has a thousand frames.
MOST_FRAMES = 30
# Whatever the type of the value, and wherever in the key.
SECRET = re.compile(
    r"password|passwd|secret|token|authori[sz]|cookie|credential|session|signature|apikey|user_?name"
    r"|email",
    re.IGNORECASE,
)
# As a word of the key; numbers are no text, so that counts may have these names.
TEXT = re.compile(
    r"(key|source|text|output|prompt|content|context|reference|document|answer|completion|input"
    r"|question|note|detail|param|parameter|arg|kwarg|data)s?|bod(y|ies)|repl(y|ies)"
)
# What a secret looks like, wherever it appears.
MASKED = (
    (re.compile(r"(?i)\bbearer\s+\S+"), "Bearer …"),
    (re.compile(r"\b(?:sk|pk|rk|gsk|hf|ghp|xai|whsec)[-_][\w-]{6,}"), "…"),
    (re.compile(r"\bgeval_[\w-]{40,}"), "…"),
    (re.compile(r"://[^/\s@]+@"), "://…@"),
    (re.compile(r"/(shared|invitation|password/new)/[^\s\"']+"), r"/\1/…"),
    (re.compile(r"(?<=[\w/])\?[^\s\"']+"), "?…"),
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Their messages name code or servers, not data; those of all other exceptions may quote anything.
DESCRIBE_CODE = (ImportError, AttributeError, NameError, TypeError)
DESCRIBE_SERVERS = (OperationalError, InterfaceError, psycopg.OperationalError)
OURS = ("geval", "geval_site", "evaluations", "annotations", "assurance", "django_structlog")


def level_from_environment() -> str:
    return environment.choice("GEVAL_LOG_LEVEL", default="INFO", among=LEVELS)


def format_from_environment(*, production: bool) -> str:
    return environment.choice(
        "GEVAL_LOG_FORMAT",
        default="json" if production else "console",
        among=("console", "json"),
    )


def configure(*, level: str, style: str) -> dict[str, Any]:
    """Configure structlog; returns Django's LOGGING.

    Packages of others log warnings at least, whatever the level: at lower ones they log requests.

    Args:
        level: of our own events.
        style: "console" or "json".
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": formatter, "style": style}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {
            "handlers": ["console"],
            "level": level if level not in ("DEBUG", "INFO") else "WARNING",
        },
        "loggers": {
            **{name: {"level": level} for name in OURS},
            # Its warnings have the names that people tried to sign in with.
            "axes": {"level": "ERROR"},
        },
    }


def formatter(style: str) -> logging.Formatter:
    """Formats our events and the messages of all other packages as the same lines."""
    render: Processor = (
        _as_json
        if style == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            sort_keys=False,
            exception_formatter=structlog.dev.plain_traceback,  # ours are texts already
        )
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_describe_foreign, *_shared()],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            without_texts_and_secrets,
            render,
        ],
        pass_foreign_args=True,
    )


def kind_of(error: BaseException) -> str:
    """An exception for the log: its type, and its message only if it cannot quote a text."""
    name, state = type(error).__name__, getattr(error, "sqlstate", None)
    if isinstance(error, DESCRIBE_CODE + DESCRIBE_SERVERS):
        details = str(error).partition("\n")[0]
    elif isinstance(error, OSError) and error.errno is not None:
        details = error.strerror or ""
    else:
        details = f"SQL state {state}" if state else ""
    return f"{name}: {clean(details)}" if details else name


def without_texts_and_secrets(
    _logger: WrappedLogger, _method: str, event: EventDict
) -> Mapping[str, Any]:
    """Remove and mask what must not be in the log; the last step before a line is written."""
    trace = event.pop("exception", None)
    kept = _clean_entries(event, most=len(event))
    if trace is not None:
        kept["exception"] = _masked(str(trace))
    if kept.get("user_id", "") is None:
        del kept["user_id"]
    return kept


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _render_exception,
    ]


def _as_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    first = {key: event.pop(key) for key in ("timestamp", "level", "event") if key in event}
    return orjson.dumps(first | dict(event), option=orjson.OPT_NON_STR_KEYS, default=str).decode()


def _render_exception(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    error = _exception_of(event.pop("exc_info", None))
    event.pop("stack_info", None)
    if error is not None:
        event["exception"] = "\n".join(_trace(error, seen=set()))
    return event


def _exception_of(info: Any) -> BaseException | None:
    if info is True:
        info = sys.exc_info()
    exception = info[1] if isinstance(info, tuple) and len(info) == 3 else info
    return exception if isinstance(exception, BaseException) else None


def _before(error: BaseException) -> BaseException | None:
    """The exception that led to this one."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _trace(error: BaseException, *, seen: set[int]) -> Iterator[str]:
    """Where an exception came from, without its message."""
    seen.add(id(error))
    before = _before(error)
    if before is not None and id(before) not in seen:
        yield from _trace(before, seen=seen)
        yield "which led to:"
    for frame in traceback.extract_tb(error.__traceback__, limit=-MOST_FRAMES):
        yield f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"
    yield kind_of(error)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            if id(inner) not in seen:
                yield "which includes:"
                yield from _trace(inner, seen=seen)


def _describe_foreign(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Take messages of exceptions, and paths that may contain tokens, out of others' messages."""
    record: logging.LogRecord = event["_record"]
    arguments = event.pop("positional_args", ())
    if isinstance(arguments, tuple) and any(
        isinstance(argument, BaseException) for argument in arguments
    ):
        named = [
            kind_of(argument) if isinstance(argument, BaseException) else argument
            for argument in arguments
        ]
        event["event"] = str(record.msg) % tuple(named)
    if record.name == "celery.app.trace" and isinstance(getattr(record, "data", None), Mapping):
        task = record.data  # type: ignore[attr-defined]
        event.update(event="task failed", task=task.get("name"), task_id=task.get("id"))
    error = _exception_of(event.get("exc_info"))
    while error is not None:
        message = str(error)
        if len(message) > 3:
            event["event"] = event["event"].replace(message, type(error).__name__)
        error = _before(error)
    request = getattr(record, "request", None)
    path = getattr(request, "path", "")
    if path:
        event["event"] = event["event"].replace(path, route_of(request))
        event.update(getattr(request, "log_ids", {}))
    return event


def route_of(request: Any) -> str:
    """A request's address without what it was called with, which may be a token."""
    match = getattr(request, "resolver_match", None)
    if match is not None:
        return f"/{match.route}"
    first = request.path.lstrip("/").partition("/")[0]
    return f"/{first[:20]}/…"


def _clean_entries(entries: Mapping[Any, Any], *, most: int = MOST_ENTRIES) -> dict[str, Any]:
    return {
        clean(str(key)): REMOVED if _is_private(str(key), value) else _plain(value)
        for key, value in list(entries.items())[:most]
    }


def _is_private(key: str, value: Any) -> bool:
    if SECRET.search(key):
        return not (isinstance(value, int) and key.endswith("tokens"))  # a count
    if value is None or isinstance(value, int | float):
        return False
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", key)
    return any(TEXT.fullmatch(word.lower()) for word in words)


def _plain(value: Any) -> Any:
    """A value of simple types; of anything else only the type, because it may print a text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return _clean_entries(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(entry) for entry in list(value)[:MOST_ENTRIES]]
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | uuid.UUID | Path):
        return clean(str(value))
    if isinstance(value, decimal.Decimal):
        return str(value)
    return kind_of(value) if isinstance(value, BaseException) else f"<{type(value).__name__}>"


def clean(text: str) -> str:
    """Shortened, masked, and on one line."""
    shown = _masked(text[: 4 * MOST_CHARACTERS])[:MOST_CHARACTERS]
    shown = CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), shown)
    cut = len(text) > 4 * MOST_CHARACTERS or len(_masked(text)) > MOST_CHARACTERS
    return f"{shown}… ({len(text)} characters)" if cut else shown


def _masked(text: str) -> str:
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text
