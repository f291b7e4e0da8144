"""Servers of the shapes that judges meet, as one table: what each takes and refuses of a chat
request, in its own words, and how it answers. Served over HTTP on loopback.

Every shape rates by the same truth: an output's rating is a point with probability 0.7 and the next
one with 0.3. So log-probabilities must give the point + 0.3, any twenty samples the same, and one
greedy reply the point. A thought mentions another point, which must never be a score.

Each wire form is a fact with a public address among its shape's `sources`; none was recalled. They
are in `tests/data/server_shapes.json`.
"""

import asyncio
import hashlib
import json
import math
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from geval.llm.probe import QUESTION
from geval.llm.responses import CHAT, RESPONSES
from geval.llm.server_fit import MOST_ALTERNATIVES, MOST_CHOICES
from geval.standin.judging import read_prompt, steps_for, wants_steps
from tests.standin import responding

FACTS = Path(__file__).with_name("data") / "server_shapes.json"
UPPER = 0.3
# As Azure stops a prompt: https://github.com/openai/openai-dotnet/issues/55
FILTERED = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content"
        " management policy. Please modify your prompt and retry.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
        },
    }
}
CYCLE = 20
# Of each call at a server that says so.
CACHED, THOUGHT = 100, 5
_TOKEN = re.compile(r"\s?\w+|[^\w\s]|\s+")
Body = dict[str, Any]


@dataclass(frozen=True)
class Responses:
    """How a server's Responses API answers.

    `thought` says where a reasoning item has its text: in its "content", its "summary" or nowhere.
    `without_logprobs` is what stands for log-probabilities where it gives none; by default the
    field is missing. One that is `silent_if_cut` calls a cut reply completed. `least` is how few
    tokens may be asked for. `fields` of the whole and of the `message` are its own. `usage` maps
    the names of counts to other ones.
    """

    thought: str = ""
    without_logprobs: Mapping[str, Any] = field(default_factory=dict)
    silent_if_cut: bool = False
    least: int = 1
    fields: Mapping[str, Any] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, str] = field(default_factory=dict)

    def reply(self, completion: Body, limit: int) -> Body:
        """A chat completion as a response to a request for at most so many tokens."""
        (choice,) = completion["choices"]
        message, logprobs = choice["message"], choice["logprobs"]
        is_cut = choice["finish_reason"] == "length"
        status = "incomplete" if is_cut and not self.silent_if_cut else "completed"
        listed = {"logprobs": logprobs["content"]} if logprobs else self.without_logprobs
        part = {"type": "output_text", "text": message["content"], "annotations": []} | listed
        items: list[Body] = []
        if message.get("reasoning") or self.thought == "nowhere":
            items.append({"type": "reasoning", "id": "rs_1", "summary": []})
        if self.thought in ("content", "summary") and items:
            kind = "reasoning_text" if self.thought == "content" else "summary_text"
            items[0][self.thought] = [{"type": kind, "text": message["reasoning"]}]
        if message["content"] or not items:
            whole = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
            items.append(whole | {"status": status} | self.message)
        counts = completion["usage"]
        written = limit if is_cut else counts["completion_tokens"]
        usage = {
            "input_tokens": counts["prompt_tokens"],
            "output_tokens": written,
            "total_tokens": counts["prompt_tokens"] + written,
        }
        why = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": why,
            "model": completion["model"],
            "output": items,
            "usage": {self.usage.get(name, name): count for name, count in usage.items()},
        } | self.fields


