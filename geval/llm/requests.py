"""Requests to endpoints: chat completions, and texts echoed with log-probabilities. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from geval.llm.decisions import DecisionRequest

# Fields that `ChatRequest.body` and `responses_body` set, and fields that would change the replies
# or their form: options may not set these.
OWN_PARAMETERS = frozenset(
    {
        "model", "models", "route", "fallbacks", "messages", "temperature", "top_p", "n",
        "logprobs", "top_logprobs", "max_tokens", "max_completion_tokens", "stream",
        "stream_options", "response_format", "stop", "tools", "tool_choice", "functions",
        "function_call", "prompt", "echo", "input", "instructions", "include",
        "max_output_tokens", "conversation", "previous_response_id", "background", "store",
    }
)  # fmt: skip


@dataclass(frozen=True)
class ChatRequest:
    """A chat completion: everything that changes its answer. `options` are the judge's
    (request_options.py), `extra` is what a scoring mode or a probe adds, `schema` is the schema of
    a reply in JSON."""

    model: str
    prompt: str
    temperature: float | None = 0.0
    n: int = 1
    max_tokens: int = 32
    top_logprobs: int | None = None
    length_parameter: str = "max_tokens"
    system: str = ""
    system_role: str = "system"
    extra: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None

    def body(self) -> dict[str, Any]:
        """Return the request in OpenAI's protocol, without fields that are left to the endpoint's
        defaults."""
        system = [{"role": self.system_role, "content": self.system}] if self.system else []
        body: dict[str, Any] = {
            **self.options,
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
        if self.schema is not None:
            named = {"name": "rating", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body

    @property
    def shown(self) -> str:
        """What the model reads."""
        return self.system + self.prompt

    @property
    def most_reply_tokens(self) -> int:
        """The most tokens of all its choices together."""
        return self.n * self.max_tokens


@dataclass(frozen=True)
class EchoRequest:
    """A legacy completion that returns a text with the log-probability of each of its tokens.

    One token is generated and discarded: some servers take 0 for "unlimited".
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


Request = ChatRequest | EchoRequest | DecisionRequest


def request_key(base_url: str, *requests: Request) -> str:
    """Return a digest of everything that changes the answer; requests with equal keys may share a
    reply."""
    content = orjson.dumps(
        [base_url, *(request.body() for request in requests)], option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(content).hexdigest()
