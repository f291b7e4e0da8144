"""Read question and answer from the forms in which tools log calls to models.

Pure. Recognised are texts, objects with a text under a usual name, OpenAI's and Anthropic's
messages and responses, LangChain's messages and generations; any of them as JSON within a text.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from geval.files.column_aliases import NAMES
from geval.files.fields import as_text, kind
from geval.files.messages import with_media_marked
from geval.files.tools.parts import Part

ASKED = NAMES["source"]
ANSWERED = (*NAMES["output"], "result", "content", "text", "output_text")
HISTORY = ("messages", "input_messages", "chat_history")
# LangChain's names of speakers.
SPEAKERS = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
Messages = list[dict[str, Any]]


def exchange(asked: Part, answered: Part) -> dict[str, Any]:
    """Columns `source` and `output`, or `messages` where there are turns or calls of tools.

    Anything else is an error at its place.
    """
    before, after = _turns(asked), _turns(answered)
    if before is None and (after is None or _is_plain(after)):
        output = _text(answered, ANSWERED) if after is None else after[0].get("content")
        return {"source": _text(asked, ASKED), "output": output}
    if before is None:
        before = [{"role": "user", "content": _text(asked, ASKED)}]
    if after is None:
        after = [{"role": "assistant", "content": _text(answered, ANSWERED)}]
    if len(after) > len(before) and after[: len(before)] == before:
        after = after[len(before) :]  # an agent's answer is the whole conversation
    return {"messages": [*before, *after]}


def _text(part: Part, names: tuple[str, ...]) -> str | None:
    """Return a text, the text under a usual name in an object, or any other value as JSON."""
    part = decoded(part)
    if isinstance(part.given, Mapping):
        inner = part.first(*names)
        texts = [name for name, value in part.given.items() if isinstance(value, str)]
        if not inner.holds and len(texts) == 1:
            inner = part[texts[0]]
        if inner.given is not None:
            return _text(inner, names)
    value = part.value
    if value is None:
        part.error("expected a text or messages, found nothing")
        return None
    if isinstance(value, bool):
        part.error(f"expected a text or messages, found {kind(value)}")
        return None
    return with_media_marked(as_text(value))


def _turns(part: Part) -> Messages | None:
    """Return the messages in a value; None if it has none."""
    part = decoded(part)
    given = part.given
    if isinstance(given, list) and given:
        if all(map(_is_message, given)):
            part.skip()
            return [_message(message) for message in given]
        return _turns(part[0]) if isinstance(given[0], list) else None
    if not isinstance(given, Mapping):
        return None
    if _is_message(given):
        part.skip()
        return [_message(given)]
    if isinstance(given.get("choices"), list):
        return _chosen(part.at("choices", 0))
    if isinstance(given.get("generations"), list):
        first = part.at("generations", 0)
        return _chosen(first[0] if isinstance(first.given, list) else first)
    if isinstance(given.get("output"), list):  # OpenAI's responses
        messages = [message for message in given["output"] if _is_message(message)]
        if messages:
            part["output"].skip()
            return [_message(message) for message in messages]
    return next((_turns(part[name]) for name in HISTORY if part[name].holds), None)


def _chosen(choice: Part) -> Messages | None:
    """Return the first of a model's answers: a message or a text."""
    if choice["message"].holds:
        choice["text"].skip()
        return _turns(choice["message"])
    text = choice["text"].text()
    return None if text is None else [{"role": "assistant", "content": text}]


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("kwargs"), Mapping) and isinstance(value.get("id"), list):
        return True
    if isinstance(value.get("role", value.get("from")), str):
        return True
    return value.get("type") in SPEAKERS and ("content" in value or "data" in value)


def _message(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in OpenAI's form; LangChain's are unwrapped."""
    if "role" in value or "from" in value:
        return dict(value)
    inner, speaker = value, value.get("type")
    if isinstance(value.get("kwargs"), Mapping) and isinstance(value.get("id"), list):
        inner = value["kwargs"]
        named = str(value["id"][-1]) if value["id"] else ""
        speaker = inner.get("type") or named.removesuffix("Chunk").removesuffix("Message").lower()
    elif isinstance(value.get("data"), Mapping):
        inner = value["data"]
    kept = ("content", "tool_calls", "tool_call_id", "name")
    fields = {name: inner[name] for name in kept if inner.get(name) not in (None, "", [])}
    return {"role": "ai" if speaker == "AIMessageChunk" else speaker, **fields}


def _is_plain(messages: Messages) -> bool:
    """Return whether messages are only a text."""
    [message] = messages if len(messages) == 1 else [{}]
    return isinstance(message.get("content"), str) and not message.get("tool_calls")


def decoded(part: Part) -> Part:
    """Return the value of JSON within a text; anything else unchanged."""
    given = part.given
    if not isinstance(given, str) or given.lstrip()[:1] not in ("{", "[", '"'):
        return part
    try:
        value = orjson.loads(given)
    except orjson.JSONDecodeError:
        return part
    part.skip()
    return Part(part.reading, part.path, value)
