"""Errors of calls by kind, derived from what a library raised or a server answered."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai

from geval.llm.addresses import ForbiddenAddressError
from geval.llm.network import (
    BodyTooLargeError,
    BrokenReplyError,
)
from geval.llm.rate_headers import RateHeaders, read_rate_headers, retry_seconds
from geval.llm.server_fit import parameters_named
from geval.texts.spelling import storable

# For a longer wait the run pauses, and a person decides.
LONGEST_WAIT_SECONDS = 300.0
# A longer wait is not plausible.
BELIEVED_SECONDS = 31 * 86_400.0
_REFUSES = re.compile(r"not allowed|only one", re.I)


class ErrorKind(StrEnum):
    """What went wrong with a call. Transient errors are retried; others stop the item or the
    run."""

    RATE_LIMIT = "rate_limit"
    SERVER = "server_error"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed_reply"
    NO_REPLY = "no_reply"
    TOO_LARGE = "reply_too_large"
    BROKEN = "broken_reply"
    LONG_WAIT = "long_wait"
    QUOTA = "quota"
    OUTAGE = "outage"
    REDIRECT = "redirect"
    UNFORESEEN = "unforeseen_error"
    AUTHENTICATION = "authentication"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    CONTENT_FILTER = "content_filter"
    FORBIDDEN_ADDRESS = "forbidden_address"
    KEY = "unreadable_key"

    @property
    def is_passing(self) -> bool:
        """Whether the error is transient: the same call may succeed a little later."""
        return self in _PASSING

    @property
    def stops_run(self) -> bool:
        """Whether every other item of the run would fail with the same error."""
        return self in _STOPS_RUN

    @property
    def may_be_billed(self) -> bool:
        """Whether the endpoint may charge for the call, though there is no usable reply."""
        return self in _MAY_BE_BILLED

    @property
    def attempts(self) -> int:
        """The most attempts that are worth making; an invalid reply is seldom followed by a valid
        one."""
        return _ATTEMPTS.get(self, 100)


# Of an endpoint that has answered before, no such error is about one question: it is away, or what
# stands in front of it is. Whether it comes back without anybody is not sure for some.
UNSURE = frozenset(
    {
        ErrorKind.AUTHENTICATION,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.REDIRECT,
        ErrorKind.UNFORESEEN,
    }
)
LOST = UNSURE | {
    ErrorKind.CONNECTION,
    ErrorKind.SERVER,
    ErrorKind.OVERLOADED,
    ErrorKind.TIMEOUT,
    ErrorKind.BROKEN,
    ErrorKind.NO_REPLY,
}
# The endpoint refuses everything for now, so the error says nothing about the question.
REFUSING_FOR_NOW = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.LONG_WAIT, ErrorKind.QUOTA})
_PASSING = {
    ErrorKind.RATE_LIMIT,
    ErrorKind.SERVER,
    ErrorKind.OVERLOADED,
    ErrorKind.TIMEOUT,
    ErrorKind.CONNECTION,
    ErrorKind.MALFORMED,
    ErrorKind.NO_REPLY,
    ErrorKind.TOO_LARGE,
    ErrorKind.BROKEN,
}
# 529 is Anthropic's status for overload.
_PASSING_STATUS = {
    408: ErrorKind.TIMEOUT,
    503: ErrorKind.OVERLOADED,
    529: ErrorKind.OVERLOADED,
}
_MAY_BE_BILLED = {
    ErrorKind.TIMEOUT,
    ErrorKind.MALFORMED,
    ErrorKind.TOO_LARGE,
    ErrorKind.BROKEN,
    ErrorKind.UNFORESEEN,
}
_ATTEMPTS = {
    # Waiting minutes for a server that does not exist would hide a mistyped address.
    ErrorKind.CONNECTION: 3,
    ErrorKind.MALFORMED: 3,
    ErrorKind.NO_REPLY: 3,
    ErrorKind.BROKEN: 3,
    ErrorKind.TOO_LARGE: 2,
}
_STOPS_RUN = {
    ErrorKind.CONNECTION,
    ErrorKind.LONG_WAIT,
    ErrorKind.QUOTA,
    ErrorKind.OUTAGE,
    ErrorKind.REDIRECT,
    ErrorKind.AUTHENTICATION,
    ErrorKind.MODEL_NOT_FOUND,
    ErrorKind.FORBIDDEN_ADDRESS,
    ErrorKind.KEY,
}


class EndpointError(Exception):
    """A call failed. `retry_after` is in seconds, where the server named a plausible time; `limits`
    are the rate limits that it stated; `named` are the request's parameters that a refusal is about
    (server_fit.py); `cause` is the kind of the error behind an outage."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retry_after: float | None = None,
        limits: RateHeaders | None = None,
        named: frozenset[str] = frozenset(),
        cause: ErrorKind | None = None,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.limits = limits
        self.named = named


