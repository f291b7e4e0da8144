"""Calls to OpenAI-compatible endpoints. The one module that imports the openai package.

A call is tried once here; when to try again is decided in calls.py, in one place. Errors come out
as EndpointError with a named kind, whatever the server or the network did.
"""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import gc
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
import httpx2
import openai

from evaluations.llm import wire
from evaluations.llm.addresses import ForbiddenAddressError
from evaluations.llm.cost import estimated_tokens
from evaluations.llm.network import (
    USUAL_BYTES,
    BodyTooLargeError,
    BoundedTransport,
    BrokenReplyError,
)
from evaluations.llm.replies import Reply
from evaluations.texts import storable

Read = TypeVar("Read")


class ErrorKind(StrEnum):
    """What went wrong with a call. Passing errors are tried again; the others stop the item or the
    run."""

    RATE_LIMIT = "rate_limit"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed_reply"
    TOO_LARGE = "reply_too_large"
    BROKEN = "broken_reply"
    LONG_WAIT = "long_wait"
    QUOTA = "quota"
    REDIRECT = "redirect"
    UNFORESEEN = "unforeseen_error"
    AUTHENTICATION = "authentication"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    FORBIDDEN_ADDRESS = "forbidden_address"
    KEY = "unreadable_key"

    @property
    def is_passing(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self in _PASSING

    @property
    def stops_run(self) -> bool:
        """Whether every other item of the run would meet the same error."""
        return self in _STOPS_RUN

    @property
    def may_be_billed(self) -> bool:
        """Whether the endpoint may have done its work, and charge for it, though no reply can be
        used."""
        return self in _MAY_BE_BILLED

    @property
    def attempts(self) -> int:
        """How often it is worth asking again at most; an odd reply seldom turns into a good one."""
        return _ATTEMPTS.get(self, 100)


_PASSING = {
    ErrorKind.RATE_LIMIT,
    ErrorKind.SERVER,
    ErrorKind.TIMEOUT,
    ErrorKind.CONNECTION,
    ErrorKind.MALFORMED,
    ErrorKind.TOO_LARGE,
    ErrorKind.BROKEN,
}
_MAY_BE_BILLED = {
    ErrorKind.TIMEOUT,
    ErrorKind.MALFORMED,
    ErrorKind.TOO_LARGE,
    ErrorKind.BROKEN,
    ErrorKind.UNFORESEEN,
}
_ATTEMPTS = {
    # Waiting minutes for a server that is not there would hide a mistyped address.
    ErrorKind.CONNECTION: 3,
    ErrorKind.MALFORMED: 3,
    ErrorKind.BROKEN: 3,
    ErrorKind.TOO_LARGE: 2,
}
_STOPS_RUN = {
    ErrorKind.CONNECTION,
    ErrorKind.LONG_WAIT,
    ErrorKind.QUOTA,
    ErrorKind.REDIRECT,
    ErrorKind.AUTHENTICATION,
    ErrorKind.MODEL_NOT_FOUND,
    ErrorKind.FORBIDDEN_ADDRESS,
    ErrorKind.KEY,
}


class EndpointError(Exception):
    """A call that failed. `retry_after` is in seconds, where the server named a time."""

    def __init__(self, kind: ErrorKind, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion: everything that changes its answer."""

    model: str
    prompt: str
    temperature: float | None = 0.0
    n: int = 1
    max_tokens: int = 32
    top_logprobs: int | None = None
    length_parameter: str = "max_tokens"
    system: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The request as OpenAI's protocol has it, without what an endpoint would take as its own
        default."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [*system, {"role": "user", "content": self.prompt}],
            self.length_parameter: self.max_tokens,
            **self.extra,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.n > 1:
            body["n"] = self.n
        if self.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        return body

    @property
    def shown(self) -> str:
        """What the model reads."""
        return self.system + self.prompt

    @property
    def most_reply_tokens(self) -> int:
        """What its choices can take together."""
        return self.n * self.max_tokens


@dataclass(frozen=True)
class EchoRequest:
    """A legacy completion that sends a text back with the log-probability of each of its tokens.

    One token is generated and discarded: some servers take 0 for "as many as you like".
    """

    model: str
    text: str
    n: int = 1

    def body(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "prompt": self.text,
            "echo": True,
            "logprobs": 1,
            "max_tokens": 1,
            "temperature": 0,
        }

    @property
    def shown(self) -> str:
        """What the model reads."""
        return self.text

    @property
    def most_reply_tokens(self) -> int:
        return 1


Request = ChatRequest | EchoRequest


# Whole files of a batch may take longer than a call.
FILE_SECONDS = 600.0
REPLY_LIMIT_BYTES = 8 * 2**20
FILE_LIMIT_BYTES = 64 * 2**20
# Servers count tokens in their own ways; one that sends so many more than asked for ignores the
# limit.
TOKENS_TOO_MANY = 4
# A longer wait than this is a person's to decide on: the run pauses.
LONGEST_WAIT_SECONDS = 300.0
BATCH_MARK = "geval_batch"


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as the endpoint sees it. `files` are the ids of its result files, in any order."""

    id: str
    state: str
    files: tuple[str, ...] = ()
    message: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in ("completed", "failed", "expired", "cancelled")

    @property
    def has_failed(self) -> bool:
        return self.state == "failed"


class Client:
    """An endpoint that can be asked, for the time of an `async with`.

    `timeout` is in seconds and limits a call as a whole, however slowly its answer trickles in.
    `allow_private` says whether its address may lie in a private network; limits are in bytes, for
    replies and for files of batches.

    Raises:
        EndpointError: the base URL cannot be called at all.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float,
        api_version: str = "",
        allow_private: bool = False,
        reply_limit: int = REPLY_LIMIT_BYTES,
        file_limit: int = FILE_LIMIT_BYTES,
    ) -> None:
        self.base_url = base_url
        self.timeout = timeout
        self._transport = BoundedTransport(
            allow_private=allow_private, limit=reply_limit, secret=api_key
        )
        self._file_limit = file_limit
        options: dict[str, Any] = {
            "api_key": api_key or "none",
            "timeout": timeout,
            "max_retries": 0,
            "http_client": httpx2.AsyncClient(
                transport=self._transport, timeout=timeout, follow_redirects=False, trust_env=False
            ),
        }
        self._openai: openai.AsyncOpenAI
        try:
            if api_version:
                self._openai = openai.AsyncAzureOpenAI(
                    azure_endpoint=base_url, api_version=api_version, **options
                )
            else:
                self._openai = openai.AsyncOpenAI(base_url=base_url, **options)
        except Exception as error:  # addresses that the package cannot take apart
            raise as_endpoint_error(error, base_url, "") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._openai.close()

    async def chat(self, request: ChatRequest) -> Reply:
        """Ask once.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        # The typed objects of the package cost more time than the call; the raw answer is all we
        # read.
        create = self._openai.chat.completions.with_raw_response.create
        response = await self._call(create(**request.body()), model=request.model)
        reply = self._read(
            lambda: wire.read_chat_answer(
                response.content,
                request_id=response.headers.get("x-request-id", ""),
                n=request.n,
                most_tokens=TOKENS_TOO_MANY * (request.max_tokens + 100),
            ),
            response.content,
            "a chat completion",
        )
        return _counted(reply, request)

    async def echo(self, request: EchoRequest) -> Reply:
        """Have a text sent back with its tokens' log-probabilities.

        Raises:
            EndpointError: the endpoint cannot do that (BAD_REQUEST or MALFORMED), or anything else
                went wrong.
        """
        create = self._openai.completions.with_raw_response.create
        response = await self._call(create(**request.body()), model=request.model)
        wanted = "a completion with the log-probabilities of the echoed text"
        return _counted(
            self._read(lambda: wire.read_echo_answer(response.content), response.content, wanted),
            request,
        )

    async def ask(self, request: Request) -> Reply:
        """Ask once, in whichever way the request is made."""
        return await (
            self.echo(request) if isinstance(request, EchoRequest) else self.chat(request)
        )

    async def send_batch(self, lines: bytes, *, token: str) -> RemoteBatch:
        """Send chat requests as a batch; `token` is kept in its metadata, to find it again.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        upload = self._openai.files.with_raw_response.create(
            file=(f"{token}.jsonl", lines), purpose="batch"
        )
        uploaded = await self._call(upload, model="", timeout=FILE_SECONDS)
        file_id = self._read(
            lambda: wire.read_id(uploaded.content), uploaded.content, "an uploaded file"
        )
        call = self._openai.batches.with_raw_response.create(
            input_file_id=file_id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={BATCH_MARK: token},
        )
        return self._remote_batch((await self._call(call, model="")).content)

    async def get_batch(self, batch_id: str) -> RemoteBatch:
        """How a batch is doing."""
        call = self._openai.batches.with_raw_response.retrieve(batch_id)
        return self._remote_batch((await self._call(call, model="")).content)

    async def find_batch(self, token: str) -> RemoteBatch | None:
        """The batch that was sent with a token, among the last hundred."""
        content = (
            await self._call(self._openai.batches.with_raw_response.list(limit=100), model="")
        ).content
        listed = self._read(lambda: wire.read_batch_list(content), content, "a list of batches")
        return next((_as_remote_batch(batch) for batch in listed if _mark_of(batch) == token), None)

    async def get_file(self, file_id: str) -> bytes:
        """The content of a batch's result file."""
        call = self._openai.files.with_raw_response.content(file_id)
        with self._transport.larger(self._file_limit):
            response = await self._call(call, model="", timeout=FILE_SECONDS)
        return bytes(response.content)

    def _remote_batch(self, content: bytes) -> RemoteBatch:
        return _as_remote_batch(self._read(lambda: wire.read_batch(content), content, "a batch"))

    def _read(self, read: Callable[[], Read], content: bytes, what: str) -> Read:
        try:
            return read()
        except wire.MalformedError as error:
            start = content[:80].decode("utf-8", "replace")
            raise EndpointError(
                ErrorKind.MALFORMED,
                f"The endpoint's answer is not {what}: {error} (it begins {start!r}). Does the base"
                " URL end in /v1?",
            ) from None
        finally:
            if len(content) > USUAL_BYTES:
                # The package's response and its request refer to each other, which would keep
                # this body, and those of the calls to come, until Python looks for such circles.
                gc.collect()

    async def _call(self, call: Awaitable[Any], *, model: str, timeout: float | None = None) -> Any:
        try:
            async with asyncio.timeout(timeout or self.timeout):
                return await call
        except TimeoutError as error:
            raise EndpointError(
                ErrorKind.TIMEOUT, f"{self.base_url} did not answer in time."
            ) from error
        except Exception as error:
            raise as_endpoint_error(error, self.base_url, model) from error


def _counted(reply: Reply, request: Request) -> Reply:
    """A reply with numbers of tokens; where the server gives none they are estimated, so that
    budgets hold."""
    if reply.prompt_tokens is not None and reply.completion_tokens is not None:
        return reply
    written = sum(len(choice.text) for choice in reply.choices)
    return replace(
        reply,
        prompt_tokens=(
            estimated_tokens(len(request.shown))
            if reply.prompt_tokens is None
            else reply.prompt_tokens
        ),
        completion_tokens=(
            max(1, estimated_tokens(written))
            if reply.completion_tokens is None
            else reply.completion_tokens
        ),
    )


def _mark_of(batch: wire.BatchRecord) -> Any:
    metadata = batch.get("metadata")
    return metadata.get(BATCH_MARK) if isinstance(metadata, dict) else None


def _as_remote_batch(batch: wire.BatchRecord) -> RemoteBatch:
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    messages = [error.get("message") for error in listed or () if isinstance(error, dict)]
    return RemoteBatch(
        id=batch["id"],
        state=batch["status"],
        files=tuple(
            file for file in (batch.get("output_file_id"), batch.get("error_file_id")) if file
        ),
        message=" ".join(str(message) for message in messages)[:1000],
    )


def as_endpoint_error(error: Exception, base_url: str, model: str) -> EndpointError:
    """The error of ours for whatever a client raised: none is left without a kind and a
    sentence."""
    if isinstance(error, openai.APIStatusError):
        return status_error(
            error.status_code,
            _message_of(error),
            base_url=base_url,
            model=model,
            headers=error.response.headers,
            code=str(error.code or ""),
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
    # The innermost one says best what happened.
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


def _causes(error: BaseException) -> list[BaseException]:
    """An error, what caused it, and so on."""
    causes = [error]
    while causes[-1].__cause__ is not None and len(causes) < 20:
        causes.append(causes[-1].__cause__)
    return causes


def status_error(
    status: int,
    said: str,
    *,
    base_url: str,
    model: str,
    headers: Mapping[str, str] | None = None,
    code: str = "",
) -> EndpointError:
    """The error that an HTTP status, the server's words and its own code stand for."""
    if status == 402 or "insufficient_quota" in (code, said):
        return EndpointError(
            ErrorKind.QUOTA,
            f"The account at {base_url} has no credit or quota left ({status}): {said} "
            "Add credit, then resume the run.",
        )
    if status == 429 or status == 408 or status == 409 or status >= 500:
        return _passing_error(status, said, base_url, _seconds(headers or {}))
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
            f"{base_url} refused the key ({status}): {said} Check the key's variable.",
        )
    if status == 404:
        return EndpointError(
            ErrorKind.MODEL_NOT_FOUND,
            f"{base_url} does not know the model {model!r} or has no chat there: {said}",
        )
    if "context" in said.lower() and ("length" in said.lower() or "token" in said.lower()):
        return EndpointError(
            ErrorKind.CONTEXT_LENGTH, f"The prompt is longer than the model's context: {said}"
        )
    return EndpointError(
        ErrorKind.BAD_REQUEST, f"The endpoint refused the request ({status}): {said}"
    )


def _passing_error(status: int, said: str, base_url: str, wait: float | None) -> EndpointError:
    """An error that goes away by itself, unless the server wants to be left alone for long."""
    if wait is not None and wait > LONGEST_WAIT_SECONDS:
        return EndpointError(
            ErrorKind.LONG_WAIT,
            f"{base_url} asks to wait {_spelled(wait)} ({status}): {said} Resume the run after"
            " that.",
        )
    if status == 429:
        return EndpointError(
            ErrorKind.RATE_LIMIT, f"Rate limit of {base_url}: {said}", retry_after=wait
        )
    kind = ErrorKind.TIMEOUT if status == 408 else ErrorKind.SERVER
    return EndpointError(kind, f"Error {status} from {base_url}: {said}", retry_after=wait)


def _spelled(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return (
                f"{seconds / size:.0f} {unit}"
                if seconds < 10_000 * size
                else "more than 10 000 days"
            )
    return f"{seconds:.0f} seconds"


def _message_of(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message", "") if isinstance(inner, dict) else str(inner)
    else:
        said = str(body or error.message)
    said = " ".join(storable(str(said)[:10_000]).split())[:300]
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds, from seconds or a date; nonsense counts as not given (the caller then
    backs off)."""
    written = headers.get("retry-after", "")
    try:
        seconds = float(written)
    except ValueError:
        try:
            until = email.utils.parsedate_to_datetime(written)
        except (ValueError, IndexError, OverflowError):
            return None
        if until.tzinfo is None:
            return None
        seconds = (until - datetime.datetime.now(datetime.UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
