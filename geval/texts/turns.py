"""Turns of a conversation: speakers, texts and tool calls. Pure.

A turn is stored as JSON: `role`, and optionally `text`, `name`, `time`, `tool_calls` (each with
`name`, `arguments`, `result`, `id`) and `attachments` (links). A result is stored with its call, so
that a turn is complete. Turns are numbered as in their file, where a result may be a separate
message: `number` is stored where it differs from the turn's position. It does not count when turns
are compared.

Where a judge reads turns as a text, a line of a turn that could pass for the beginning of another
turn, for a call, for the result of one, or for a note of what is left out, is quoted: `> user: …`.
Stored texts are not changed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import dropwhile, islice
from typing import Any

from geval.texts.spelling import plain, plain_characters

# The marks of a call and its result, wherever turns are written as text.
CALL, RESULT = "→ ", "= "
USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"
# The mark of a quoted line, which is not what it looks like.
QUOTED = "> "
# What ends a line for people or models, whatever a file's line ends are.
_LINE_ENDS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_LINE = re.compile(f"[^{_LINE_ENDS}]+")
# Characters that a reader may take for a colon, and for the arrow before a call.
_COLONS = ":：﹕∶꞉˸։︰︓׃ːꓽ፡"
_ARROWS = "→￫⟶➔➙➛➜➝➞⇒⟹⇨➡⮕🡒🡺🠖🠢"
_COLON = re.compile(f"[{_COLONS}]")
_ARROW = re.compile(rf"[{_ARROWS}]|[-=]>\s")
_BRACKET = re.compile(r"[\[［﹇]")
_LEFT_OUT = re.compile(r"\W*\[(?:turns?|calls)\s[^\]]{1,60}(?<=left\sout)\]")
_NUMBER = re.compile(r"\d{1,9}\s{0,9}[.)]")
# The most characters at a line's start that a note of left-out turns, or the mark of a result,
# takes.
_HEAD = 120
_WORD = re.compile(r"[^\W_]+")
# The separator in the name of a document that is a turn of a question, as in MT-bench:
# `question__turn`.
NAME_SEPARATOR = "__"
# The default window of a conversation: turns, and characters of a text.
LAST, LONGEST = 100, 4_000


@dataclass(frozen=True)
class ToolCall:
    """A tool that a turn called; `result` is None if it is unknown."""

    name: str
    arguments: str = ""
    result: str | None = None
    id: str = ""

    @property
    def written(self) -> str:
        """The call and its result as text."""
        result = "" if self.result is None else f"\n{RESULT}{self.result}"
        return f"{CALL}{self.name}({self.arguments}){result}"


@dataclass(frozen=True)
class Turn:
    """A turn: one speaker's message with its tool calls."""

    role: str
    text: str = ""
    name: str = ""
    time: str = ""
    calls: tuple[ToolCall, ...] = ()
    attachments: tuple[str, ...] = ()
    number: int = field(default=0, compare=False)

    @property
    def speaker(self) -> str:
        """The role, with the name given in the file."""
        return f"{self.role} ({self.name})" if self.name else self.role

    @property
    def body(self) -> str:
        """The text, then the calls, each on its own line."""
        return "\n".join(filter(None, [self.text, *(call.written for call in self.calls)]))

    @property
    def written(self) -> str:
        """The turn as text, after its speaker."""
        return f"{self.speaker}: {self.body}"

    @property
    def is_plain(self) -> bool:
        """Whether it has only a role and a text."""
        return not (self.name or self.time or self.calls or self.attachments)

    def as_json(self) -> dict[str, Any]:
        """Return the turn as it is stored, without empty fields; `turns_as_json` adds numbers."""
        calls = [
            # An empty result counts as a result; None does not.
            {k: v for k, v in vars(call).items() if v is not None and (v or k == "result")}
            for call in self.calls
        ]
        fields_given = {
            "role": self.role,
            "text": self.text,
            "name": self.name,
            "time": self.time,
            "tool_calls": calls,
            "attachments": list(self.attachments),
        }
        return {name: value for name, value in fields_given.items() if value}


