"""The stand-in's Responses API: requests and replies in the forms of the package `openai`, answered
like chat completions."""

from typing import Any

from geval.llm.responses import LEAST_TOKENS, LOGPROBS

# Fields of chat completions that the Responses API does not have.
_UNKNOWN = (
    "messages", "n", "logprobs", "max_tokens", "max_completion_tokens", "seed", "response_format",
    "reasoning_effort", "verbosity",
)  # fmt: skip


def problem_of(body: dict[str, Any]) -> str:
    """Return why a request is refused; empty if it is not."""
    for name in _UNKNOWN:
        if name in body:
            return f"Unknown parameter: '{name}'."
    most = body.get("max_output_tokens")
    if isinstance(most, int) and most < LEAST_TOKENS:
        return (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >="
            f" {LEAST_TOKENS}, but got {most} instead."
        )
    asked = body.get("input")
    if not asked or not isinstance(asked, str | list):
        return "Missing required parameter: 'input'."
    return ""


def as_chat(body: dict[str, Any]) -> dict[str, Any]:
    """Return the chat completion for a valid request."""
    asked = body["input"]
    chat = {
        "model": body.get("model"),
        "messages": [{"role": "user", "content": asked}] if isinstance(asked, str) else asked,
        "temperature": body.get("temperature"),
        "max_tokens": body.get("max_output_tokens"),
    }
    if LOGPROBS in (body.get("include") or ()):
        chat |= {"logprobs": True, "top_logprobs": body.get("top_logprobs") or 0}
    form = (body.get("text") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        chat["response_format"] = {"type": "json_schema", "json_schema": form}
    return chat


def response_of(completion: dict[str, Any]) -> dict[str, Any]:
    """Return a chat completion as a response."""
    (choice,) = completion["choices"]
    is_cut = choice["finish_reason"] == "length"
    status = "incomplete" if is_cut else "completed"
    usage = completion["usage"]
    return {
        "id": f"resp_{completion['id']}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": completion["model"],
        "output": [
            {
                "id": f"msg_{completion['id']}",
                "type": "message",
                "role": "assistant",
                "status": status,
                "content": [
                    {
                        "type": "output_text",
                        "text": choice["message"]["content"],
                        "annotations": [],
                        "logprobs": (choice["logprobs"] or {}).get("content") or [],
                    }
                ],
            }
        ],
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["total_tokens"],
        },
    }
