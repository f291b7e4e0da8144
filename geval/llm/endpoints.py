"""Calls to OpenAI-compatible endpoints.

A call is made once here; calls.py alone decides about retries. Whatever the server or the network
does, errors are raised as EndpointError with a kind.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
import openai

from geval.llm import wire
from geval.llm.cost import estimated_tokens, with_counts
from geval.llm.decisions import DecisionRequest
from geval.llm.errors import EndpointError, ErrorKind, as_endpoint_error, status_error
from geval.llm.network import (
    USUAL_BYTES,
    BoundedTransport,
)
from geval.llm.rate_headers import NAMES_LIMITS, RateHeaders, read_rate_headers
from geval.llm.replies import Reply, ReplyChoice
from geval.llm.request_options import why_refused
from geval.llm.requests import ChatRequest, EchoRequest, Request
from geval.llm.responses import RESPONSES, FailedError, body_by, route_at, without_route
from geval.llm.time_limit import TimeLimit

Read = TypeVar("Read")

# The files of a batch may take longer than a call.
FILE_SECONDS = 600.0
# A broken or hostile server must not fill a worker's memory; a site may set other limits.
REPLY_LIMIT_BYTES = 8 * 2**20
FILE_LIMIT_BYTES = 64 * 2**20
# Servers count tokens in different ways; one that sends this many times the limit ignores it.
TOKENS_TOO_MANY = 4
BATCH_MARK = "geval_batch"


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as the endpoint describes it. `files` are the ids of its result files, in any
    order."""

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
    """An open connection to an endpoint, for use in `async with`.

    Models are called with chat completions, or with the Responses API where the base URL ends in
    /responses. `timeout` is in seconds, or follows the server's speed (time_limit.py); it limits a
    call as a whole, however slowly its answer arrives. `headers` go into each request, and are as
    secret as the key. `allow_private` allows addresses in private
    networks; limits for replies and batch files are in bytes.

    Raises:
        EndpointError: the base URL cannot be called at all.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float | TimeLimit,
        api_version: str = "",
        headers: Mapping[str, str] | None = None,
        allow_private: bool = False,
        reply_limit: int = REPLY_LIMIT_BYTES,
        file_limit: int = FILE_LIMIT_BYTES,
    ) -> None:
        self.base_url = base_url
        self._route, base_url = route_at(base_url), without_route(base_url)
        self.time_limit = timeout if isinstance(timeout, TimeLimit) else TimeLimit(timeout)
        self._transport = BoundedTransport(
            allow_private=allow_private,
            limit=reply_limit,
            secrets=(api_key, *(headers or {}).values()),
        )
        self._file_limit = file_limit
        options: dict[str, Any] = {
            "api_key": api_key or "none",
            "timeout": self.time_limit.most,
            "max_retries": 0,
            "default_headers": headers,
            "http_client": httpx2.AsyncClient(
                transport=self._transport,
                timeout=self.time_limit.most,
                follow_redirects=False,
                trust_env=False,
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
        except Exception as error:  # addresses that the package cannot parse
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
        """Make one chat request. A prompt that the endpoint's content filter blocks gets a refusal
        as its reply.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        # The package's typed objects take more time than the call, and its method knows only
        # OpenAI's fields; so only the raw answer is read.
        if refusal := why_refused(request.options):
            raise EndpointError(ErrorKind.BAD_REQUEST, refusal)
        body = body_by(self._route, request)
        call = self._openai.post(self._route, body=body, cast_to=httpx2.Response)
        try:
            response = await self._ask(call, request)
            reply = self._read(
                lambda: wire.read_chat_answer(
                    response.content,
                    request_id=response.headers.get("x-request-id", ""),
                    n=request.n,
                    most_tokens=TOKENS_TOO_MANY * (request.max_tokens + 100),
                    limit=body.get("max_output_tokens", 0),
                ),
                response,
                "a response" if self._route == RESPONSES else "a chat completion",
                model=request.model,
            )
        except EndpointError as error:
            if error.kind != ErrorKind.CONTENT_FILTER:
                raise
            refused = ReplyChoice("", finish_reason="content_filter", refusal=error.message)
            return Reply((refused,) * request.n, prompt_tokens=0, completion_tokens=0)
        return _counted(reply, request, _limits(response.headers))

    async def echo(self, request: EchoRequest) -> Reply:
        """Get a text back with the log-probabilities of its tokens.

        Raises:
            EndpointError: the endpoint cannot do that (BAD_REQUEST or MALFORMED), or anything else
                went wrong.
        """
        create = self._openai.completions.with_raw_response.create
        response = await self._ask(create(**request.body()), request)
        wanted = "a completion with the log-probabilities of the echoed text"
        return _counted(
            self._read(lambda: wire.read_echo_answer(response.content), response, wanted),
            request,
            _limits(response.headers),
        )

    async def decide(self, request: DecisionRequest) -> Reply:
        """Ask a decision model.

        Raises:
            EndpointError: the endpoint has no such route (MODEL_NOT_FOUND), or anything else went
                wrong.
        """
        # As in `chat`: the package's method would check and copy what we have built ourselves.
        call = self._openai.post(
            f"/{request.protocol}", body=request.body(), cast_to=httpx2.Response
        )
        response = await self._ask(call, request)
        reply = self._read(
            lambda: wire.read_decision(
                response.content,
                protocol=request.protocol,
                questions=request.questions,
                request_id=response.headers.get("x-request-id", ""),
            ),
            response,
            "a decision",
        )
        return _counted(reply, request, _limits(response.headers))

    async def list_models(self) -> list[str]:
        """Return the names of the models that the endpoint lists.

        Raises:
            EndpointError: the endpoint has no such list, or anything else went wrong.
        """
        listed = await self._call(self._openai.models.with_raw_response.list(), model="")
        return self._read(lambda: wire.read_model_list(listed.content), listed, "a list of models")

    async def ask(self, request: Request) -> Reply:
        """Make one call, by the request's type."""
        if isinstance(request, DecisionRequest):
            return await self.decide(request)
        return await (
            self.echo(request) if isinstance(request, EchoRequest) else self.chat(request)
        )

    async def send_batch(self, lines: bytes, *, token: str) -> RemoteBatch:
        """Send chat requests as a batch; `token` is stored in its metadata, so that it can be found
        again.

        Raises:
            EndpointError: whatever went wrong, with its kind.
        """
        upload = self._openai.files.with_raw_response.create(
            file=(f"{token}.jsonl", lines), purpose="batch"
        )
        uploaded = await self._call(upload, model="", timeout=FILE_SECONDS)
        file_id = self._read(lambda: wire.read_id(uploaded.content), uploaded, "an uploaded file")
        call = self._openai.batches.with_raw_response.create(
            input_file_id=file_id,
            endpoint=f"/v1{self._route}",  # type: ignore[arg-type]
            completion_window="24h",
            metadata={BATCH_MARK: token},
        )
        return self._remote_batch(await self._call(call, model=""))

    async def get_batch(self, batch_id: str) -> RemoteBatch:
        """Get a batch's current state."""
        call = self._openai.batches.with_raw_response.retrieve(batch_id)
        return self._remote_batch(await self._call(call, model=""))

    async def find_batch(self, token: str) -> RemoteBatch | None:
        """Find the batch that was sent with a token, among the last hundred; None if there is
        none."""
        answer = await self._call(self._openai.batches.with_raw_response.list(limit=100), model="")
        listed = self._read(
            lambda: wire.read_batch_list(answer.content), answer, "a list of batches"
        )
        return next((_as_remote_batch(batch) for batch in listed if _mark_of(batch) == token), None)

    async def get_file(self, file_id: str) -> bytes:
        """Get the content of a batch's result file."""
        call = self._openai.files.with_raw_response.content(file_id)
        with self._transport.larger(self._file_limit):
            response = await self._call(call, model="", timeout=FILE_SECONDS)
        return bytes(response.content)

    def _remote_batch(self, answer: Any) -> RemoteBatch:
        batch = self._read(lambda: wire.read_batch(answer.content), answer, "a batch")
        return _as_remote_batch(batch)

    def _read(self, read: Callable[[], Read], response: Any, what: str, *, model: str = "") -> Read:
        content = response.content
        try:
            return read()
        except FailedError as error:
            raise status_error(
                error.status,
                str(error),
                base_url=self.base_url,
                model=model,
                headers=response.headers,
                codes=(error.code,),
                route=self._route,
            ) from None
        except wire.MalformedError as error:
            start = content[:80].decode("utf-8", "replace")
            is_object = not isinstance(error, wire.NoObjectError)
            raise EndpointError(
                ErrorKind.MALFORMED if is_object else ErrorKind.NO_REPLY,
                f"The endpoint's answer is not {what}: {error} (it begins {start!r}). Does the base"
                " URL end in /v1?",
            ) from None
        finally:
            if len(content) > USUAL_BYTES:
                # The package's response and its request refer to each other, which would keep this
                # body, and those of later calls, in memory until the cyclic garbage collector runs.
                gc.collect()

    async def _ask(self, call: Awaitable[Any], request: Request) -> Any:
        """Make a call that the model answers, and let the time limit learn from it."""
        limit, began = self.time_limit.seconds(request.most_reply_tokens), time.monotonic()
        try:
            answer = await self._call(call, model=request.model, timeout=limit)
        except EndpointError:
            if time.monotonic() - began >= limit:
                self.time_limit.note_missed(limit)
            raise
        self.time_limit.note_answered(time.monotonic() - began)
        return answer

    async def _call(self, call: Awaitable[Any], *, model: str, timeout: float | None = None) -> Any:
        try:
            async with asyncio.timeout(timeout or self.time_limit.seconds()):
                return await call
        except TimeoutError as error:
            raise EndpointError(
                ErrorKind.TIMEOUT, f"{self.base_url} did not answer in time."
            ) from error
        except Exception as error:
            raise as_endpoint_error(error, self.base_url, model) from error


def _limits(headers: Mapping[str, str]) -> RateHeaders | None:
    """Read a reply's rate limits; most replies have none, and checking that is cheap."""
    return read_rate_headers(headers) if any(name in headers for name in NAMES_LIMITS) else None


def _counted(reply: Reply, request: Request, limits: RateHeaders | None) -> Reply:
    """Return a reply with its rate limits and token counts."""
    counted = with_counts(reply, estimated_tokens(len(request.shown)))
    return replace(counted, limits=limits) if limits else counted


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
