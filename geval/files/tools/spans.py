"""Spans of calls to models, with OpenInference's attributes (Phoenix) or OpenTelemetry's for
generative AI.

Attributes may be nested or dotted (`llm.input_messages.0.message.role`), in an object `attributes`
or in columns `attributes.NAME`, as in tables of spans.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, is_answer

TITLE = "spans of OpenInference or OpenTelemetry GenAI"
MARKS = ("attributes",)
HOLDER = "data"
_PREFIXES = ("llm.", "gen_ai.", "openinference.")
_FLAT, _EVALUATION = "attributes.", "eval."
_FLAT_MARKS = tuple(f"{_FLAT}{mark}" for mark in (*_PREFIXES, "input.value", "output.value"))
# The attributes of a span that are read; others are listed as unused.
_USED = (
    "llm.input_messages", "llm.output_messages", "llm.model_name", "session.id",
    "openinference.span.kind", "input.value", "input.mime_type", "output.value",
    "output.mime_type", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.response.model",
    "gen_ai.request.model", "gen_ai.conversation.id", "gen_ai.operation.name",
)  # fmt: skip
_KNOWN = ("name", "context", "span_id", "spanId", "trace_id", "traceId", "span_kind", "kind", "id",
          "start_time", "end_time", "parent_id", "context.span_id", "context.trace_id")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    attributes = record.get("attributes")
    if isinstance(attributes, dict):
        return any(
            name.startswith(_PREFIXES) or name in ("llm", "gen_ai", "openinference")
            for name in attributes
        )
    return is_flat(record)


def is_flat(columns: Collection[str]) -> bool:
    """Return whether these are the columns of a table of spans."""
    return any(str(name).startswith(_FLAT_MARKS) for name in columns)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the turns of a call to a model; nothing for other spans."""
    given = record.reading.record
    flat = not isinstance(given.get("attributes"), dict)
    whole = _nested(given) if flat else {}
    attributes = _inner(whole, "attributes") if flat else _nested(given["attributes"])
    kind = _at(attributes, "openinference", "span", "kind") or whole.get("span_kind") or "LLM"
    exchanged = _messages_of(attributes)
    if not exchanged and kind == "LLM" and _at(attributes, "output", "value"):
        place = Part(record.reading, ("attributes",), attributes)
        exchanged = exchange(place.at("input", "value"), place.at("output", "value"))
    if not exchanged:
        record.note_unused("records without a text to rate")
        return
    if not is_answer(record["status_code"], "spans"):
        return
    llm, gen_ai = (_inner(attributes, name) for name in ("llm", "gen_ai"))
    models = (
        llm.get("model_name"),
        _at(gen_ai, "response", "model"),
        _at(gen_ai, "request", "model"),
    )
    session = _at(attributes, "session", "id") or _at(gen_ai, "conversation", "id")
    context = whole.get("context") if flat else given.get("context")
    ids = context if isinstance(context, dict) else given
    scores = OutputRatings()
    for name in given:
        if str(name).startswith(_EVALUATION) and str(name).endswith(".score"):
            scores.score(str(name)[len(_EVALUATION) : -6], "Phoenix evaluator", record[name])
    _note_others(record, flat=flat)
    yield {
        "doc_id": ids.get("span_id") or ids.get("spanId"),
        "system_id": next((model for model in models if isinstance(model, str)), None),
        "session_id": session,
        **exchanged,
        **scores.columns,
    }


def _messages_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the turns before a call, and its answer; empty if the span has none."""
    llm, gen_ai = (_inner(attributes, name) for name in ("llm", "gen_ai"))
    before = [_openinference(message) for message in _written(llm.get("input_messages"))]
    after = [_openinference(message) for message in _written(llm.get("output_messages"))]
    if not after:
        before = [_genai(message) for message in _written(_at(gen_ai, "input", "messages"))]
        after = [_genai(message) for message in _written(_at(gen_ai, "output", "messages"))]
    return {"messages": [*before, *after]} if after else {}


def _note_others(record: Part, *, flat: bool) -> None:
    """List the attributes that are not read."""
    reading = record.reading
    for pattern in _KNOWN:
        record[pattern].skip()
    if flat:
        for name in reading.record:
            if str(name).removeprefix(_FLAT).startswith(_USED):
                record[name].skip()
        return
    record["attributes"].skip()
    file, unused = reading.place.file, reading.place.errors.unused
    for name in {".".join(path) for path in _paths(reading.record["attributes"])}:
        if not (name.startswith(_USED) or any(used.startswith(f"{name}.") for used in _USED)):
            unused.add(file, f"attributes.{name}")


def _paths(attributes: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the names of attributes, up to three parts long."""
    for name, value in attributes.items():
        parts = tuple(str(name).split("."))
        if isinstance(value, dict) and len(parts) < 3:
            for inner in _paths(value):
                yield (*parts, *inner)[:3]
        elif value not in (None, "", [], {}):
            yield parts[:3]


def _openinference(message: Any) -> dict[str, Any]:
    message_fields = _inner(_nested(message), "message") if isinstance(message, dict) else {}
    calls = [_inner(call, "tool_call") for call in _listed(message_fields.get("tool_calls"))]
    parts = [_inner(part, "message_content") for part in _listed(message_fields.get("contents"))]
    fields = {
        "role": message_fields.get("role"),
        "content": message_fields.get("content") or parts,
        "tool_call_id": message_fields.get("tool_call_id"),
        "tool_calls": [call for call in calls if _inner(call, "function").get("name")],
    }
    return {name: value for name, value in fields.items() if value}


def _genai(message: Any) -> dict[str, Any]:
    """Return a message with typed parts, the convention since 1.37."""
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
        level = whole
        *outer, last = str(name).split(".")
        for part in outer:
            inner = level.setdefault(part, {})
            if not isinstance(inner, dict):
                break
            level = inner
        else:
            level[last] = value
    return whole


def _inner(value: Any, name: str) -> dict[str, Any]:
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _listed(value: Any) -> list[Any]:
    """Return a list, or an object with numbers as names, in their order."""
    if isinstance(value, dict) and all(name.isdecimal() for name in value):
        return [value[name] for name in sorted(value, key=int)]
    return value if isinstance(value, list) else []


def _written(value: Any) -> list[Any]:
    """Return the items of a list, which may be written as JSON within a text."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    return _listed(value)
