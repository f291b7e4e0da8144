"""Calls to OpenAI-compatible endpoints. The one module that imports the openai package.

A call is tried once here; when to try again is decided in calls.py, in one place. Errors come out as EndpointError with
a named kind, whatever the server or the network did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

import openai
import orjson

from evaluations.judging.replies import Choice, EchoedToken, Reply, Token


class ErrorKind(StrEnum):
    """What went wrong with a call. Passing errors are tried again; the others stop the item or the run."""

    RATE_LIMIT = "rate_limit"
    SERVER = "server_error"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed_reply"
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


_PASSING = {
    ErrorKind.RATE_LIMIT,
    ErrorKind.SERVER,
    ErrorKind.TIMEOUT,
    ErrorKind.CONNECTION,
    ErrorKind.MALFORMED,
}
_STOPS_RUN = {
    ErrorKind.CONNECTION,
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
        """The request as OpenAI's protocol has it, without what an endpoint would take as its own default."""
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


@dataclass(frozen=True)
class EchoRequest:
    """A legacy completion that sends a text back with the log-probability of each of its tokens.

    One token is written and thrown away: some servers take 0 for "as many as you like".
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


Request = ChatRequest | EchoRequest


# Whole files of a batch may take longer than a call.
FILE_SECONDS = 600.0
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
    """

    def __init__(self, base_url: str, api_key: str, *, timeout: float, api_version: str = "") -> None:
        self.base_url = base_url
        self.timeout = timeout
        options: dict[str, Any] = {
            "api_key": api_key or "none",
            "timeout": timeout,
            "max_retries": 0,
            # A redirect could lead where the address check did not look.
            "http_client": openai.DefaultAioHttpClient(timeout=timeout, follow_redirects=False),
        }
        self._openai: openai.AsyncOpenAI
        if api_version:
            self._openai = openai.AsyncAzureOpenAI(azure_endpoint=base_url, api_version=api_version, **options)
        else:
            self._openai = openai.AsyncOpenAI(base_url=base_url, **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._openai.close()

    async def chat(self, request: ChatRequest) -> Reply:
        """Ask once.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        # The typed objects of the package cost more time than the call; the raw answer is all we read.
        create = self._openai.chat.completions.with_raw_response.create
        response = await self._call(create(**request.body()), model=request.model)
        return read_chat_answer(response.content, request_id=response.headers.get("x-request-id", ""))

    async def echo(self, request: EchoRequest) -> Reply:
        """Have a text sent back with its tokens' log-probabilities.

        Raises:
            EndpointError: the endpoint cannot do that (BAD_REQUEST or MALFORMED), or anything else went wrong.
        """
        create = self._openai.completions.with_raw_response.create
        response = await self._call(create(**request.body()), model=request.model)
        return read_echo_answer(response.content)

    async def ask(self, request: Request) -> Reply:
        """Ask once, in whichever way the request is made."""
        return await (self.echo(request) if isinstance(request, EchoRequest) else self.chat(request))

    async def send_batch(self, lines: bytes, *, token: str) -> RemoteBatch:
        """Send chat requests as a batch; `token` is kept in its metadata, to find it again.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        upload = self._openai.files.create(file=(f"{token}.jsonl", lines), purpose="batch")
        file = await self._call(upload, model="", timeout=FILE_SECONDS)
        call = self._openai.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={BATCH_MARK: token},
        )
        return _remote_batch(await self._call(call, model=""))

    async def get_batch(self, batch_id: str) -> RemoteBatch:
        """How a batch is doing."""
        return _remote_batch(await self._call(self._openai.batches.retrieve(batch_id), model=""))

    async def find_batch(self, token: str) -> RemoteBatch | None:
        """The batch that was sent with a token, among the last hundred."""
        listed = await self._call(self._openai.batches.list(limit=100), model="")
        return next(
            (_remote_batch(batch) for batch in listed.data if (batch.metadata or {}).get(BATCH_MARK) == token), None
        )

    async def get_file(self, file_id: str) -> bytes:
        """The content of a batch's result file."""
        response = await self._call(self._openai.files.content(file_id), model="", timeout=FILE_SECONDS)
        return bytes(response.content)

    async def _call(self, call: Awaitable[Any], *, model: str, timeout: float | None = None) -> Any:
        try:
            async with asyncio.timeout(timeout or self.timeout):
                return await call
        except TimeoutError as error:
            raise EndpointError(ErrorKind.TIMEOUT, f"{self.base_url} did not answer in time.") from error
        except openai.APIError as error:
            raise _as_endpoint_error(error, self.base_url, model) from error


