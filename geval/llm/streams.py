"""Join the chunks of a reply that a server streams although it was asked not to. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
# Characters among which a body's first field is looked for.
_BEGINNING = 200
_END = b"[DONE]"
_ENDED_RESPONSES = ("response.completed", "response.incomplete", "response.failed")
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_TOOLS = ("tool_calls", "function_call")


def is_stream(content: bytes) -> bool:
    """Return whether a body has lines of events instead of JSON."""
    if not content[:_BEGINNING].lstrip().startswith(_FIELDS):
        return False
    return any(map(_is_data, content.splitlines()))


def data_lines(content: bytes) -> tuple[list[bytes], bool]:
    """Return the data of a stream's events, and whether it has the line that ends a stream."""
    lines = [line[5:].strip() for line in content.splitlines() if _is_data(line)]
    return [line for line in lines if line and line != _END], _END in lines


def _is_data(line: bytes) -> bool:
    return line.startswith(b"data:")


def joined(chunks: Sequence[dict[str, Any]], *, is_ended: bool) -> dict[str, Any]:
    """Return the chat completion, or the response, that a stream's chunks make up.

    Raises:
        ValueError: the stream broke off, or a part of it has another form.
    """
    ended = [chunk for chunk in chunks if chunk.get("type") in _ENDED_RESPONSES]
    if ended:
        return dict(ended[-1]["response"])
    whole: dict[str, Any] = {}
    parts: dict[int, list[Mapping[str, Any]]] = {}
    for chunk in chunks:
        whole |= {name: value for name, value in chunk.items() if value is not None}
        for choice in chunk.get("choices") or ():
            parts.setdefault(choice.get("index") or 0, []).append(choice)
    return whole | {"choices": [_choice(parts[index], is_ended) for index in sorted(parts)]}


def _choice(parts: Sequence[Mapping[str, Any]], is_ended: bool) -> dict[str, Any]:
    deltas = [part.get("delta") or {} for part in parts]
    finish = [part["finish_reason"] for part in parts if part.get("finish_reason")]
    if not finish and not is_ended:
        raise ValueError("the stream broke off before the reply ended")
    tokens = [
        token for part in parts for token in (part.get("logprobs") or {}).get("content") or ()
    ]
    message: dict[str, Any] = {
        name: "".join(delta.get(name) or "" for delta in deltas) for name in _TEXTS
    }
    message |= {name: delta[name] for delta in deltas for name in _TOOLS if delta.get(name)}
    return {
        "message": message,
        "finish_reason": finish[-1] if finish else "stop",
        "logprobs": {"content": tokens} if tokens else None,
    }
