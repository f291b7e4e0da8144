"""The stand-in as an HTTP server: the models and chat completions of OpenAI's API. With errors and
the other interfaces it is a fixture of tests (tests/standin)."""

import asyncio
import hashlib
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

import orjson
from aiohttp import web

from geval.llm.server_fit import MOST_ALTERNATIVES, MOST_CHOICES
from geval.standin.replies import Rate, chat_completion, model_list, usual_rate
from geval.texts.stand_in import HONEST_NAME

# A large run has many more prompts, whose answers must not fill the memory.
REMEMBERED = 5_000
BODY_LIMIT = 32 * 2**20


class StandIn:
    """The server's state: the answers that are always the same."""

    most_choices, most_alternatives = MOST_CHOICES, MOST_ALTERNATIVES

    def __init__(self, rate: Rate = usual_rate) -> None:
        self.rate = rate
        self.greedy: dict[bytes, dict[str, Any]] = {}

    def application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_LIMIT, middlewares=[self._honest])
        app.router.add_get("/", self._about)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        return app

    @web.middleware
    async def _honest(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Name the server in every response; for unknown addresses return an error body like
        OpenAI's."""
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = as_error(error.status, error.reason, "invalid_request_error")
        response.headers["X-Powered-By"] = HONEST_NAME
        return response

    async def _about(self, _request: web.Request) -> web.Response:
        return as_json({"name": HONEST_NAME, "endpoints": ["/v1/models", "/v1/chat/completions"]})

    async def _models(self, _request: web.Request) -> web.Response:
        return as_json(model_list())

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = read_object(raw)
        if problem := self.problem(body):
            return problem
        assert body is not None
        return as_json(self.completion(body, raw))

    def completion(
        self, body: dict[str, Any], raw: bytes, *, call: int = 0, instead: str = ""
    ) -> dict[str, Any]:
        """Return a completion. Greedy answers are always the same, so a rating is computed once.

        Args:
            call: how often the same was asked before.
            instead: a text in place of the answer.
        """
        if instead or body.get("temperature") != 0:
            return chat_completion(body, call=call, rate=self.rate, instead=instead)
        key = hashlib.sha256(raw).digest()
        if key not in self.greedy:
            if len(self.greedy) >= REMEMBERED:
                self.greedy.pop(next(iter(self.greedy)))
            self.greedy[key] = chat_completion(body, call=0, rate=self.rate)
        return self.greedy[key]

    def problem(self, body: dict[str, Any] | None) -> web.Response | None:
        """Return the error for a request that OpenAI refuses; None for others."""
        why = "The body is not a JSON object." if body is None else self._why_refused(body)
        return as_error(400, why, "invalid_request_error") if why else None

    def _why_refused(self, body: dict[str, Any]) -> str:
        messages = body.get("messages")
        is_list = isinstance(messages, list) and bool(messages)
        if not is_list or not all(isinstance(message, dict) for message in messages or ()):
            return "`messages` must be a list of objects and not empty."
        for name, low, high in (
            ("n", 1, self.most_choices),
            ("temperature", 0, 2),
            ("top_logprobs", 0, self.most_alternatives),
        ):
            value = body.get(name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and low <= value <= high):
                return f"`{name}` must be a number from {low} to {high}."
        if body.get("top_logprobs") is not None and not body.get("logprobs"):
            return "`top_logprobs` needs `logprobs`: true."
        return "The stand-in does not stream." if body.get("stream") else ""


async def serve(standin: StandIn, *, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Serve until cancelled; `ready` is called with the port (useful if 0 was requested)."""
    runner = web.AppRunner(standin.application(), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, backlog=1024)
        await site.start()
        ready(runner.addresses[0][1])
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def start_standin() -> str:
    """Serve the stand-in on this machine until the program ends; return its base URL.

    Raises:
        OSError: it cannot listen.
    """
    port: Future[int] = Future()

    def run() -> None:
        try:
            asyncio.run(serve(StandIn(), host="127.0.0.1", port=0, ready=port.set_result))
        except OSError as error:
            port.set_exception(error)

    threading.Thread(target=run, name="standin", daemon=True).start()
    return f"http://127.0.0.1:{port.result()}/v1"


def read_object(raw: bytes) -> dict[str, Any] | None:
    """Return a JSON object; None for anything else."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def as_json(content: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(content), status=status, content_type="application/json")


def as_error(
    status: int, message: str, code: str, *, headers: dict[str, str] | None = None
) -> web.Response:
    response = as_json(
        {"error": {"message": message, "type": code, "param": None, "code": code}}, status
    )
    response.headers.update(headers or {})
    return response
