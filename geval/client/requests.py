"""What is sent to a site, and how its replies are read: the same for both clients, without a
network."""

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
SECONDS = 120.0
ATTEMPTS = 3
ITEMS_A_PAGE = 1000
PASSING = frozenset({429, 502, 503, 504})
PREFIX = "/api/v1"
# The environment variable with a token, where none is given.
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
    """What to do where the variable with a token is empty."""
    return f"{variable} is not set; put a token of {site} there (its page Tokens makes one)"


@dataclass(frozen=True)
class Request(Generic[T]):
    """What an operation asks; `T` is what it gives.

    Args:
        path: after `/api/v1`.
        query: what is None is left out, so that the site's defaults count.
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
        """The page of a list that begins there."""
        return replace(self, query={**self.query, "cursor": cursor, "limit": ITEMS_A_PAGE})

    @contextlib.contextmanager
    def written(self, token: str) -> Iterator[Written]:
        """The request as it is sent; a repetition has the same idempotency key, so that changes
        happen only once."""
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
    """How many seconds to wait until the same request is sent again, from its beginning.

    Raises:
        OSError, ApiError: the error, if that will not help.
    """
    if attempt == ATTEMPTS or not may_pass(error):
        raise error
    if content is not None:
        content.seek(0)
    return getattr(error, "retry_after", 0.0) or 0.5 * 2**attempt


def may_pass(error: OSError | ApiError) -> bool:
    """Whether the same request can succeed a little later."""
    if isinstance(error, ApiError):
        return error.status in PASSING or error.title == "Request in progress"
    return True


def refusal(status: int, reason: str, content: bytes, retry_after: str) -> ApiError:
    """The error that a reply with a status from 400 on is."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"title": reason, "detail": content[:200].decode("utf-8", "replace")}
    seconds = float(retry_after) if retry_after.isdigit() else 0.0
    return ApiError(status, problem, retry_after=seconds)


def failed_probe(message: str) -> ApiError:
    """The endpoint that was probed does not answer."""
    return ApiError(502, {"title": "The endpoint did not answer", "detail": message})


def probe_request(address: str) -> Request[dict[str, Any]]:
    """How far a probe is, by the address that an error named."""
    return Request("GET", address.removeprefix(PREFIX))


class Blocking:
    """What has operations that wait for their reply."""


class Awaiting:
    """What has operations that are awaited."""


class Operation(Generic[P, Here, There]):
    """A method of both clients, declared by a function that says what is asked."""

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
    """A file to write, which takes the place of `target` once it is whole."""
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
    """An operation whose reply is JSON."""
    return Operation(build, "_read_answer")


def listed(
    build: Callable[Concatenate[Any, P], Request[T]],
) -> Operation[P, Iterator[T], AsyncIterator[T]]:
    """An operation whose reply is a list in pages, all of which are read."""
    return Operation(build, "_read_pages")


def lined(
    build: Callable[Concatenate[Any, P], Request[T]],
) -> Operation[P, Iterator[T], AsyncIterator[T]]:
    """An operation whose reply is a JSON object per line, read as they arrive."""
    return Operation(build, "_read_lines")


def saved(
    build: Callable[Concatenate[Any, P], Request[Path]],
) -> Operation[P, Path, Awaitable[Path]]:
    """An operation whose reply is written to a file."""
    return Operation(build, "_save")
