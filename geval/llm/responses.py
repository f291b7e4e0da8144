"""The Responses API (`POST …/responses`) next to chat completions: converts requests to its form,
and its replies to that of chat completions. Pure.

It is used for an endpoint whose base URL ends in `/responses`. The forms are those of the package
`openai` (types/responses); the API has no `n`, so that each sample is a separate call, and no seed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from geval.llm.requests import ChatRequest

CHAT, RESPONSES = "/chat/completions", "/responses"
LOGPROBS = "message.output_text.logprobs"
# OpenAI refuses lower limits: "Expected a value >= 16".
LEAST_TOKENS = 16
# Codes of failed responses whose question or answer violates a policy.
_POLICIES = frozenset(
    {"bio_policy", "misalignment_policy_violation", "image_content_policy_violation"}
)
# Codes and types of errors, by what they contain; OpenRouter's `error_type` says what its codes do
# not.
_STATUSES = {
    "rate_limit": 429, "ratelimit": 429, "quota": 429, "overloaded": 529, "unavailable": 503,
    "timeout": 504, "server_error": 500, "servererror": 500, "api_error": 500, "not_found": 404,
    "auth": 401, "api_key": 401,
}  # fmt: skip


class FailedError(Exception):
    """An answer reports an error; `status` is the HTTP status that other APIs would give, `code`
    the server's code."""

    def __init__(self, code: str, message: str, *, kind: object = "") -> None:
        super().__init__(message)
        self.code = code
        is_status = re.fullmatch(r"[45]\d\d", code)
        self.status = int(code) if is_status else _status_of(kind) or _status_of(code) or 400


def _status_of(code: object) -> int:
    """Return the HTTP status that an error's code or type stands for; 0 for others."""
    if not isinstance(code, str):
        return 0
    return next((status for sign, status in _STATUSES.items() if sign in code.lower()), 0)


def failure_in(answer: Mapping[str, Any]) -> FailedError | None:
    """Return the error that an answer reports although its HTTP status is 200: in itself, or in
    its first choice (OpenRouter)."""
    choices = answer.get("choices")
    first = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    error = answer.get("error") or first.get("error")
    if not error:
        if answer.get("object") != "error":
            return None
        error = answer
    code, words = _code_and_words(error)
    return FailedError(code, words, kind=_mapping(error).get("type"))


def _code_and_words(error: Any) -> tuple[str, str]:
    error = {"message": error} if isinstance(error, str) else _mapping(error)
    code = str(error.get("code") or "")[:100]
    return code, str(error.get("message") or code or "it does not say why")[:1000]


def without_route(base_url: str) -> str:
    """Return the base URL of all of a server's routes."""
    return base_url.rstrip("/").removesuffix(RESPONSES)


def route_at(base_url: str) -> str:
    """Return the route for questions to an endpoint's model, relative to `without_route`."""
    return RESPONSES if base_url.rstrip("/").endswith(RESPONSES) else CHAT


def why_not_at(base_url: str, api_version: str) -> str:
    """Return why this API cannot be used at an address; empty if it can, or if the address is not
    for it.

    Azure's addresses for it contain no deployments. An older one, /openai/responses with an API
    version, is not supported, as /openai/v1 serves the same (Microsoft's agent-framework uses only
    that).
    """
    address = base_url.rstrip("/").lower()
    if not address.endswith(RESPONSES):
        return ""
    is_older = "azure.com/" in address and address.endswith(f"/openai{RESPONSES}")
    if not (api_version or "/deployments/" in address or is_older):
        return ""
    return (
        "Azure's Responses API is asked without deployments in the address and without an API"
        " version: enter https://NAME.openai.azure.com/openai/v1/responses, leave the API version"
        " empty, and give the name of the deployment as the model."
    )


def body_by(route: str, request: ChatRequest) -> dict[str, Any]:
    """Return a request in the form of a route."""
    # Some servers stream unless told not to.
    return responses_body(request) if route == RESPONSES else request.body() | {"stream": False}


