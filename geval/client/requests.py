"""Requests to a site and reading of its replies, without a network."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

# Rows of an upload: the path of a file, dictionaries, or lines of JSON.
Rows = str | Path | Iterable[Mapping[str, Any] | bytes]
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
class Request:
    """A request to the API.

    Args:
        path: after `/api/v1`.
        query: values of None are left out, so that the site's defaults apply.
        rows: the body of an upload, instead of JSON.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    rows: Rows | None = None

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
            values = {
                name: str(value).lower() if isinstance(value, bool) else value
                for name, value in self.query.items()
                if value is not None
            }
            query = f"?{urlencode(values, doseq=True)}" if values else ""
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
