"""Spans of calls to models, as JSON lines: by OpenInference's attributes (Phoenix), or by
OpenTelemetry's for generative AI.

Attributes may be nested or dotted (`llm.input_messages.0.message.role`).
"""

from collections.abc import Mapping
from typing import Any

import orjson

TITLE = "spans of OpenInference or OpenTelemetry GenAI"
_MARKS = ("llm.", "gen_ai.", "openinference.")


def knows(record: Mapping[str, Any]) -> bool:
    attributes = record.get("attributes")
    return isinstance(attributes, dict) and any(
        name.startswith(_MARKS) or name in ("llm", "gen_ai", "openinference") for name in attributes
    )


def read(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The turns of a call to a model; None for spans of other work."""
    attributes = _nested(record["attributes"])
    llm, gen_ai = (_inner(attributes, name) for name in ("llm", "gen_ai"))
    before = [_openinference(one) for one in _listed(llm.get("input_messages"))]
    after = [_openinference(one) for one in _listed(llm.get("output_messages"))]
    if not after:
        before = [_genai(one) for one in _written(_at(gen_ai, "input", "messages"))]
        after = [_genai(one) for one in _written(_at(gen_ai, "output", "messages"))]
    if not after:
        return None
    models = (
        llm.get("model_name"),
        _at(gen_ai, "response", "model"),
        _at(gen_ai, "request", "model"),
    )
    session = _at(attributes, "session", "id") or _at(gen_ai, "conversation", "id")
    context = record.get("context")
    ids = context if isinstance(context, dict) else record
    found = {
        "doc_id": ids.get("span_id") or ids.get("spanId"),
        "system_id": next((model for model in models if isinstance(model, str)), None),
        "session_id": session,
        "messages": [*before, *after],
    }
    return {name: value for name, value in found.items() if value}


def _openinference(message: Any) -> dict[str, Any]:
    said = _inner(message, "message") if isinstance(message, dict) else {}
    calls = [_inner(call, "tool_call") for call in _listed(said.get("tool_calls"))]
    parts = [_inner(part, "message_content") for part in _listed(said.get("contents"))]
    content = said.get("content") or "\n".join(str(part.get("text", "")) for part in parts)
    found = {
        "role": said.get("role"),
        "content": content,
        "tool_call_id": said.get("tool_call_id"),
        "tool_calls": [call for call in calls if _inner(call, "function").get("name")],
    }
    return {name: value for name, value in found.items() if value}


def _genai(message: Any) -> dict[str, Any]:
    """A message in parts of a type each, as the conventions have it from 1.37 on."""
    if not isinstance(message, dict):
        return {}
    parts = [part for part in _listed(message.get("parts")) if isinstance(part, dict)]
    content: list[Any] = []
    for part in parts:
        match part.get("type"):
            case "text":
                content.append({"type": "text", "text": part.get("content")})
            case "tool_call":
                content.append({**part, "type": "tool_use", "input": part.get("arguments")})
            case "tool_call_response":
                result = part.get("response", part.get("result"))
                text = result if isinstance(result, str) else orjson.dumps(result).decode()
                content.append(
                    {"type": "tool_result", "tool_use_id": part.get("id"), "content": text}
                )
            case _:
                content.append(part)
    return {"role": message.get("role"), "content": content or message.get("content")}


def _nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as nested objects."""
    whole: dict[str, Any] = {}
    for name, value in attributes.items():
        at = whole
        *outer, last = name.split(".")
        for part in outer:
            inner = at.setdefault(part, {})
            if not isinstance(inner, dict):
                break
            at = inner
        else:
            at[last] = value
    return whole


def _inner(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _listed(value: Any) -> list[Any]:
    """A list, or an object with numbers as names, in their order."""
    if isinstance(value, dict) and all(name.isdecimal() for name in value):
        return [value[name] for name in sorted(value, key=int)]
    return value if isinstance(value, list) else []


def _written(value: Any) -> list[Any]:
    """A list that may be written as JSON within a text."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    return value if isinstance(value, list) else []
