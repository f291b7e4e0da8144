"""Read turns from the usual forms of chat logs: our own form, OpenAI's and Anthropic's messages,
and ShareGPT's. Pure.

Tool results, which are separate messages in those logs, are stored with their calls. Turns keep the
numbers of their messages in the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from geval.files.fields import METADATA_LIMIT, Place, kind
from geval.files.unused import peek
from geval.texts.turns import ASSISTANT, TOOL, USER, ToolCall, Turn

# Fields that may contain the turns; the first that is a list counts.
NAMES = ("turns", "messages", "conversation", "conversations")
ROLE_LIMIT = 60
HIGHEST_NUMBER = 10**9
# Names of the three roles in ShareGPT and other logs.
_ROLES = {
    "human": USER,
    "gpt": ASSISTANT,
    "chatgpt": ASSISTANT,
    "bot": ASSISTANT,
    "ai": ASSISTANT,
    "model": ASSISTANT,
    "function": TOOL,
    "observation": TOOL,
    "tool_response": TOOL,
}
# What stands for a part of a message that cannot be kept.
NO_TEXT = "[{} that is not a text]"
_LINKS = ("http://", "https://")
# Pictures and sound within a text: as data, or as Langfuse refers to what it stored apart.
_MEDIA = re.compile(
    r"data:(?:image|audio|video)/[^,\s]{1,80};base64,[\w+/=-]*|@@@langfuseMedia:[^@]{1,300}@@@"
)


def turns_column(record: Mapping[str, Any]) -> str:
    """Return the field with a record's turns; empty if it is not a conversation."""
    columns = (name for name in NAMES if _is_turns(peek(record, name)))
    return next(columns, "")


def with_media_marked(text: str) -> str:
    """Return a text with a mark for each picture or sound that is written into it."""
    may_hold_some = "base64," in text or "@@@" in text
    return _MEDIA.sub(NO_TEXT.format("media"), text) if may_hold_some else text


def _is_turns(value: Any) -> bool:
    return isinstance(value, list) and (not value or isinstance(value[0], Mapping))


@dataclass
class _Open:
    """A turn that is being read: results of its tools may still follow."""

    turn: Turn
    calls: list[ToolCall] = field(default_factory=list)

    def closed(self) -> Turn:
        return Turn(**vars(self.turn) | {"calls": tuple(self.calls)})


def read_turns(value: Any, column: str, place: Place) -> tuple[Turn, ...]:
    """Read the turns in a field; errors are added to the place, with the turn's number."""
    if not isinstance(value, list):
        place.error(column, f"expected a list of turns, found {kind(value)}")
        return ()
    turns: list[_Open] = []
    number = 0
    for position, message in enumerate(value, start=1):
        where = f"{column}[{position}]"
        if not isinstance(message, Mapping):
            place.error(where, f"expected an object with role and text, found {kind(message)}")
            continue
        number = _number(message, where, place, before=number)
        _read_message(message, where, place, turns, number)
    return tuple(turn.closed() for turn in turns)


def _number(message: Mapping[str, Any], where: str, place: Place, *, before: int) -> int:
    """Return the number of a message: a stated one, as in exports, or one more than the last."""
    number = message.get("number")
    if number is None:
        return before + 1
    if type(number) is not int or not max(before, 1) <= number <= HIGHEST_NUMBER:
        least = max(before, 1)
        place.error(
            f"{where}.number",
            f"expected a whole number from {least} up, found {str(number)[:40]!r}; numbers of turns"
            " must not fall",
        )
        return before + 1
    return int(number)


