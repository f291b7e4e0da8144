"""Requests to a site and reading of its replies, common to both clients, without a network."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import IO, Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from urllib.parse import urlencode

# Rows of an upload: the path of a file, dictionaries, or lines of JSON.
Rows = str | Path | Iterable[Mapping[str, Any] | bytes]
P = ParamSpec("P")
T = TypeVar("T")
Here = TypeVar("Here")
There = TypeVar("There")
# As long as a site's web server lets a report take (`geval_site/web_server.py`).
SECONDS = 120.0
ATTEMPTS = 3
# The most that the API allows (`evaluations/web/api/schemas.py`).
ITEMS_A_PAGE = 1000
PASSING = frozenset({429, 502, 503, 504})
PREFIX = "/api/v1"
# The environment variable with a token, if none is given.
TOKEN_VARIABLE = "GEVAL_TOKEN"  # noqa: S105 (a variable's name)


class ApiError(Exception):
    """The site refused a request: the status, its message, each error with its place, and the
    `questions` about columns that can be read in several ways."""

    def __init__(
        self, status: int, problem: Mapping[str, Any], *, retry_after: float = 0.0
    ) -> None:
        self.status = status
        self.retry_after = retry_after
        self.title = str(problem.get("title", ""))
        self.probe = str(problem.get("probe", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, Any]] = list(problem.get("errors", []))
        self.questions: list[dict[str, Any]] = list(problem.get("questions", []))
        lines = [
            ": ".join(
                str(error[name])
                for name in ("line", "at", "message")
                if error.get(name) not in (None, "", 0)
            )
            for error in self.errors[:5]
        ]
        lines += [
            f"{choice['label']} ({', '.join(choice['columns'])}): {choice['gives']}"
            for question in self.questions
            for choice in question["choices"]
        ]
        super().__init__("\n".join([f"{status} {self.title}: {self.detail}", *lines]))


def no_token(site: str, variable: str = TOKEN_VARIABLE) -> str:
    """Return what to do if the variable with a token is empty."""
    return f"{variable} is not set; put a token of {site} there (its page Tokens makes one)"


@dataclass(frozen=True)
class Request(Generic[T]):
    """The request of an operation; `T` is its result.

    Args:
        path: after `/api/v1`.
        query: values of None are left out, so that the site's defaults apply.
        rows: the body of an upload, instead of JSON.
        to: the file that the reply is written to.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    rows: Rows | None = None
    to: str | Path = ""

    def at(self, cursor: int) -> Request[T]:
        """Return the request for the page that begins at a cursor."""
        return replace(self, query={**self.query, "cursor": cursor, "limit": ITEMS_A_PAGE})

    @contextlib.contextmanager
    def written(self, token: str) -> Iterator[Written]:
        """Return the request as it is sent; a repetition has the same idempotency key, so that
        changes are made only once."""
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        if self.method != "GET":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        with self._content() as (content, content_type):
            if content is not None:
                headers["Content-Type"] = content_type
                headers["Content-Length"] = str(content.seek(0, os.SEEK_END))
                content.seek(0)
            given = {
                name: str(value).lower() if isinstance(value, bool) else value
                for name, value in self.query.items()
                if value is not None
            }
            query = f"?{urlencode(given, doseq=True)}" if given else ""
            yield Written(self.method, f"{PREFIX}{self.path}{query}", headers, content)

    @contextlib.contextmanager
    def _content(self) -> Iterator[tuple[IO[bytes] | None, str]]:
        if isinstance(self.rows, str | Path):
            with Path(self.rows).open("rb") as file:
                yield file, "application/octet-stream"
        elif self.rows is not None:
            with tempfile.TemporaryFile() as lines:
                for row in self.rows:
                    line = row if isinstance(row, bytes) else json.dumps(dict(row)).encode()
                    lines.write(line + b"\n")
                yield lines, "application/x-ndjson"
        elif self.body is not None:
            yield io.BytesIO(json.dumps(self.body).encode()), "application/json"
        else:
            yield None, ""


@dataclass(frozen=True)
class Written:
    """A request as it is sent, to an address within the site."""

    method: str
    address: str
    headers: Mapping[str, str]
    content: IO[bytes] | None


def pause_before_next(error: OSError | ApiError, attempt: int, content: IO[bytes] | None) -> float:
    """Return how many seconds to wait before sending the same request again.

    Raises:
        OSError, ApiError: the error, if retrying will not help.
    """
    if attempt == ATTEMPTS or not may_pass(error):
        raise error
    if content is not None:
        content.seek(0)
    return getattr(error, "retry_after", 0.0) or 0.5 * 2**attempt


def may_pass(error: OSError | ApiError) -> bool:
    """Return whether the same request may succeed a little later."""
    if isinstance(error, ApiError):
        return error.status in PASSING or error.title == "Request in progress"
    return True


def refusal(status: int, reason: str, content: bytes, retry_after: str) -> ApiError:
    """Return the error for a reply with a status of 400 or more."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"title": reason, "detail": content[:200].decode("utf-8", "replace")}
    seconds = float(retry_after) if retry_after.isdigit() else 0.0
    return ApiError(status, problem, retry_after=seconds)


def failed_probe(message: str) -> ApiError:
    """Return the error for a probed endpoint that does not answer."""
    return ApiError(502, {"title": "The endpoint did not answer", "detail": message})


def probe_request(address: str) -> Request[dict[str, Any]]:
    """Return the request for a probe's progress, at the address in an error."""
    return Request("GET", address.removeprefix(PREFIX))


class Blocking:
    """A client whose operations wait for the reply."""


class Awaiting:
    """A client whose operations are awaited."""


class Operation(Generic[P, Here, There]):
    """A method of both clients, declared by a function that returns its request."""

    def __init__(self, build: Callable[Concatenate[Any, P], Request[Any]], read: str) -> None:
        self.build = build
        self.read = read
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, owner: Blocking, kind: type) -> Callable[P, Here]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: type) -> Callable[P, There]: ...
    @overload
    def __get__(self, owner: None, kind: type) -> Operation[P, Here, There]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        read = getattr(owner.client, self.read)

        @wraps(self.build)
        def ask(*args: P.args, **kwargs: P.kwargs) -> Any:
            return read(self.build(owner, *args, **kwargs))

        return ask


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces `target` once it is complete."""
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def answered(
    build: Callable[Concatenate[Any, P], Request[T]],
) -> Operation[P, T, Awaitable[T]]:
    """Declare an operation whose reply is JSON."""
    return Operation(build, "_read_answer")


def listed(
    build: Callable[Concatenate[Any, P], Request[T]],
) -> Operation[P, Iterator[T], AsyncIterator[T]]:
    """Declare an operation whose reply is a paginated list, of which all pages are read."""
    return Operation(build, "_read_pages")


def lined(
    build: Callable[Concatenate[Any, P], Request[T]],
) -> Operation[P, Iterator[T], AsyncIterator[T]]:
    """Declare an operation whose reply is one JSON object per line, read as they arrive."""
    return Operation(build, "_read_lines")


def saved(
    build: Callable[Concatenate[Any, P], Request[Path]],
) -> Operation[P, Path, Awaitable[Path]]:
    """Declare an operation whose reply is written to a file."""
    return Operation(build, "_save")