def as_endpoint_error(error: Exception, base_url: str, model: str) -> EndpointError:
    """Convert any exception of a client, so that every error has a kind and a message."""
    if isinstance(error, openai.APIStatusError):
        return status_error(
            error.status_code,
            _message_of(error),
            base_url=base_url,
            model=model,
            headers=error.response.headers,
            codes=(str(error.code or ""), str(error.type or "")),
            parameter=str(_details_of(error).get("param") or ""),
            route=error.request.url.path,
        )
    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, ForbiddenAddressError):
            return EndpointError(ErrorKind.FORBIDDEN_ADDRESS, str(cause))
        if isinstance(cause, BodyTooLargeError):
            return EndpointError(
                ErrorKind.TOO_LARGE,
                f"The reply of {base_url} is larger than this site reads (GEVAL_REPLY_LIMIT_MB).",
            )
        if isinstance(cause, BrokenReplyError):
            return EndpointError(
                ErrorKind.BROKEN, f"{base_url} sent a broken reply: {storable(str(cause))[:300]}."
            )
        if isinstance(cause, aiohttp.InvalidURL | httpx2.InvalidURL):
            return EndpointError(
                ErrorKind.FORBIDDEN_ADDRESS, f"{base_url} is not an address that can be called."
            )
    if any(isinstance(cause, TimeoutError | openai.APITimeoutError) for cause in causes):
        return EndpointError(ErrorKind.TIMEOUT, f"{base_url} did not answer in time.")
    explained = _unreachable(causes, base_url)
    if explained:
        return EndpointError(ErrorKind.CONNECTION, explained)
    # The innermost error describes best what happened.
    innermost = storable(str(causes[-1]))[:300] or type(causes[-1]).__name__
    if any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes):
        return EndpointError(
            ErrorKind.CONNECTION,
            f"Nothing answers at {base_url} ({innermost}). Is the server running?",
        )
    if any(isinstance(cause, OSError | aiohttp.ClientError) for cause in causes):
        return EndpointError(
            ErrorKind.BROKEN, f"The connection to {base_url} broke off ({innermost})."
        )
    return EndpointError(
        ErrorKind.UNFORESEEN,
        f"The call to {base_url} failed: {type(causes[-1]).__name__}: {innermost}",
    )


# OpenSSL's messages (up to 3.4, and from 3.5) about a server that answers a handshake without TLS.
_NO_HTTPS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")


def _unreachable(causes: Sequence[BaseException], base_url: str) -> str:
    """Explain in plain words why a server cannot be reached; empty where there is no
    explanation."""
    host = _part(base_url, "hostname") or base_url
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return f"Nothing answers at {base_url}. Is the server running, and is the port right?"
        if isinstance(cause, socket.gaierror):
            return f"No host is called {host}. Check the address."
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = storable(cause.verify_message)[:200]
            return f"The certificate of {host} cannot be trusted ({why})."
        if isinstance(cause, ssl.SSLError) and any(sign in str(cause) for sign in _NO_HTTPS):
            return (
                f"{base_url} does not speak HTTPS. If the server has no certificate, write the"
                " address with http://."
            )
    return ""