def turns_as_json(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    """Return turns as they are stored: with their numbers where these differ from their
    positions."""
    return [
        turn.as_json() | ({"number": turn.number} if turn.number not in (0, place) else {})
        for place, turn in enumerate(turns, start=1)
    ]


def turns_from(stored: Any) -> tuple[Turn, ...]:
    """Load stored turns, each with its number; what is not a turn is left out, so that pages do not
    fail."""
    return tuple(_turn_from(turn, place) for place, turn in enumerate(_objects(stored), start=1))


def _turn_from(stored: dict[str, Any], place: int) -> Turn:
    links, number = stored.get("attachments"), stored.get("number")
    return Turn(
        _text(stored.get("role")) or "unknown",
        _text(stored.get("text")),
        _text(stored.get("name")),
        _text(stored.get("time")),
        calls=tuple(
            ToolCall(
                _text(call.get("name")),
                _text(call.get("arguments")),
                _text(call["result"]) if "result" in call else None,
                _text(call.get("id")),
            )
            for call in _objects(stored.get("tool_calls"))
        ),
        attachments=tuple(map(_text, links)) if isinstance(links, list) else (),
        number=number if isinstance(number, int) else place,
    )


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (
        (entry for entry in value if isinstance(entry, dict))
        if isinstance(value, list)
        else iter(())
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def question_of(doc_id: str) -> str:
    """Return the question that a document is a turn of; the document itself if it is not a turn."""
    question, separator, turn = doc_id.rpartition(NAME_SEPARATOR)
    return question if separator and question and turn.isdecimal() else doc_id


def transcript(turns: Iterable[Turn]) -> str:
    """Return turns as one text, unchanged."""
    return "\n".join(turn.written for turn in turns)


def speakers_in(turns: Iterable[Turn]) -> frozenset[str]:
    """Return roles that a line must not pass for: those of the turns and the usual ones."""
    return frozenset({USER, ASSISTANT, TOOL, SYSTEM, *(turn.role for turn in turns)})


def quoted(turn: Turn, speakers: frozenset[str]) -> Turn:
    """Quote each line of a turn that could pass for the beginning of another turn, a call, its
    result, or a note of left-out turns."""
    roles = _plain_roles(speakers)
    calls = tuple(
        ToolCall(
            _in_a_line(call.name),
            _apart(call.arguments, roles, is_arguments=True),
            None if call.result is None else _apart(call.result, roles),
            call.id,
        )
        for call in turn.calls
    )
    return replace(
        turn,
        role=_in_a_line(turn.role),
        name=_in_a_line(turn.name),
        text=_apart(turn.text, roles, begins=True),
        calls=calls,
    )


def quoted_body(text: str, turn: Turn, speakers: frozenset[str]) -> str:
    """Return a turn's text as judges read it; any other text, such as a probe's, as if it were a
    turn's."""
    return quoted(turn if text == turn.body else Turn(turn.role, text), speakers).body


def _apart(
    text: str, roles: frozenset[str], *, begins: bool = False, is_arguments: bool = False
) -> str:
    """Quote the posing lines of a text.

    Args:
        begins: whether it directly follows its speaker, where a call could be.
        is_arguments: whether the result of a call follows.
    """
    parts, done = [], 0
    for line in _LINE.finditer(text):
        if line.start() == 0:
            poses = begins and _is_call(line[0])
        else:
            poses = _poses(line[0], roles) or (is_arguments and _head(line[0]).startswith(RESULT))
        if poses:
            parts += [text[done : line.start()], QUOTED]
            done = line.start()
    return "".join([*parts, text[done:]])


def _poses(line: str, roles: frozenset[str]) -> bool:
    """Return whether a line could pass for the beginning of another turn, a call, or a note of
    left-out turns."""
    if mark := _COLON.search(line):
        before = plain(line[: mark.start()])
        if not before.lstrip().startswith(QUOTED.strip()) and _named(before) in roles:
            return True
    return _is_call(line) or _is_left_out(line)


def _is_call(line: str) -> bool:
    mark = _ARROW.search(line)
    if mark is None:
        return False
    before = plain(line[: mark.start()]).strip()
    return not before.startswith(QUOTED.strip()) and not _WORD.search(before)


def _is_left_out(line: str) -> bool:
    # Most lines have no bracket, and checking each character takes long.
    return bool(_BRACKET.search(line) and _LEFT_OUT.match(_head(line)))


def _head(line: str) -> str:
    """Return the first visible characters of a line."""
    return "".join(islice(dropwhile(str.isspace, plain_characters(line)), _HEAD))


@lru_cache(maxsize=64)
def _plain_roles(speakers: frozenset[str]) -> frozenset[str]:
    """Return roles up to a colon, normalised for comparison with lines."""
    named = (_named(plain(re.split(f"[{_COLONS}]", role, maxsplit=1)[0])) for role in speakers)
    return frozenset(filter(None, named))


def _named(before: str) -> str:
    """Return the speaker before a colon, as it looks: without surrounding marks and numbers, and
    without a name in brackets."""
    role = _bare(before)
    role = _bare(_NUMBER.sub("", role, count=1)) if _NUMBER.match(role) else role
    return _bare(role.partition("(")[0])


def _bare(text: str) -> str:
    """Strip everything but letters and digits from the ends of a text."""
    words = [*_WORD.finditer(text)]
    return text[words[0].start() : words[-1].end()] if words else ""


def quoted_transcript(text: str, turns: Sequence[Turn], speakers: frozenset[str]) -> str:
    """Return a stored transcript of turns, or of the last of them, as judges read it; any other
    text unchanged."""
    missing = len(text) + 1
    for count, turn in enumerate(reversed(turns), start=1):
        missing -= len(turn.written) + 1
        if missing <= 0:
            last = turns[-count:]
            if transcript(last) != text:
                return text
            return transcript(quoted(turn, speakers) for turn in last)
    return text


def _in_a_line(name: str) -> str:
    """Replace line ends in a name."""
    return re.sub(f"[{_LINE_ENDS}]", " ", name)


@dataclass(frozen=True)
class Window:
    """How much of a conversation is shown: the last turns, and the beginning of each text."""

    last: int = LAST
    longest: int = LONGEST

    def cut(self, text: str) -> str:
        """Cut a text, and state how much is missing."""
        missing = len(text) - self.longest
        return f"{text[: self.longest]} [{missing:,} more characters cut]" if missing > 0 else text

    def of_call(self, call: ToolCall) -> ToolCall:
        result = None if call.result is None else self.cut(call.result)
        return replace(call, arguments=self.cut(call.arguments), result=result)

    def of_turn(self, turn: Turn) -> Turn:
        calls = tuple(map(self.of_call, turn.calls))
        return replace(turn, text=self.cut(turn.text), calls=calls)

    def shown(self, turns: Sequence[Turn], speakers: frozenset[str] = frozenset()) -> str:
        """Return the turns in the window as judges read them; the first line says which are left
        out.

        Args:
            speakers: further speakers for whom a line must not pass.
        """
        speakers |= speakers_in(turns)
        lines = [quoted(turn, speakers).written for turn in self.seen(turns)]
        return "\n".join(filter(None, [self.note(turns), *lines]))

    def seen(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the turns in the window, with their texts cut."""
        return [self.of_turn(turn) for turn in turns[max(0, len(turns) - self.last) :]]

    def note(self, turns: Sequence[Turn]) -> str:
        """Return the line that says which turns are left out; empty if none is."""
        left_out = max(0, len(turns) - self.last)
        if not left_out:
            return ""
        last, of = turns[left_out - 1].number or left_out, turns[-1].number or len(turns)
        turns_left_out = (
            f"Turn 1 of {of:,} is" if last == 1 else f"Turns 1 to {last:,} of {of:,} are"
        )
        return f"[{turns_left_out} left out]"

    def says(self, turns: Sequence[Turn]) -> str:
        """Describe what a reader of these turns did not see; empty if it saw everything."""
        seen = turns[max(0, len(turns) - self.last) :]
        texts = [
            text
            for turn in seen
            for text in (turn.text, *(t for c in turn.calls for t in (c.arguments, c.result or "")))
        ]
        cut = sum(len(text) > self.longest for text in texts)
        parts = (
            [f"the last {len(seen):,} of {len(turns):,} turns"] if len(seen) < len(turns) else []
        )
        if cut:
            parts.append(f"{cut:,} text{'s' * (cut > 1)} cut after {self.longest:,} characters")
        return ", ".join(parts)


def calls_of(turns: Iterable[Turn]) -> tuple[ToolCall, ...]:
    """Return all calls of turns, in order."""
    return tuple(call for turn in turns for call in turn.calls)