@dataclass(frozen=True)
class Shape:
    """What a server takes and how it answers.

    `choices` and `alternatives` are the most that it takes as n and top_logprobs; with `ignores` it
    takes those parameters and does nothing about them. `refuses` has its words for parameters that
    it refuses at all ("temperature": all but 1; "system": that role). `thought` says where a
    thought stands: in which field, "inline", in a content "part", or "hidden". `error` is the form
    of its error bodies, `statuses` has those that are not 400, `deployment` that its address has a
    deployment and an API version. Prompts with the word `filters` are stopped by its content
    filter; `too_short` is what it says where a thought does not fit into a reply. A model that
    `bypasses_thought` has none at a simple question. A request with what `unless` has is refused
    nothing of `refuses`. With `responses` it is asked by the Responses API.
    """

    name: str
    sources: tuple[str, ...]
    takes: str
    choices: int = MOST_CHOICES
    alternatives: int = MOST_ALTERNATIVES
    ignores: tuple[str, ...] = ()
    refuses: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    thought: str = ""
    error: str = "openai"
    filters: str = ""
    too_short: str = ""
    bypasses_thought: bool = False
    refuses_both: str = ""
    one_if_greedy: str = ""
    unless: Mapping[str, Any] = field(default_factory=dict)
    deployment: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    responses: Responses | None = None

    @property
    def route(self) -> str:
        """Where it is asked."""
        return RESPONSES if self.responses else CHAT

    def refusal(self, body: Body) -> tuple[str, str] | None:
        """The parameter that it refuses of a request, and its words."""
        least = self.responses.least if self.responses else 1
        if body.get("max_output_tokens", least) < least:
            return "max_output_tokens", responding.problem_of(body)
        lapses = self.unless and self.unless.items() <= body.items()
        for name, words in () if lapses else self.refuses.items():
            if name == "system":
                if any(message["role"] == "system" for message in body["messages"]):
                    return "messages[0].role", words
            elif name == "temperature":
                if body.get("temperature", 1) != 1:
                    return name, words
            elif body.get(name) is not None:
                return name, words
        if self.refuses_both and "temperature" in body and "top_p" in body:
            return "temperature", self.refuses_both
        n = body.get("n", 1)
        if self.one_if_greedy and n > 1 and body.get("temperature") == 0:
            return "n", self.one_if_greedy.format(n=n)
        if n > self.choices and "n" not in self.ignores:
            return "n", self.says.get("n", "Invalid value: 'n' is too large.").format(n=n)
        wanted = body.get("top_logprobs") or 0
        if wanted > self.alternatives and "logprobs" not in self.ignores:
            usual = "Invalid value: 'top_logprobs' must be less than or equal to {most}."
            words = self.says.get("top_logprobs", usual)
            return "top_logprobs", words.format(most=self.alternatives, wanted=wanted)
        return None

    def error_body(self, status: int, parameter: str, words: str) -> Any:
        """An error as this server writes it."""
        if self.error == "list":
            return [{"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}]
        if self.error == "code":
            return {"error": {"code": "invalid_prompt", "message": words}, "metadata": None}
        if self.error == "flat":
            return {"object": "error", "message": words, "type": "BadRequestError", "param": None,
                    "code": status}  # fmt: skip
        if self.error == "detail":
            detail = [{"type": "extra_forbidden", "loc": ["body", parameter], "msg": words}]
            return {"object": "error", "message": {"detail": detail},
                    "type": "invalid_request_error", "param": None, "code": None}  # fmt: skip
        named = None if self.error == "unnamed" else parameter
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return {"error": {"message": words, "type": kind, "param": named, "code": None}}


def _shapes() -> Iterator[Shape]:
    for fields in json.loads(FACTS.read_text()):
        for name in ("sources", "ignores"):
            fields[name] = tuple(fields.get(name, ()))
        if "responses" in fields:
            fields["responses"] = Responses(**fields["responses"])
        yield Shape(**fields)


SHAPES = tuple(_shapes())


def truth(output: str) -> int:
    """The lower of the two points that an output is rated with, from 1 to 4."""
    return 1 + hashlib.sha256(output.encode()).digest()[0] % 4


def right_scores(output: str, mode: str, *, is_greedy: bool) -> set[float]:
    """What a judge may score an output."""
    lower = float(truth(output))
    if mode == "direct":
        return {lower} if is_greedy else {lower, lower + 1}
    return {lower + UPPER}


class ShapedServer:
    """A server of each shape, under a path of its own."""

    def __init__(self) -> None:
        self.port = 0
        self.dealt: Counter[str] = Counter()
        self.bodies: list[Body] = []

    def base_url(self, shape: Shape) -> str:
        """Its address; a deployment's has no /v1."""
        end = "" if shape.deployment else "/v1"
        end += RESPONSES if shape.responses else ""
        return f"http://127.0.0.1:{self.port}/{SHAPES.index(shape)}{end}"

    async def serve(self, ready: threading.Event) -> None:
        app = web.Application()
        app.router.add_post("/{shape}/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        ready.set()
        await asyncio.Event().wait()

    async def _answer(self, request: web.Request) -> web.Response:
        shape = SHAPES[int(request.match_info["shape"])]
        is_right = not shape.deployment or (
            "openai/deployments/" in request.path and request.query.get("api-version")
        )
        if not request.path.endswith(shape.route) or not is_right:
            words = "Resource not found"
            return web.json_response({"error": {"code": "404", "message": words}}, status=404)
        body: Body = json.loads(await request.read())
        self.bodies.append(body)
        refusal = shape.refusal(body)
        if refusal:
            parameter, words = refusal
            status = shape.statuses.get(parameter, 400)
            return web.json_response(shape.error_body(status, parameter, words), status=status)
        asked = responding.as_chat(body) if shape.responses else body
        if shape.filters and shape.filters in asked["messages"][-1]["content"]:
            return web.json_response(FILTERED, status=400)
        completion = self._completion(shape, asked)
        is_cut = any(choice["finish_reason"] == "length" for choice in completion["choices"])
        if shape.too_short and is_cut:
            return web.json_response(shape.error_body(400, "", shape.too_short), status=400)
        if shape.responses:
            completion = shape.responses.reply(completion, body["max_output_tokens"])
        return web.json_response(completion)

    def _completion(self, shape: Shape, body: Body) -> Body:
        prompt = body["messages"][-1]["content"]
        n = 1 if "n" in shape.ignores else body.get("n", 1)
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or 4096
        is_greedy = body.get("temperature") == 0
        alternatives = 0 if "logprobs" in shape.ignores else body.get("top_logprobs") or 0
        choices = []
        for index in range(n):
            key = f"{shape.name}\0{prompt}"
            draw = 0 if is_greedy else self.dealt[key]
            self.dealt[key] += not is_greedy
            choices.append(
                {"index": index} | _choice(shape, prompt, draw, limit, alternatives) | shape.extra
            )
        return {
            "id": "shape-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": choices,
            "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": 8 * n} | shape.usage,
        }


def _choice(shape: Shape, prompt: str, draw: int, limit: int, alternatives: int) -> Body:
    """A reply; `draw` counts the sampled ones to a prompt."""
    answer, points, decoy = _answer_to(prompt, draw)
    thought = f"Let me see. Fluency: {decoy}? Coherence: {decoy}? I would say {decoy} of 5.\n"
    if shape.bypasses_thought and prompt.endswith(QUESTION):
        thought = "\n"
    before = thought if shape.thought else ""
    if shape.thought == "inline":
        before = f"<think>\n{thought}</think>\n\n"
    tokens = [*_TOKEN.findall(before), *_TOKEN.findall(answer)]
    is_cut = len(tokens) > limit
    kept = tokens[:limit]
    written = "".join(kept)
    content = written if shape.thought == "inline" else written[len(before) :]
    message: Body = {"role": "assistant", "content": content}
    if shape.thought in ("reasoning", "reasoning_content"):
        message[shape.thought] = written[: len(before)]
    elif shape.thought == "part":
        parts = [{"type": "text", "text": content}] if content else []
        inner = [{"type": "text", "text": written[: len(before)]}]
        message["content"] = [{"type": "thinking", "thinking": inner}, *parts]
    return {
        "message": message,
        "finish_reason": "length" if is_cut else "stop",
        "logprobs": {"content": _logprobs(kept, points, alternatives)} if alternatives else None,
    }


def _answer_to(prompt: str, draw: int) -> tuple[str, dict[str, float], int]:
    """The answer, the probabilities of its rating's points, and a point that only a thought
    mentions."""
    if prompt.endswith(QUESTION):
        return "3", {"3": 1.0}, 5
    if wants_steps(prompt):
        return steps_for(prompt), {}, 2
    reading = read_prompt(prompt)
    if reading is None:
        return "I do not understand.", {}, 2
    lower = truth(reading.output)
    is_upper = draw * 7 % CYCLE >= CYCLE * (1 - UPPER)
    decoy = lower + 2 if lower <= 3 else 1
    return str(lower + is_upper), {str(lower): 1 - UPPER, str(lower + 1): UPPER}, decoy


def _logprobs(tokens: list[str], points: dict[str, float], alternatives: int) -> list[Body]:
    """Each token with its alternatives. The rating is the last one."""
    listed = []
    for place, token in enumerate(tokens, start=1):
        probable = points if place == len(tokens) and points else {token: 1.0}
        others = {f"w{number}": 1e-9 for number in range(alternatives - len(probable))}
        ranked = list((probable | others).items())[:alternatives]
        listed.append(
            {
                "token": token,
                "logprob": math.log(probable[token.strip()] if token in points else 1.0),
                "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in ranked],
            }
        )
    return listed


@contextmanager
def shaped_server() -> Iterator[ShapedServer]:
    server, ready = ShapedServer(), threading.Event()
    loop = asyncio.new_event_loop()
    task = loop.create_task(server.serve(ready))
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]") -> None:
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        pass
    finally:
        loop.close()