def _part(base_url: str, name: str) -> str:
    """Return a part of an address; empty where the address cannot be parsed."""
    try:
        return getattr(urlsplit(base_url), name) or ""
    except ValueError:
        return ""


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error and its causes, at most 20, with the operating system's error behind a
    connection error."""
    causes = [error]
    while len(causes) < 20:
        inner = causes[-1].__cause__ or getattr(causes[-1], "os_error", None)
        if not isinstance(inner, BaseException) or inner in causes:
            break
        causes.append(inner)
    return causes


# What a server offers at a path, by the path's ending.
_SERVED = {
    "/responses": "Responses API",
    "/decisions": "Decisions API",
    "/systemone": "System One",
    "/models": "list of models",
    "/files": "batches",
    "/batches": "batches",
}


def status_error(
    status: int,
    message: str,
    *,
    base_url: str,
    model: str,
    headers: Mapping[str, str] | None = None,
    codes: Sequence[str] = (),
    parameter: str = "",
    route: str = "",
) -> EndpointError:
    """Classify an HTTP status with the server's message, its codes and the parameter that it names;
    `route` is the path that was requested."""
    if status == 402 or "insufficient_quota" in (*codes, message):
        return EndpointError(
            ErrorKind.QUOTA,
            f"The account at {base_url} has no credit or quota left ({status}): {message}",
            retry_after=_believed(_named_wait(status, headers or {})),
        )
    if "content_filter" in codes:
        return EndpointError(ErrorKind.CONTENT_FILTER, f"Its content filter: {message}")
    named = parameters_named(parameter, message)
    if status in (401, 403, 500) and named & {"logprobs", "n"} and _REFUSES.search(message):
        status = 400  # still a refusal: OpenAI's of logprobs, llama.cpp's of n
    served = next((name for end, name in _SERVED.items() if route.endswith(end)), "chat")
    if status in (404, 405, 501) and served == "batches":
        return EndpointError(
            ErrorKind.MODEL_NOT_FOUND,
            f"{base_url} has no batches ({status}): {message} Start a run without them.",
        )
    if status == 429 or status == 408 or status == 409 or status >= 500:
        return _passing_error(status, message, base_url, headers or {})
    if 300 <= status < 400:
        target = storable((headers or {}).get("location", ""))[:200]
        return EndpointError(
            ErrorKind.REDIRECT,
            f"{base_url} redirects to {target or 'another address'}. This site does not follow"
            " redirects; make an endpoint with the final address.",
        )
    if status in (401, 403):
        return EndpointError(
            ErrorKind.AUTHENTICATION,
            f"{base_url} refused the key ({status}): {message} Check the key's variable.",
        )
    if status == 404:
        return EndpointError(
            ErrorKind.MODEL_NOT_FOUND,
            f"{base_url} {f'does not know the model {model!r} or ' if model else ''}has no"
            f" {served} there: {message}"
            + ("" if _part(base_url, "path").strip("/") else " Most addresses end in /v1."),
        )
    if "context" in message.lower() and ("length" in message.lower() or "token" in message.lower()):
        return EndpointError(
            ErrorKind.CONTEXT_LENGTH, f"The prompt is longer than the model's context: {message}"
        )
    return EndpointError(
        ErrorKind.BAD_REQUEST,
        f"The endpoint refused the request ({status}): {message}",
        named=named,
    )


def _passing_error(
    status: int, message: str, base_url: str, headers: Mapping[str, str]
) -> EndpointError:
    """Return a transient error, unless the server asks for a long wait."""
    wait = _named_wait(status, headers)
    if wait is not None and wait > LONGEST_WAIT_SECONDS:
        return EndpointError(
            ErrorKind.LONG_WAIT,
            f"{base_url} asks to wait {_spelled(wait)} ({status}): {message}",
            retry_after=_believed(wait),
        )
    if status == 429:
        return EndpointError(
            ErrorKind.RATE_LIMIT,
            f"Rate limit of {base_url}: {message}",
            retry_after=wait,
            limits=read_rate_headers(headers),
        )
    kind = _PASSING_STATUS.get(status, ErrorKind.SERVER)
    return EndpointError(kind, f"Error {status} from {base_url}: {message}", retry_after=wait)


def _named_wait(status: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; without them, the seconds until a limit that
    is exhausted for long, such as a daily one, is restored."""
    wait = retry_seconds(headers)
    if wait is not None or status != 429:
        return wait
    resets = [allowance.resets_in for allowance in read_rate_headers(headers).exhausted()]
    longest = max(resets, default=0.0)
    return longest if longest > LONGEST_WAIT_SECONDS else None


def _believed(wait: float | None) -> float | None:
    return wait if wait is not None and wait <= BELIEVED_SECONDS else None


def _spelled(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return (
                f"{seconds / size:.0f} {unit}"
                if seconds < 10_000 * size
                else "more than 10 000 days"
            )
    return f"{seconds:.0f} seconds"


def _details_of(error: openai.APIStatusError) -> dict[str, Any]:
    """Return the details in an error's body: OpenAI's object under `error`, the body's own fields
    (vLLM, SGLang), or the first object of a list (Gemini)."""
    body = error.body
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    inner = body.get("error", body)
    return inner if isinstance(inner, dict) else {"message": inner}


def _message_of(error: openai.APIStatusError) -> str:
    details = _details_of(error)
    message = details.get("message") or details.get("detail") or ""
    if not details:
        message = error.body or error.message
    message = " ".join(storable(str(message)[:10_000]).split())[:300]
    if not message or message.startswith("Error code:"):
        message = "it gave no reason"
    return message if message.endswith((".", "!", "?")) else f"{message}."
