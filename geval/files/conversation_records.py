"""Read outputs from a conversation: a reply, every turn of a role, or the session as a whole."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from geval.files.column_aliases import named
from geval.files.fields import ID_LIMIT, Fields, Place
from geval.files.messages import read_turns, turns_column
from geval.files.rows import ConversationRow, FileDefaults, OutputRow
from geval.texts.turns import ASSISTANT, USER, Turn, transcript, turns_as_json

REPLY, SESSION = "reply", "session"
SESSION_NAMES = ("session_id", "conversation_id", "thread_id")


@dataclass(frozen=True)
class NamedConversation:
    """A record's conversation with its names (document, system)."""

    turns: tuple[Turn, ...]
    system: str
    doc_id: str | None
    session: str
    source: str
    context: str
    references: tuple[str, ...]
    metadata: dict[str, str]
    rate: str
    output: str | None


def conversation_rows(
    record: Mapping[str, Any], place: Place, defaults: FileDefaults
) -> Iterator[ConversationRow | OutputRow]:
    """Yield the turns of a record, and an output for each part of it that is rated.

    `rate` chooses the parts: `reply` (the last turn of the assistant, or `output` after all turns;
    the default), `session`, one turn by its number, such as `#3`, or a role, each of whose turns
    becomes a document of its own.
    """
    conversation = _read(record, place, defaults)
    if not place.sound:
        return
    if conversation.rate == REPLY:
        rows = _reply(conversation, place)
    elif conversation.rate == SESSION:
        rows = _session(conversation, place)
    elif conversation.rate.startswith("#"):
        rows = _turn(conversation, place)
    else:
        rows = _turns_of_role(conversation, place)
    yield from rows