def _read_message(
    message: Mapping[str, Any], where: str, place: Place, open_turns: list[_Open], number: int
) -> None:
    role = message.get("role", message.get("from"))
    if not isinstance(role, str) or not role.strip():
        stated = "nothing" if role in (None, "") else kind(role)
        place.error(
            f"{where}.role", f"expected who speaks, such as user or assistant, found {stated}"
        )
        return
    role = place.limited(role.strip().lower(), ROLE_LIMIT, f"{where}.role")
    role = _ROLES.get(role, role)
    parts = _Parts(place, where)
    parts.read(next((message[n] for n in ("text", "content", "value") if n in message), None))
    if isinstance(sound := message.get("audio"), Mapping):
        parts.read([sound.get("transcript"), {"type": "audio"}])
    if message.get("refusal"):
        parts.read(message["refusal"])
    given = message.get("tool_calls")
    if given is not None and not isinstance(given, list):
        place.error(f"{where}.tool_calls", f"expected a list, found {kind(given)}")
        given = []
    calls = [*parts.calls, *(parts.call(entry) for entry in given or ())]
    if isinstance(old := message.get("function_call"), Mapping):
        calls.append(parts.call(old))
    text = "\n".join(parts.texts) or ("" if calls else parts.whole)
    for call_id, result in parts.results:
        if not _answer(open_turns, call_id, result):
            open_turns.append(_Open(Turn(TOOL, result, number=number)))
    if parts.results and not text and not calls:
        return
    if role == TOOL and _answer(open_turns, str(message.get("tool_call_id") or ""), parts.whole):
        return
    attachments = message.get("attachments") or []
    if not isinstance(attachments, list) or not all(isinstance(a, str) for a in attachments):
        place.error(f"{where}.attachments", "expected a list of links")
        attachments = []
    turn = Turn(
        role,
        text,
        name=_short(message.get("name"), f"{where}.name", place),
        time=_short(message.get("time"), f"{where}.time", place),
        attachments=tuple(place.clean(a, where) for a in (*attachments, *parts.attachments)),
        number=number,
    )
    open_turns.append(_Open(turn, [call for call in calls if call.name]))


def _answer(open_turns: list[_Open], call_id: str, result: str) -> bool:
    """Store a result with its call: the call with its id, or without ids the next call that has no
    result."""
    for turn in reversed(open_turns):
        for index, call in enumerate(turn.calls):
            waits = call.result is None
            if waits and (call.id == call_id if call_id else True):
                turn.calls[index] = ToolCall(call.name, call.arguments, result, call.id)
                return True
        if not call_id and turn.turn.role != TOOL:
            return False
    return False


@dataclass
class _Parts:
    """The content of a message, which may be a text or a list of parts."""

    place: Place
    where: str
    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """The text, with what stands for all that is none."""
        return "\n".join((*self.texts, *self.attachments))

    def read(self, content: Any) -> None:
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                self.texts.append(self.place.clean(with_media_marked(part), self.where))
            elif isinstance(part, Mapping):
                self._part(part)
            elif part is not None:
                self.place.error(self.where, f"expected a text, found {kind(part)}")

    def _part(self, part: Mapping[str, Any]) -> None:
        kinds = str(part.get("type", ""))
        if isinstance(part.get("text"), str):
            self.read([part["text"]])
        elif kinds == "tool_use":
            self.calls.append(self.call(part))
        elif kinds == "tool_result":
            inner = _Parts(self.place, self.where)
            inner.read(part.get("content"))
            self.results.append((str(part.get("tool_use_id") or ""), inner.whole))
        else:
            self.attachments.append(_link(part) or NO_TEXT.format(kinds or "a part"))

    def call(self, given: Any) -> ToolCall:
        """Read a call in our form, OpenAI's or Anthropic's."""
        if not isinstance(given, Mapping):
            self.place.error(f"{self.where}.tool_calls", f"expected objects, found {kind(given)}")
            return ToolCall("")
        inner = given.get("function")
        call = inner if isinstance(inner, Mapping) else given
        name = call.get("name")
        if not isinstance(name, str) or not name.strip():
            self.place.error(f"{self.where}.tool_calls", "a call does not say which tool (name)")
            return ToolCall("")
        arguments = next((call[n] for n in ("arguments", "input", "args") if n in call), "")
        result = given.get("result")
        return ToolCall(
            self.place.limited(name.strip(), 200, f"{self.where}.tool_calls"),
            self._written(arguments),
            None if result is None else self._written(result),
            str(given.get("id") or "")[:200],
        )

    def _written(self, value: Any) -> str:
        """Return a text unchanged, anything else as JSON."""
        if value is None:
            return ""
        text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
        return self.place.clean(text, f"{self.where}.tool_calls")


def _link(part: Mapping[str, Any]) -> str:
    """Return the link of an attached image or file; embedded contents are not kept."""
    for value in _strings(part):
        if value.startswith(_LINKS):
            return value
    return ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)


def _short(value: Any, column: str, place: Place) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        place.error(column, f"expected a short text, found {kind(value)}")
        return ""
    return place.limited(str(value), METADATA_LIMIT, column)
