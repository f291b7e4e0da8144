"""Conversations as messages, for protocols whose input may be a list of them: OpenAI's Decisions
API, whose forms are those of the Responses API. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from geval.llm.delimiting import NOTE
from geval.llm.item_texts import Texts
from geval.llm.prompts import Placed, places_in
from geval.texts.turns import ASSISTANT, SYSTEM, USER, Turn, Window

# Fields that can be sent as messages; others show texts next to the conversation.
_OF_CONVERSATIONS = frozenset({"conversation", "turn", "output", "source", "calls"})
_ROLES = frozenset({USER, ASSISTANT, SYSTEM})
_TAG = re.compile(r"</?[a-z_]+>")
# The form of tool names in OpenAI's protocols.
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ALL = Window(last=1_000_000, longest=1_000_000_000)


@dataclass(frozen=True)
class Messages:
    """A conversation as messages and tool calls, and a description of what is judged."""

    listed: tuple[Mapping[str, Any], ...]
    judged: str


def messages_of(inputs: str, texts: Texts) -> Messages | None:
    """Return what a template shows of a conversation, as messages.

    None where it is not a conversation, or messages could not show the same: another text next to
    the conversation, text in the template other than headings, a role or tool name that the
    protocol does not allow, an output that a study changed.

    Args:
        inputs: the part of a template that shows the texts.
    """
    places = {place.shows: place for place in places_in(inputs)}
    if not texts.is_conversation or texts.rival or texts.as_read:
        return None
    if not set(places) <= _OF_CONVERSATIONS or not _has_only_headings(inputs):
        return None
    turns = [*_before(places, texts), *_rated(places, texts)]
    if not all(_can_be_sent(turn) for turn in turns):
        return None
    before = places.get("conversation")
    note = before.window.note(texts.conversation) if before else ""
    left_out = [{"role": "developer", "content": note}] if note else []
    return Messages((*left_out, *_messages(turns)), _judged(texts))


def _has_only_headings(inputs: str) -> bool:
    """Return whether the template has only headings around the texts."""
    rest = inputs.replace(NOTE, "")
    for place in reversed(places_in(rest)):
        rest = rest[: place.start] + rest[place.end :]
    lines = (line.strip() for line in _TAG.sub("", rest).splitlines())
    return all(not line or line.endswith(":") for line in lines)


def _before(places: Mapping[str, Placed], texts: Texts) -> list[Turn]:
    """Return the turns before the rated one, as far as the template shows them."""
    if texts.is_session:
        return []
    place = places.get("conversation")
    if place:
        return place.window.seen(texts.history)
    return [*texts.history] if "source" in places else []


def _rated(places: Mapping[str, Placed], texts: Texts) -> list[Turn]:
    place = places.get("conversation" if texts.is_session else "turn")
    if texts.is_session:
        return (place.window if place else _ALL).seen(texts.turns)
    window = place.window if place else _ALL
    return [window.of_turn(turn) for turn in texts.said]


def _can_be_sent(turn: Turn) -> bool:
    return (
        turn.role in _ROLES
        and bool(turn.text or turn.calls)
        and all(_TOOL_NAME.fullmatch(call.name) for call in turn.calls)
    )


def _messages(turns: Iterable[Turn]) -> Iterator[dict[str, Any]]:
    """Convert turns to OpenAI's form; tool calls are numbered, as each result names its call."""
    number = 0
    for turn in turns:
        if turn.text:
            text = f"{turn.name}: {turn.text}" if turn.name else turn.text
            yield {"role": turn.role, "content": text}
        for call in turn.calls:
            number += 1
            named = {"call_id": f"call_{number}"}
            yield {"type": "function_call", **named, "name": call.name, "arguments": call.arguments}
            if call.result is not None:
                yield {"type": "function_call_output", **named, "output": call.result}


def _judged(texts: Texts) -> str:
    if texts.is_session:
        return "What is judged is the whole conversation."
    count = len(texts.said)
    turns = "the last turn" if count == 1 else f"the last {count} turns"
    return f"What is judged is {turns} of the conversation, with the calls of tools in it."