def _remote_batch(batch: Any) -> RemoteBatch:
    errors = getattr(batch.errors, "data", None) or []
    return RemoteBatch(
        id=batch.id,
        state=batch.status,
        files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
        message=" ".join(str(error.message) for error in errors),
    )


def read_chat_answer(content: bytes, *, request_id: str = "") -> Reply:
    """The fields we use of a chat completion's JSON.

    Raises:
        EndpointError: it is not a chat completion (MALFORMED).
    """
    try:
        answer = orjson.loads(content)
        usage = answer.get("usage") or {}
        return Reply(
            choices=tuple(_choice(choice) for choice in answer["choices"]),
            model=answer.get("model") or "",
            request_id=request_id or answer.get("id") or "",
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        start = content[:80].decode("utf-8", "replace")
        message = f"The endpoint's answer is not a chat completion (it begins {start!r}). Does the base URL end in /v1?"
        raise EndpointError(ErrorKind.MALFORMED, message) from error


def read_echo_answer(content: bytes) -> Reply:
    """The tokens and log-probabilities of a legacy completion's JSON.

    Raises:
        EndpointError: there are none (MALFORMED).
    """
    try:
        answer = orjson.loads(content)
        choice, usage = answer["choices"][0], answer.get("usage") or {}
        found = choice["logprobs"]
        echoed = tuple(
            EchoedToken(str(text), None if value is None else float(value))
            for text, value in zip(found["tokens"], found["token_logprobs"], strict=True)
        )
        if usage.get("completion_tokens"):
            echoed = echoed[:-1]  # the one token that was asked to be written
        return Reply(
            choices=(Choice("", echoed=echoed),),
            model=answer.get("model") or "",
            request_id=answer.get("id") or "",
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        )
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError, AttributeError) as error:
        message = "The endpoint's answer holds no log-probabilities of the echoed text."
        raise EndpointError(ErrorKind.MALFORMED, message) from error


def _choice(choice: dict[str, Any]) -> Choice:
    message = choice["message"]
    listed = (choice.get("logprobs") or {}).get("content")
    return Choice(
        text=message.get("content") or "",
        finish_reason=choice.get("finish_reason") or "stop",
        refusal=message.get("refusal") or "",
        tokens=None if listed is None else tuple(_token(token) for token in listed),
    )


def _token(token: dict[str, Any]) -> Token:
    alternatives = token.get("top_logprobs") or ()
    return Token(
        text=token["token"],
        logprob=float(token["logprob"]),
        alternatives=tuple((other["token"], float(other["logprob"])) for other in alternatives),
    )


def _as_endpoint_error(error: openai.APIError, base_url: str, model: str) -> EndpointError:
    cause = error.__cause__ or error
    if isinstance(error, openai.APITimeoutError) and not _never_connected(error):
        return EndpointError(ErrorKind.TIMEOUT, f"{base_url} did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        return EndpointError(ErrorKind.CONNECTION, f"Nothing answers at {base_url} ({cause}). Is the server running?")
    if not isinstance(error, openai.APIStatusError):
        return EndpointError(ErrorKind.MALFORMED, f"{base_url}: {error.message}")
    return status_error(
        error.status_code, _message_of(error), base_url=base_url, model=model, headers=error.response.headers
    )


def _never_connected(error: BaseException) -> bool:
    """Whether a refused connection is at the bottom: the aiohttp transport calls that a timeout, too."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and not isinstance(cause, TimeoutError):
            return True
        cause = cause.__cause__
    return False


def status_error(
    status: int, said: str, *, base_url: str, model: str, headers: Mapping[str, str] | None = None
) -> EndpointError:
    """The error that an HTTP status and the server's words stand for."""
    if status == 429:
        return EndpointError(ErrorKind.RATE_LIMIT, f"Rate limit: {said}", retry_after=_seconds(headers or {}))
    if status in (408, 409) or status >= 500:
        kind = ErrorKind.TIMEOUT if status == 408 else ErrorKind.SERVER
        return EndpointError(kind, f"Error {status} from {base_url}: {said}", retry_after=_seconds(headers or {}))
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
        return EndpointError(ErrorKind.CONTEXT_LENGTH, f"The prompt is longer than the model's context: {said}")
    return EndpointError(ErrorKind.BAD_REQUEST, f"The endpoint refused the request ({status}): {said}")


def _message_of(error: openai.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message", "") if isinstance(inner, dict) else str(inner)
    else:
        said = str(body or error.message)
    said = " ".join(str(said).split())[:300]
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; a date or nonsense counts as not given (the caller then backs off by itself)."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None