def responses_body(request: ChatRequest) -> dict[str, Any]:
    """Return a chat request in the form of the Responses API; it asks the server not to store the
    reply."""
    options = dict(request.options)
    # This API has moved them there.
    effort, verbosity = options.pop("reasoning_effort", None), options.pop("verbosity", None)
    asked: Any = request.prompt
    if request.system:
        asked = [
            {"role": request.system_role, "content": request.system},
            {"role": "user", "content": request.prompt},
        ]
    body: dict[str, Any] = {
        "store": False,
        "stream": False,
        **options,
        "model": request.model,
        "input": asked,
        "max_output_tokens": max(LEAST_TOKENS, request.max_tokens),
        **request.extra,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.top_logprobs is not None:
        body |= {"include": [LOGPROBS], "top_logprobs": request.top_logprobs}
    if effort is not None:
        body["reasoning"] = {"effort": effort} | _mapping(options.get("reasoning"))
    text = {} if verbosity is None else {"verbosity": verbosity}
    text = text | _mapping(options.get("text"))
    if request.schema is not None:
        named = {"name": "rating", "strict": True, "schema": request.schema}
        text["format"] = {"type": "json_schema", **named}
    return body | ({"text": text} if text else {})


def is_response(answer: Mapping[str, Any]) -> bool:
    """Return whether a reply is from this API."""
    return answer.get("object") == "response" or ("output" in answer and "choices" not in answer)


def as_chat_completion(answer: Mapping[str, Any], *, limit: int = 0) -> dict[str, Any]:
    """Convert a response to a chat completion with one choice, whose parts are still to be checked.

    Commentary before the final answer is left out. Several messages become lines of one text. A
    reply with as many tokens as allowed (`limit`) was cut, although llama.cpp and Ollama call it
    completed.

    Raises:
        FailedError: the response reports that it failed.
        ValueError: it is not a finished response; the message says what is wrong with it.
    """
    status, error = answer.get("status") or "completed", answer.get("error")
    if status == "failed" or error:
        return _refused_by_policy(answer, error)
    if status not in ("completed", "incomplete"):
        raise ValueError(f"the response is not finished ({str(status)[:50]})")
    output = answer.get("output")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise ValueError("its output is not a list of items")
    messages = [item for item in output if _is_answer(item)]
    parts = [list(_parts(message)) for message in messages]
    refusals = [part["refusal"] for listed in parts for part in listed if "refusal" in part]
    texts = [[part for part in listed if "text" in part] for listed in parts]
    why_cut = _mapping(answer.get("incomplete_details")).get("reason")
    is_full = limit > 0 and usage_as_chat(answer.get("usage"))["completion_tokens"] == limit
    is_cut = is_full or "incomplete" in (status, *(each.get("status") for each in messages))
    filtered = why_cut == "content_filter"
    message = {
        "content": "\n".join("".join(part["text"] for part in listed) for listed in texts),
        "refusal": refusals[0] if refusals else "",
        "reasoning": "\n".join(_thoughts(output)),
    }
    choice = {
        "message": message,
        "finish_reason": ("content_filter" if filtered else "length") if is_cut else "stop",
        "logprobs": {"content": _tokens(texts)},
    }
    return _completion(answer, choice)


def usage_as_chat(usage: Any) -> dict[str, Any]:
    """Return token counts by their names in chat completions, which OpenRouter may use, too."""
    counted = _mapping(usage)
    return {
        "prompt_tokens": _first(counted, "input_tokens", "prompt_tokens"),
        "prompt_tokens_details": counted.get("input_tokens_details"),
        "completion_tokens": _first(counted, "output_tokens", "completion_tokens"),
        "completion_tokens_details": counted.get("output_tokens_details"),
        "total_tokens": counted.get("total_tokens"),
    }


def _completion(answer: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": answer.get("id"),
        "model": answer.get("model"),
        "choices": [choice],
        "usage": usage_as_chat(answer.get("usage")),
    }


def _refused_by_policy(answer: Mapping[str, Any], error: Any) -> dict[str, Any]:
    code, words = _code_and_words(error)
    if code not in _POLICIES:
        raise FailedError(code, words, kind=answer.get("error_type"))
    message = {"content": "", "refusal": words}
    return _completion(answer, {"message": message, "finish_reason": "content_filter"})


def _is_answer(item: Mapping[str, Any]) -> bool:
    return (
        item.get("type") == "message"
        and item.get("role", "assistant") == "assistant"
        and item.get("phase") != "commentary"
    )


def _parts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the texts and refusals of a message."""
    content = message.get("content")
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise ValueError("the content of a message is not a list of parts")
    for part in content:
        name = {"output_text": "text", "refusal": "refusal"}.get(str(part.get("type")))
        if name and not isinstance(part.get(name), str):
            raise ValueError(f"the {name} of a message is not a text")
        if name:
            yield {name: part[name], "logprobs": part.get("logprobs")}


def _tokens(texts: list[list[dict[str, Any]]]) -> list[Any] | None:
    """Return the tokens of all parts; None unless each part with text has tokens."""
    listed: list[Any] = []
    for index, parts in enumerate(texts):
        if index:
            listed.append({"token": "\n", "logprob": 0.0})
        for part in parts:
            tokens = part["logprobs"]
            if part["text"] and not tokens:
                return None
            if tokens and not isinstance(tokens, list):
                raise ValueError("the log-probabilities of a text are not a list")
            listed += tokens or ()
    return listed or None


def _thoughts(output: list[Any]) -> Iterator[str]:
    """Return what the model thought, or a summary of it."""
    for item in output:
        if item.get("type") != "reasoning":
            continue
        listed = item.get("content") or item.get("summary")
        for part in listed if isinstance(listed, list) else ():
            text = _mapping(part).get("text")
            if isinstance(text, str):
                yield text


def _first(counted: Mapping[str, Any], *names: str) -> Any:
    return next((counted[name] for name in names if name in counted), None)


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
