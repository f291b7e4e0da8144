"""Servers of the shapes that judges meet, as one table: what each takes and refuses of a chat
request, in its own words, and how it answers. Served over HTTP on loopback.

Every shape rates by the same truth: an output's rating is a point with probability 0.7 and the next
one with 0.3. So log-probabilities must give the point + 0.3, any twenty samples the same, and one
greedy reply the point. A thought mentions another point, which must never be a score.

Each wire form is a fact with a public address among its shape's `sources`; none was recalled.
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
from typing import Any

from aiohttp import web

from geval.llm.probe import QUESTION
from geval.llm.responses import CHAT, LEAST_TOKENS, RESPONSES
from geval.llm.server_fit import MOST_ALTERNATIVES, MOST_CHOICES
from geval.standin.judging import read_prompt, steps_for, wants_steps
from tests.standin import responding

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


LLAMA_CPPS = "top_logprobs requires logprobs to be set to true"
AZURES_FILTERS = {
    "content_filters": [
        {
            "blocked": False,
            "source_type": "prompt",
            "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}},
        }
    ]
}
NOT_MISTRALS = ("logprobs", "seed", "max_completion_tokens")


def _unsupported(name: str) -> str:
    return f"Unsupported parameter: '{name}' is not supported with this model."


_LITELLM = (
    "litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['logprobs'], for"
    " model=m. To drop these, set `litellm.drop_params=True` or for proxy: `litellm_settings:"
    " drop_params: true`."
)

SHAPES = (
    Shape(
        "plain",
        ("https://platform.openai.com/docs/api-reference/chat/create",),
        "everything",
    ),
    Shape(
        "no log-probabilities",
        ("https://github.com/openai/openai-python/issues/433",),
        "logprobs refused",
        refuses={"logprobs": "Unrecognized request argument supplied: logprobs"},
    ),
    Shape(
        "at most 5 alternatives",
        ("https://github.com/EleutherAI/lm-evaluation-harness/issues/1735",),
        "top_logprobs up to 5",
        alternatives=5,
        says={"top_logprobs": "Cannot request more than {most} logprobs."},
        error="flat",
    ),
    Shape(
        "n = 1",
        ("https://github.com/crewAIInc/crewAI/issues/60",),
        "n refused, without log-probabilities",
        choices=1,
        refuses={"logprobs": "Extra inputs are not permitted"},
        says={"n": "Extra inputs are not permitted"},
        statuses={"n": 422, "logprobs": 422},
        error="detail",
    ),
    Shape(
        "n up to 8",
        (
            "https://github.com/router-for-me/CLIProxyAPI/pull/961",
            "https://github.com/google-gemini/gemini-cli/issues/12823",
        ),
        "n up to 8, top_p and seed refused without a name",
        choices=8,
        refuses={
            "seed": "Request contains an invalid argument.",
            "top_p": "Request contains an invalid argument.",
        },
        says={"n": "Request contains an invalid argument."},
        error="unnamed",
    ),
    Shape(
        "reasoning apart",
        ("https://api-docs.deepseek.com/guides/reasoning_model",),
        "thought in `reasoning_content`, logprobs refused",
        thought="reasoning_content",
        refuses={"logprobs": "deepseek-reasoner does not support this parameter logprobs"},
    ),
    Shape(
        "reasoning inline",
        ("https://huggingface.co/deepseek-ai/DeepSeek-R1",),
        "thought in `<think>` (none at a simple question), log-probabilities of all tokens",
        thought="inline",
        bypasses_thought=True,
    ),
    Shape(
        "content parts",
        (
            "https://docs.mistral.ai/inference/conversations/reasoning",
            "https://github.com/editor-code-assistant/eca/issues/231",
        ),
        "content as a list of parts, unknown parameters refused",
        thought="part",
        refuses=dict.fromkeys(NOT_MISTRALS, "Extra inputs are not permitted"),
        statuses=dict.fromkeys(NOT_MISTRALS, 422),
        error="detail",
    ),
    Shape(
        "o-series",
        (
            "https://github.com/openai/openai-python/issues/2046",
            "https://github.com/johny-b/llmcomp/issues/69",
            "https://github.com/pydantic/pydantic-ai/issues/974",
            "https://community.openai.com/t/1341462",
        ),
        "`max_completion_tokens`, temperature 1 alone, no top_p, no log-probabilities",
        thought="hidden",
        refuses={
            "max_tokens": _unsupported("max_tokens") + " Use 'max_completion_tokens' instead.",
            "temperature": "Unsupported value: 'temperature' does not support 0 with this model."
            " Only the default (1) value is supported.",
            "top_p": _unsupported("top_p"),
            "logprobs": "You are not allowed to request logprobs from this model",
            "system": "Unsupported value: 'messages[0].role' does not support 'system' with this"
            " model.",
        },
        statuses={"logprobs": 403},
        too_short="Could not finish the message because max_tokens or model output limit was"
        " reached. Please try again with higher max_tokens.",
    ),
    Shape(
        "GPT-5.1",
        (
            "https://github.com/vercel/ai/issues/10932",
            "https://app.unpkg.com/@ai-sdk/openai@3.0.37/files/src/openai-language-model-capabilities.ts",
        ),
        "temperature 1, no top_p, no log-probabilities; everything with `reasoning_effort` none",
        refuses={name: _unsupported(name) for name in ("temperature", "top_p", "logprobs")},
        unless={"reasoning_effort": "none"},
        usage={
            "prompt_tokens_details": {"cached_tokens": CACHED},
            "completion_tokens_details": {"reasoning_tokens": THOUGHT},
        },
    ),
    Shape(
        "Azure",
        (
            "https://learn.microsoft.com/en-us/azure/ai-services/openai/reference",
            "https://github.com/openai/openai-dotnet/issues/55",
        ),
        "an API version in the address, content filter results in replies",
        deployment=True,
        filters="bomb",
        extra={"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
    ),
    Shape(
        "Gemini's layer",
        (
            "https://github.com/Vali-98/ChatterUI/issues/227",
            "https://github.com/googleapis/python-aiplatform/issues/3603",
            "https://github.com/mscraftsman/generative-ai/issues/135",
        ),
        "errors as a list, n up to 8, no seed, no log-probabilities",
        choices=8,
        refuses={
            "seed": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
            "logprobs": "Logprobs is not enabled for models/gemini-2.5-pro",
        },
        says={
            "n": "Unable to submit request because it has a candidateCount value of {n} but the"
            " supported range is from 1 (inclusive) to 9 (exclusive)."
        },
        error="list",
    ),
    Shape(
        "Anthropic's layer",
        (
            "https://docs.claude.com/en/api/openai-sdk",
            "https://github.com/router-for-me/CLIProxyAPI/issues/193",
        ),
        "n = 1, ignores logprobs and seed, temperature or top_p but not both",
        choices=1,
        alternatives=0,
        ignores=("logprobs", "seed"),
        says={"n": "n: Must be exactly 1"},
        refuses_both="`temperature` and `top_p` cannot both be specified for this model. Please"
        " use only one.",
        error="unnamed",
    ),
    Shape(
        "vLLM",
        (
            "https://github.com/vllm-project/vllm/issues/29408",
            "https://github.com/vllm-project/vllm/blob/main/vllm/sampling_params.py",
        ),
        "thought in `reasoning`, log-probabilities of all tokens, n = 1 at temperature 0",
        thought="reasoning",
        one_if_greedy="n must be 1 when using greedy sampling, got {n}.",
        says={
            "top_logprobs": "Requested sample logprobs of {wanted}, which is greater than max"
            " allowed: {most}"
        },
        error="unnamed",
    ),
    Shape(
        "SGLang",
        (
            "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py",
        ),
        "everything; errors without `error`",
        error="flat",
        extra={"matched_stop": 2},
    ),
    Shape(
        "llama.cpp",
        (
            "https://github.com/ggml-org/llama.cpp/pull/10783",
            "https://github.com/algorithmicsuperintelligence/optillm/issues/8",
        ),
        "n = 1, which it refuses as a server error",
        choices=1,
        says={"n": "Only one completion choice is allowed"},
        statuses={"n": 500},
        error="unnamed",
    ),
    Shape(
        "Ollama",
        ("https://docs.ollama.com/api/openai-compatibility",),
        "ignores n",
        ignores=("n",),
    ),
    Shape(
        "LM Studio",
        (
            "https://www.rdocumentation.org/packages/rlmstudio/versions/0.2.2/topics/lms_chat_openai",
        ),
        "takes logprobs and returns null",
        ignores=("logprobs",),
    ),
    Shape(
        "OpenRouter",
        (
            "https://openrouter.ai/docs/docs/routing/provider-selection",
            "https://github.com/enricoros/big-AGI/issues/940",
        ),
        "a provider that ignores logprobs; thought in `reasoning`",
        ignores=("logprobs",),
        thought="reasoning",
        extra={"native_finish_reason": "completed"},
    ),
    Shape(
        "LiteLLM",
        (
            "https://docs.litellm.ai/docs/completion/drop_params",
            "https://github.com/BerriAI/litellm/issues/17165",
        ),
        "logprobs refused, in its words",
        refuses={"logprobs": _LITELLM},
        error="unnamed",
    ),
    Shape(
        "OpenAI, Responses",
        (
            "https://platform.openai.com/docs/api-reference/responses/create",
            "https://github.com/openai/openai-python/blob/main/src/openai/types/responses/response.py",
        ),
        "at least 16 tokens, no seed",
        refuses={"seed": "Unknown parameter: 'seed'."},
        responses=Responses(least=LEAST_TOKENS, without_logprobs={"logprobs": []}),
    ),
    Shape(
        "GPT-5, Responses",
        (
            "https://github.com/vllm-project/vllm/pull/23319",
            "https://github.com/vercel/ai/issues/10932",
        ),
        "the same, no temperature, no log-probabilities; a reasoning item without words",
        thought="hidden",
        refuses={
            "seed": "Unknown parameter: 'seed'.",
            "include": "logprobs are not supported with reasoning models.",
            "temperature": _unsupported("temperature"),
            "top_p": _unsupported("top_p"),
        },
        responses=Responses("nowhere", least=LEAST_TOKENS, without_logprobs={"logprobs": []}),
    ),
    Shape(
        "Azure, Responses",
        (
            "https://github.com/Azure/azure-rest-api-specs/pull/42141",
            "https://github.com/openai/openai-dotnet/issues/55",
        ),
        "the same, content filter results in replies",
        refuses={"seed": "Unknown parameter: 'seed'."},
        filters="bomb",
        responses=Responses(
            least=LEAST_TOKENS, without_logprobs={"logprobs": []}, fields=AZURES_FILTERS
        ),
    ),
    Shape(
        "vLLM, Responses",
        (
            "https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/responses/serving.py",
            "https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/responses/utils.py",
        ),
        "thought in a reasoning item's `content`, log-probabilities of all tokens",
        thought="reasoning",
        error="unnamed",
        responses=Responses("content", {"logprobs": None}, message={"phase": None}),
    ),
    Shape(
        "SGLang, Responses",
        (
            "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/serving_responses.py",
        ),
        "the same; the answer has the phase `final_answer`",
        thought="reasoning",
        responses=Responses(
            "content",
            {"logprobs": None},
            message={"phase": "final_answer", "status": "completed"},
        ),
    ),
    Shape(
        "llama.cpp, Responses",
        ("https://github.com/ggml-org/llama.cpp/issues/22659",),
        "refuses top_logprobs, calls a cut reply completed",
        refuses={"top_logprobs": LLAMA_CPPS},
        error="unnamed",
        responses=Responses("content", {"logprobs": []}, silent_if_cut=True),
    ),
    Shape(
        "Ollama, Responses",
        ("https://github.com/ollama/ollama/blob/main/openai/responses.go",),
        "ignores logprobs, calls a cut reply completed; thought in a reasoning item's `summary`",
        ignores=("logprobs",),
        thought="reasoning",
        responses=Responses("summary", {"logprobs": []}, silent_if_cut=True),
    ),
    Shape(
        "LM Studio, Responses",
        (
            "https://lmstudio.ai/docs/developer/openai-compat/responses",
            "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1420",
        ),
        "takes logprobs and returns none",
        ignores=("logprobs",),
        responses=Responses(without_logprobs={"logprobs": []}),
    ),
    Shape(
        "OpenRouter, Responses",
        (
            "https://openrouter.ai/docs/api/api-reference/responses/create-responses",
            "https://openrouter.ai/docs/api/reference/responses/error-handling",
        ),
        "refuses logprobs without a name; counts named as in chat completions",
        refuses={"include": "Detailed error description"},
        error="code",
        responses=Responses(
            usage={"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
        ),
    ),
    Shape(
        "LiteLLM, Responses",
        (
            "https://github.com/BerriAI/litellm/blob/main/litellm/responses/litellm_completion_transformation/transformation.py",
        ),
        "in front of llama.cpp's chat completions: refuses top_logprobs in its words",
        refuses={
            "top_logprobs": f"litellm.BadRequestError: OpenAIException - {LLAMA_CPPS}\n\nLiteLLM:"
            " model group 'm' failed with the error above. No fallback was attempted."
        },
        error="unnamed",
        responses=Responses(message={"phase": None}),
    ),
)


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
