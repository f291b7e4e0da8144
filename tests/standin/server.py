"""The stand-in with faults, limits, and the interfaces besides chat completions, for tests and
benchmarks: `python -m tests.standin --port 0`."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from geval.llm.server_fit import MOST_ALTERNATIVES, MOST_CHOICES
from geval.standin.judging import seeded
from geval.standin.replies import model_list
from geval.standin.server import StandIn, as_error, as_json, read_object
from tests.standin.batches import Batches
from tests.standin.deciding import decision
from tests.standin.echoes import text_completion
from tests.standin.leaning import rate_with
from tests.standin.limiting import CallLimits
from tests.standin.responding import as_chat, problem_of, response_of

# Above the 200 MB that OpenAI accepts for a batch's file.
BODY_LIMIT = 256 * 2**20


@dataclass(frozen=True)
class Switches:
    """Simulated problems and their rates (0 to 1), deterministic by the number of the call.

    `latency` is in seconds; `hang_rate` calls are never answered; `ignores_n` returns one choice
    whatever n is; `without_logprobs` omits log-probabilities; `ignores_schema` accepts a schema and
    ignores it; `requests_per_second` is the rate (0: no limit) of a token bucket (limiting.py) that
    holds `burst` calls (0: those of one second) and names its limits in the headers of
    `limit_headers`: "all" replies, "refused" ones or "none". Beyond `calls_at_once` open calls (0:
    any number) it answers 503, with a Retry-After unless `limit_headers` is "none". After `quota`
    calls (0: no quota) the account is out of credit for `quota_seconds`. An empty `api_key` means
    that none is needed. `only_model` is the only existing model, empty for any. `most_choices` and
    `most_alternatives` are the largest `n` and `top_logprobs` that it accepts; `without_top_p`
    refuses `top_p`. `only_max_completion_tokens` refuses `max_tokens` and any temperature but 1,
    like reasoning models. `leaning` is a planted defect of its ratings (leaning.py).
    """

    latency: float = 0.0
    rate_limit_rate: float = 0.0
    retry_after: float = 1.0
    error_rate: float = 0.0
    refusal_rate: float = 0.0
    unparseable_rate: float = 0.0
    hang_rate: float = 0.0
    requests_per_second: float = 0.0
    burst: int = 0
    limit_headers: str = "all"
    calls_at_once: int = 0
    quota: int = 0
    quota_seconds: float = 3600.0
    ignores_n: bool = False
    most_choices: int = MOST_CHOICES
    most_alternatives: int = MOST_ALTERNATIVES
    without_top_p: bool = False
    without_logprobs: bool = False
    ignores_schema: bool = False
    context_tokens: int = 128_000
    batch_seconds: float = 0.0
    only_max_completion_tokens: bool = False
    only_model: str = ""
    api_key: str = ""
    leaning: str = ""


class FaultyStandIn(StandIn):
    """The server's state: its switches, and the number of calls."""

    def __init__(self, switches: Switches) -> None:
        super().__init__(rate_with(switches.leaning))
        self.switches = switches
        self.most_choices = switches.most_choices
        self.most_alternatives = switches.most_alternatives
        self.calls = self.open_calls = 0
        self.by_status: Counter[int] = Counter()
        self.requests_seen: Counter[bytes] = Counter()
        self.limits = CallLimits(
            rate=switches.requests_per_second,
            burst=switches.burst,
            quota=switches.quota,
            quota_seconds=switches.quota_seconds,
        )
        self.batches = Batches(switches.batch_seconds)

    def application(self) -> web.Application:
        app = super().application()
        app._client_max_size = BODY_LIMIT
        app.router.add_post("/v1/responses", self._respond)
        app.router.add_post("/v1/completions", self._completion)
        app.router.add_post("/v1/decisions", self._decide)
        app.router.add_post("/v1/systemone", self._decide)
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._file)
        app.router.add_post("/v1/batches", self._new_batch)
        app.router.add_get("/v1/batches", self._batch_list)
        app.router.add_get("/v1/batches/{id}", self._batch)
        app.router.add_get("/stats", self._stats)
        return app

    @web.middleware
    async def _honest(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        response = await super()._honest(request, handler)
        named = self.switches.limit_headers
        if named == "all" or (named == "refused" and response.status == 429):
            response.headers.update(self.limits.headers())
        self.by_status[response.status] += 1
        return response

    async def _models(self, request: web.Request) -> web.Response:
        return self._unauthorised(request) or as_json(model_list())

    async def _stats(self, _request: web.Request) -> web.Response:
        by_status = {str(status): count for status, count in self.by_status.items()}
        return as_json(
            {
                "calls": self.calls,
                "by_status": by_status,
                "distinct_requests": len(self.requests_seen),
            }
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        refused = self._unauthorised(request)
        if refused:
            return refused
        raw = await request.read()
        answered = await self._answered(read_object(raw), raw)
        return answered if isinstance(answered, web.StreamResponse) else as_json(answered)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        """Answer a request of the Responses API."""
        refused = self._unauthorised(request)
        if refused:
            return refused
        raw = await request.read()
        body = read_object(raw) or {}
        if why := problem_of(body):
            return as_error(400, why, "unknown_parameter")
        answered = await self._answered(as_chat(body), raw)
        if isinstance(answered, web.StreamResponse):
            return answered
        return as_json(response_of(answered))

    async def _answered(
        self, body: dict[str, Any] | None, raw: bytes
    ) -> dict[str, Any] | web.StreamResponse:
        """Return a chat completion, or the error in its place."""
        problem = self.problem(body) or self._too_long(body) or self._unsupported(body)
        if problem or body is None:
            return problem or as_error(
                400, "The body is not a JSON object.", "invalid_request_error"
            )
        self.calls += 1
        dice = seeded("fault", self.calls).random
        return await self._failure(dice) or self._completed(body, raw, dice)

    def _completed(
        self, body: dict[str, Any], raw: bytes, dice: Callable[[], float]
    ) -> dict[str, Any]:
        """Return a completion, with the errors that the switches simulate."""
        if self.switches.ignores_n:
            body["n"] = 1
        if self.switches.without_logprobs:
            body["logprobs"] = False
        if self.switches.ignores_schema:
            body["response_format"] = None
        key = hashlib.sha256(raw).digest()
        call = self.requests_seen[key]
        self.requests_seen[key] += 1
        instead = ""
        if dice() < self.switches.refusal_rate:
            instead = "I'm sorry, but I can't help with rating this."
        elif dice() < self.switches.unparseable_rate:
            instead = "Thank you for sharing this text. It touches on several interesting matters."
        return self.completion(body, raw, call=call, instead=instead)

    async def _completion(self, request: web.Request) -> web.StreamResponse:
        refused = self._unauthorised(request)
        if refused:
            return refused
        body = read_object(await request.read())
        if body is None or not isinstance(body.get("prompt"), str):
            return as_error(400, "`prompt` must be a string.", "invalid_request_error")
        self.calls += 1
        return await self._failure(seeded("fault", self.calls).random) or as_json(
            text_completion(body)
        )

    async def _decide(self, request: web.Request) -> web.StreamResponse:
        refused = self._unauthorised(request)
        if refused:
            return refused
        body = read_object(await request.read())
        answered = decision(body) if body else None
        if answered is None:
            return as_error(400, "No question could be read.", "invalid_request_error")
        self.calls += 1
        return await self._failure(seeded("fault", self.calls).random) or as_json(answered)

    async def _upload(self, request: web.Request) -> web.Response:
        refused = self._unauthorised(request)
        if refused:
            return refused
        form = await request.post()
        file = form.get("file")
        if not isinstance(file, web.FileField) or form.get("purpose") != "batch":
            return as_error(400, "`file` and `purpose`: batch are needed.", "invalid_request_error")
        return as_json(self.batches.upload(file.filename, file.file.read()))

    async def _file(self, request: web.Request) -> web.Response:
        content = self.batches.files.get(request.match_info["id"])
        if content is None:
            return as_error(404, "There is no such file.", "invalid_request_error")
        return self._unauthorised(request) or web.Response(
            body=content, content_type="application/jsonl"
        )

    async def _new_batch(self, request: web.Request) -> web.Response:
        refused = self._unauthorised(request)
        body = read_object(await request.read()) or {}
        if refused or body.get("input_file_id") not in self.batches.files:
            return refused or as_error(
                400, "`input_file_id` names no file.", "invalid_request_error"
            )
        return as_json(self.batches.start(body["input_file_id"], body.get("metadata") or {}))

    async def _batch(self, request: web.Request) -> web.Response:
        batch = self.batches.look(request.match_info["id"], self._answer_line)
        missing = as_error(404, "There is no such batch.", "invalid_request_error")
        return self._unauthorised(request) or (as_json(batch) if batch else missing)

    async def _batch_list(self, request: web.Request) -> web.Response:
        listed = [self.batches.batches[batch_id] for batch_id in reversed(self.batches.batches)]
        answer = {"object": "list", "data": listed[:100], "has_more": False}
        return self._unauthorised(request) or as_json(answer)

    def _answer_line(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and body of a request in a batch. Rate limits do not apply to batches,
        errors do."""
        is_response = "input" in body
        body = as_chat(body) if is_response else body
        problem = self.problem(body) or self._too_long(body)
        self.calls += 1
        dice = seeded("fault", self.calls).random
        if problem is None and dice() < self.switches.error_rate:
            problem = as_error(500, "The stand-in is set to fail sometimes.", "server_error")
        if problem is not None:
            assert isinstance(problem.body, bytes)
            return problem.status, orjson.loads(problem.body)
        completion = self._completed(body, orjson.dumps(body), dice)
        return 200, response_of(completion) if is_response else completion

    async def _failure(self, dice: Callable[[], float]) -> web.StreamResponse | None:
        """Wait for the latency, and return an error if the switches say so."""
        if 0 < self.switches.calls_at_once <= self.open_calls:
            return self._overloaded()
        self.open_calls += 1
        try:
            return await self._failure_of_call(dice)
        finally:
            self.open_calls -= 1

    def _overloaded(self) -> web.Response:
        names_time = self.switches.limit_headers != "none"
        headers = {"Retry-After": f"{self.switches.retry_after:g}"} if names_time else {}
        return as_error(503, "The stand-in is overloaded.", "overloaded", headers=headers)

    async def _failure_of_call(self, dice: Callable[[], float]) -> web.StreamResponse | None:
        switches = self.switches
        if dice() < switches.hang_rate:
            await asyncio.sleep(3600)
        if self.limits.is_out_of_quota():
            message = "You exceeded your current quota, please check your plan and billing details."
            return as_error(429, message, "insufficient_quota")
        if not self.limits.passes():
            return as_error(
                429,
                "Rate limit reached for requests.",
                "rate_limit_exceeded",
                headers=self.limits.retry_headers() if switches.limit_headers != "none" else {},
            )
        if dice() < switches.rate_limit_rate:
            headers = {"Retry-After": f"{switches.retry_after:g}"}
            return as_error(
                429, "Rate limit reached for the stand-in.", "rate_limit_exceeded", headers=headers
            )
        if switches.latency:
            await asyncio.sleep(switches.latency)
        if dice() < switches.error_rate:
            return as_error(500, "The stand-in is set to fail sometimes.", "server_error")
        return None

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        key = self.switches.api_key
        if key and request.headers.get("Authorization") != f"Bearer {key}":
            return as_error(401, "Incorrect API key provided.", "invalid_api_key")
        return None

    def _unsupported(self, body: dict[str, Any] | None) -> web.Response | None:
        if body is None:
            return None
        if self.switches.without_top_p and "top_p" in body:
            return as_error(400, "Unsupported parameter: `top_p`.", "unsupported_parameter")
        only = self.switches.only_model
        if only and body.get("model") != only:
            return as_error(
                404, f"The model `{body.get('model')}` does not exist.", "model_not_found"
            )
        if not self.switches.only_max_completion_tokens:
            return None
        if "max_tokens" in body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return as_error(400, message, "unsupported_parameter")
        if body.get("temperature") not in (None, 1):
            return as_error(
                400, "Unsupported value: 'temperature' is 1 with this model.", "unsupported_value"
            )
        return None

    def _too_long(self, body: dict[str, Any] | None) -> web.Response | None:
        if body is None:
            return None
        tokens = sum(len(str(message.get("content", ""))) // 4 for message in body["messages"])
        if tokens <= self.switches.context_tokens:
            return None
        message = (
            f"This model's maximum context length is {self.switches.context_tokens} tokens; the"
            f" prompt has {tokens}."
        )
        return as_error(400, message, "context_length_exceeded")