def _read(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> NamedConversation:
    column = turns_column(record)
    names = named(record, system=defaults.system)
    fields = Fields(names, place)
    sessions = (Fields(record, place).session(name) for name in SESSION_NAMES)
    rate = defaults.rate or record.get("rate") or REPLY
    if not isinstance(rate, str):
        place.error("rate", "expected reply, session, #3 or a role such as assistant")
        rate = REPLY
    return NamedConversation(
        turns=read_turns(record[column], column, place),
        system=fields.identifier("system_id"),
        doc_id=fields.identifier("doc_id") if "doc_id" in names else None,
        session=next(filter(None, sessions), ""),
        source=fields.text("source"),
        context=fields.text("context"),
        references=fields.texts("references"),
        metadata=Fields(record, place).metadata(),
        rate=rate.strip().lower(),
        output=fields.text("output") if "output" in names else None,
    )


def _reply(conversation: NamedConversation, place: Place) -> Iterator[ConversationRow | OutputRow]:
    """Yield the assistant's last reply, after all earlier turns."""
    if conversation.output is not None:
        history, reply = conversation.turns, Turn(ASSISTANT, conversation.output)
    else:
        roles = [turn.role for turn in conversation.turns]
        if ASSISTANT not in roles:
            place.error(
                "rate",
                f"no turn has the role assistant to be rated; the roles are {_names(conversation)}",
            )
            return
        last = len(roles) - 1 - roles[::-1].index(ASSISTANT)
        history, reply = conversation.turns[:last], conversation.turns[last]
    if history:
        yield _conversation(history, place)
    yield OutputRow(
        place.line,
        conversation.doc_id,
        conversation.system,
        conversation.source or transcript(history),
        reply.body,
        conversation.context,
        conversation.references,
        conversation.metadata,
        conversation=_digest(history) if history else "",
        turns_before=len(history),
        session=conversation.session,
        turns=_stored_turn(history, reply),
    )


def _session(
    conversation: NamedConversation, place: Place
) -> Iterator[ConversationRow | OutputRow]:
    """Yield the whole session of a system; the task is its source."""
    asked = next((turn.text for turn in conversation.turns if turn.role == USER), "")
    yield OutputRow(
        place.line,
        conversation.doc_id or conversation.session or None,
        conversation.system,
        conversation.source or asked,
        transcript(conversation.turns),
        conversation.context,
        conversation.references,
        conversation.metadata,
        turns=_stored(conversation.turns),
    )


def _turn(conversation: NamedConversation, place: Place) -> Iterator[ConversationRow | OutputRow]:
    """Yield one turn, after the turns before it; later turns are left out."""
    index = _index(conversation, place)
    if index is None:
        return
    yield _conversation(conversation.turns, place)
    turn, before = conversation.turns[index], conversation.turns[:index]
    yield OutputRow(
        place.line,
        conversation.doc_id,
        conversation.system,
        conversation.source or transcript(_answered(before, turn.role)),
        turn.body,
        conversation.context,
        conversation.references,
        conversation.metadata,
        conversation=_digest(conversation.turns),
        turns_before=index,
        session=conversation.session,
        turns=_stored_turn(before, turn),
    )


def _index(conversation: NamedConversation, place: Place) -> int | None:
    """Return the index of the turn to be rated by its number in the file; None, with an error, if
    there is none."""
    written = conversation.rate.removeprefix("#")
    number = int(written) if written.isdecimal() and len(written) < 10 else 0
    numbers = [turn.number for turn in conversation.turns]
    if number in numbers:  # of several turns in a message, the last
        return len(numbers) - 1 - numbers[::-1].index(number)
    before = [own for own in numbers if own < number]
    if 0 < number < max(numbers, default=0) and before:
        place.error(
            "rate",
            f"message {conversation.rate} is the result of a tool, which is shown with its call in"
            f" turn #{before[-1]}; rate that turn or another one",
        )
        return None
    last = f"turns are #{numbers[0]} to #{numbers[-1]}" if numbers else "there are no turns"
    place.error("rate", f"there is no turn {conversation.rate}; {last}")
    return None


def _stored_turn(before: Sequence[Turn], turn: Turn) -> str:
    """Return a rated turn in its stored form; "" for a plain reply, for which the text is
    enough."""
    if before and turn.is_plain and turn.role == ASSISTANT:
        return ""
    return _stored([replace(turn, number=0)])


def _turns_of_role(
    conversation: NamedConversation, place: Place
) -> Iterator[ConversationRow | OutputRow]:
    """Yield every turn of a role, each as a document of the session; its source is what it
    answers."""
    session = conversation.session or conversation.doc_id or ""
    rated = [
        index for index, turn in enumerate(conversation.turns) if turn.role == conversation.rate
    ]
    if not session:
        place.error("session_id", "name the session; its turns are documents NAME#1, NAME#2, …")
    if not rated:
        place.error(
            "rate",
            f"no turn has the role {conversation.rate}; the roles are {_names(conversation)}",
        )
    if (
        len(session) + len(str(max((turn.number for turn in conversation.turns), default=0)))
        >= ID_LIMIT
    ):
        place.error("session_id", "is too long for the names of its turns; shorten it")
    if not place.sound:
        return
    yield _conversation(conversation.turns, place)
    digest = _digest(conversation.turns)
    for index in rated:
        turn = conversation.turns[index]
        yield OutputRow(
            place.line,
            f"{session}#{turn.number}",
            conversation.system,
            transcript(_answered(conversation.turns[:index], conversation.rate)),
            turn.body,
            conversation.context,
            conversation.references,
            conversation.metadata,
            conversation=digest,
            turns_before=index,
            session=session,
            turns=_stored_turn(conversation.turns[:index], turn),
        )


def _answered(before: Sequence[Turn], role: str) -> Sequence[Turn]:
    """Return what a turn answers: all turns since another role began to speak."""
    others = [index for index, turn in enumerate(before) if turn.role != role]
    begin = others[-1] if others else 0
    while begin and before[begin - 1].role != role:
        begin -= 1
    return before[begin:]


def _names(conversation: NamedConversation) -> str:
    return ", ".join(sorted({turn.role for turn in conversation.turns}))


def _conversation(turns: Sequence[Turn], place: Place) -> ConversationRow:
    return ConversationRow(place.line, _digest(turns), _stored(turns))


def _stored(turns: Sequence[Turn]) -> str:
    return orjson.dumps(turns_as_json(turns)).decode()


def _digest(turns: Sequence[Turn]) -> str:
    """Digest only what was said: different turn numbers do not make a different conversation."""
    return hashlib.sha256(orjson.dumps([turn.as_json() for turn in turns])).hexdigest()
