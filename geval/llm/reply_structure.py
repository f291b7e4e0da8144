"""Open the structure of a reply: elements, JSON, tables and marks become lines. Pure.

What is named like the rating stays, on a line of its own; all else within a structure is blanked,
so that "<analysis>Score: 2</analysis><score>4</score>" is a line "4". Every character keeps its
position.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from geval.llm.rating_names import CRITERION, Closeness, Names, is_known, words_of
from geval.llm.replies import EchoedToken, ReplyChoice, Token
from geval.llm.reply_words import words_in
from geval.llm.thoughts import without_thoughts

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[^\W\d][\w.:-]{0,40})(?P<attributes>(?:\s[^<>]{0,200})?)/?>"
)
_LABEL = re.compile(r"\b(?:name|criterion|id)\s?=\s?[\"']([^\"']{1,60})[\"']")
_LINES = words_in("br p div li tr ul ol table tbody thead hr html body section") | {
    f"h{level}" for level in range(1, 7)
}
_CELLS = frozenset(("td", "th"))
_INLINE = words_in("b i em strong span u code font sup sub small center pre a ins mark")
_WRAPPERS = words_in(
    "root data json xml form criteria criterion metric metrics item items dimension dimensions"
    " scores ratings results evaluations"
)
# Members that name the object they are in: {"criterion": "coherence", "score": 4}.
_OBJECT_NAMES = words_in("criterion metric name dimension aspect category criteria")
# A member that is filled where what made the object failed.
_ERRORS = words_in("error exception error_message errormessage")
_NO_ERRORS = words_in("null none false 0 no n/a") | {""}
_MARKS = re.compile(
    r"\[\[(?P<double>[^\[\]\n]{1,60})\]\]"
    r"|(?P<result>\[(?:RESULT|result|Result)\][^\S\n]{0,9}:?)"
    r"|\\boxed\s?\{(?P<boxed>(?:[^{}\n]|\{[^{}\n]{0,60}\}){0,80})\}"
)
_LATEX = re.compile(r"\\[a-zA-Z]{1,10}|\\[\[\](),;!]")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|s|strike)>[^<\n]{0,200}</\1>")
_CHECKED = re.compile(
    r"(?:\((?:x|X|✓|✔)\)|\[(?:x|X|✓|✔)\]|[☑✅☒◉])[^\S\n]{0,3}(?P<point>\d{1,3}(?:[.,]\d)?)(?![\w.,])"
)
_BOX = re.compile(r"\(\s?\)|\[\s?\]|[☐○◯]")
_JSON_BEGINS = re.compile(r"[{\[]\s{0,99}(?=[{\"'}]|[A-Za-z_]\w{0,40}\s{0,9}:)")
# A quotation mark ends a string before a sign or the end of the text, but not after a backslash.
_DOUBLE_END, _SINGLE_END = (
    rf"(?:(?:(?<!\\)|(?<=[^\\]\\\\)){mark}(?=\s{{0,99}}(?:[,:}}\]]|$))|\Z)" for mark in "\"'"
)
_JSON_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[{}\[\],:])"
    rf"|\"(?P<double>.*?){_DOUBLE_END}|'(?P<single>.*?){_SINGLE_END}"
    r"|(?P<bare>[^\s{}\[\],:\"']+))",
    re.S,
)
_STRINGS = ("double", "single", "bare")
_MOST_DEPTH = 50
_ROW = re.compile(r"^.*\|.*\|.*$", re.M)
# A heading row, the line below it, and the rows of a table.
_TABLE = re.compile(r"^(?=.*\|).*\n(?=.*-)(?=.*\|)[|: \t\r-]+(?:\n(?=.*\|).*)+", re.M)
_CELLS_OF_ROW = re.compile(r"^[^\S\n]*(?P<cells>\S(?:.*\S)?)", re.M)
_CELL = re.compile(r"[^|]+")
_NUMBER_CELL = re.compile(r"[\s*_`]*\d{1,3}(?:[.,]\d{1,9})?(?:\s?/\s?\d{1,3})?[\s*_`]*")


def blank(text: str) -> str:
    """Return as many spaces as a text has characters, with its line ends."""
    return "".join(character if character == "\n" else " " for character in text)


def _blanked(match: re.Match[str]) -> str:
    return blank(match[0])


def _on_own_line(text: str, start: int, end: int) -> str:
    """Blank a span but a part of it, which gets a line of its own."""
    before, inner, after = text[:start], text[start:end], text[end:]
    return f"{blank(before[:-1])}\n{inner}\n{blank(after[1:])}" if before and after else text


def opened(text: str, names: Names, *, is_cut: bool) -> str:
    """Return a reply with its structures as lines."""
    if "<" in text or "~~" in text:
        text = _STRUCK.sub(_blanked, text)
    if "<" in text:
        text = _without_other_elements(text, names)
    text = _MARKS.sub(_mark_alone, text)
    if "{" in text:
        text = _with_open_json(text, names, is_cut=is_cut)
    if "\\" in text:
        text = _LATEX.sub(_blanked, text)
    if "|" in text:
        text = _TABLE.sub(lambda table: _open_columns(table, names), text)
        text = _ROW.sub(lambda row: _open_row(row, names), text)
    return "\n".join(map(_checked_alone, text.split("\n"))) if _BOX.search(text) else text


def _mark_alone(mark: re.Match[str]) -> str:
    group = str(mark.lastgroup)
    if group == "result":
        return "\n" + blank(mark[0][1:])
    inner = _LATEX.sub(_blanked, mark[group])
    start = mark.start(group) - mark.start()
    end = start + len(inner)
    return _on_own_line(mark[0][:start] + re.sub(r"[{}]", " ", inner) + mark[0][end:], start, end)


def _checked_alone(line: str) -> str:
    """Keep only the checked point of a line of boxes."""
    checked = list(_CHECKED.finditer(line))
    if len(checked) != 1:
        return blank(line) if checked or _BOX.search(line) else line
    start, end = checked[0].span("point")
    return _on_own_line(line + "\n", start, end)[: len(line)]


def _without_other_elements(text: str, names: Names) -> str:
    """Make elements lines, and blank the content of those that are not named like the rating."""
    parts: list[str] = []
    begins, depth, hidden = 0, 0, ""
    for tag in _TAG.finditer(text):
        content = text[begins : tag.start()]
        parts.append(blank(content) if hidden else content)
        begins = tag.end()
        name = tag["name"].casefold()
        if hidden:
            depth += 0 if name != hidden else -1 if tag["close"] else 1
            hidden = hidden if depth else ""
            parts.append(_line_of(tag[0]))
        elif tag["close"] or name in _LINES | _CELLS | _INLINE:
            parts.append(_sign_of(tag[0], name))
        elif closeness := _closeness_of_element(tag, names):
            sign = f"{CRITERION}:" if closeness == Closeness.CRITERION else "  "
            parts.append(_line_of(tag[0])[:-2] + sign)
        else:
            parts.append(_line_of(tag[0]))
            hidden, depth = ("", 0) if tag[0].endswith("/>") else (name, 1)
    rest = text[begins:]
    parts.append(blank(rest) if hidden else rest)
    return "".join(parts)


def _closeness_of_element(tag: re.Match[str], names: Names) -> Closeness:
    label = _LABEL.search(tag["attributes"])
    name = label[1] if label else tag["name"]
    return Closeness.OVERALL if name.casefold() in _WRAPPERS else names.of_key(name)


def _line_of(tag: str) -> str:
    return "\n" + " " * (len(tag) - 1)


def _sign_of(tag: str, name: str) -> str:
    if name in _INLINE:
        return " " * len(tag)
    return "|" + " " * (len(tag) - 1) if name in _CELLS else _line_of(tag)


@dataclass
class _Container:
    """An open object or list of JSON: its own key, what labels it, the key that it is at, and
    whether it states an error."""

    is_object: bool
    key: str
    label: str = ""
    member: str = ""
    failed: bool = False
    awaits_value: bool = False


# The containers around a value, its key, and where it is.
_Value = tuple[tuple[_Container, ...], str, int, int]


def _with_open_json(text: str, names: Names, *, is_cut: bool) -> str:
    parts: list[str] = []
    begins = 0
    while begin := _JSON_BEGINS.search(text, begins):
        values, end, is_closed = _read_json(text, begin.start())
        parts.append(text[begins : begin.start()])
        begins = max(end, begin.end())
        inside = text[begin.start() : begins]
        if any(key for _, key, _, _ in values):
            can_go_on = is_cut and not is_closed
            inside = _open_region(inside, begin.start(), values, names, can_go_on=can_go_on)
        parts.append(inside)
    return "".join(parts) + text[begins:]


def _read_json(text: str, start: int) -> tuple[list[_Value], int, bool]:
    """Read JSON, or what is like it: single quotes, names without quotes, a comma too many. Return
    its values, where it ends or is no such text, and whether it is closed."""
    stack: list[_Container] = []
    values: list[_Value] = []
    end = start
    while token := _JSON_TOKEN.match(text, end):
        end = token.end()
        mark = token["mark"]
        if mark in ("{", "["):
            stack.append(_Container(mark == "{", stack[-1].member if stack else ""))
            if len(stack) > _MOST_DEPTH:
                break
        elif mark in ("}", "]"):
            if stack.pop().is_object != (mark == "}") or not stack:
                return values, end, not stack
        elif mark:
            stack[-1].awaits_value = mark == ":"
        else:
            group = next(name for name in _STRINGS if token[name] is not None)
            values.extend(_value_at(stack, token[group], *token.span(group)))
    return values, end, False


def _value_at(stack: list[_Container], written: str, start: int, end: int) -> Iterator[_Value]:
    """Yield what is written as a value, unless it is the key of one."""
    container = stack[-1]
    if container.is_object and not container.awaits_value:
        container.member = written
        return
    key = container.member if container.is_object else container.key
    members = [*(inner.key for inner in stack[1:]), key]
    for box, member in zip(stack, members, strict=True):
        box.failed |= member.casefold() in _ERRORS and written.casefold() not in _NO_ERRORS
    if container.is_object and key.casefold() in _OBJECT_NAMES:
        container.label = written
    else:
        yield tuple(stack), key, start, end


def _open_region(
    inside: str, offset: int, values: Sequence[_Value], names: Names, *, can_go_on: bool
) -> str:
    """Return a region of JSON with the values that are this rating, each on its own line."""
    rated = [(_closeness(value, names), value[2] - offset, value[3] - offset) for value in values]
    best = max((closeness for closeness, _, _ in rated), default=Closeness.NONE)
    # Where a closer name may follow, one for all criteria does not count.
    least = Closeness.OVERALL if best == Closeness.OVERALL and not can_go_on else Closeness.RATING
    shown = list(blank(inside))
    for closeness, begins, ends in rated:
        if closeness >= least:
            shown[begins - 1] = "\n"
            if closeness == Closeness.CRITERION:
                shown[begins - 2 : begins] = f"{CRITERION}:"
            shown[begins:ends] = inside[begins:ends].replace("\n", " ")
            shown[ends : ends + 1] = "\n" * len(shown[ends : ends + 1])
    return "".join(shown)


def _closeness(value: _Value, names: Names) -> Closeness:
    """Return how closely the keys around a value name the rating; a key that does not leads
    elsewhere."""
    if any(box.failed for box in value[0]) and not names.of_key("error"):
        return Closeness.NONE
    keys = [value[1], *(part for box in value[0] for part in (box.key, box.label) if part)]
    named = [names.of_key(key) for key in keys if key.casefold() not in _WRAPPERS]
    return max(named) if named and all(named) else Closeness.NONE


def _open_columns(table: re.Match[str], names: Names) -> str:
    """Return a table of which the criterion heads a column as its only rating in that column."""
    head, *rows = (
        list(_CELL.finditer(table[0], *row.span("cells")))
        for row in _CELLS_OF_ROW.finditer(table[0])
    )
    closeness = [names.of_key(_label(cell)) for cell in head]
    is_listed = any(_NUMBER_CELL.fullmatch(cell[0]) for cell in head)
    if closeness.count(Closeness.CRITERION) != 1 or Closeness.RATING in closeness or is_listed:
        return table[0]
    place = closeness.index(Closeness.CRITERION)
    if not place and any(names.of_key(_label(row[0])) for row in rows if row):
        return table[0]
    # Rows such as "Maximum" and "Model B" are of something else.
    places = [
        row[place].span()
        for row in rows
        if len(row) == len(head) and _NUMBER_CELL.fullmatch(row[place][0])
        if not place or all(map(is_known, words_of(_label(row[0]))))
    ]
    shown = blank(table[0])
    if len(places) != 1:
        return shown
    start, end = places[0]
    rest = shown[end:].replace(" ", "\n", 1)
    return f"{shown[: start - 2]}{CRITERION}:{table[0][start:end]}{rest}"


def _label(cell: re.Match[str]) -> str:
    return cell[0].strip(" *_`")


def _open_row(row: re.Match[str], names: Names) -> str:
    """Return the row of a table with its only number on its own line, if the row is named like the
    rating."""
    cells = [cell for cell in _CELL.finditer(row[0]) if cell[0].strip()]
    labels = [*map(_label, cells[:2])]
    if labels and any(map(str.isalpha, labels[0])):
        del labels[1:]  # otherwise the first cell may number the rows
    closeness = max(map(names.of_key, labels), default=Closeness.NONE)
    if len(cells) > 1 and not closeness:
        return blank(row[0])
    numbers = [cell for cell in cells[1:] if _NUMBER_CELL.fullmatch(cell[0])]
    if len(numbers) != 1:
        return row[0]
    start, end = numbers[0].span()
    line = _on_own_line(row[0], start, end)
    named = closeness == Closeness.CRITERION
    return f"{line[: start - 2]}{CRITERION}:{line[start:]}" if named else line


def choices_to_json(choices: Sequence[ReplyChoice]) -> list[dict[str, Any]]:
    """Convert choices to the stored form; `choices_from_json` is the inverse."""
    return [_stored(choice) for choice in choices]


def choices_from_json(stored: Sequence[dict[str, Any]]) -> tuple[ReplyChoice, ...]:
    """Read the choices of a stored reply; thoughts that were stored within them are removed."""
    return tuple(_read(choice) for choice in stored)


def _stored(choice: ReplyChoice) -> dict[str, Any]:
    stored: dict[str, Any] = {"text": choice.text, "finish_reason": choice.finish_reason}
    texts = {"refusal": choice.refusal, "thought": choice.thought}
    stored |= {name: text for name, text in texts.items() if text}
    if choice.tokens is not None:
        stored["tokens"] = [
            [token.text, token.logprob, [*map(list, token.alternatives)]] for token in choice.tokens
        ]
    if choice.echoed is not None:
        stored["echoed"] = [[token.text, token.logprob] for token in choice.echoed]
    return stored


def _read(choice: dict[str, Any]) -> ReplyChoice:
    tokens, echoed = choice.get("tokens"), choice.get("echoed")
    return without_thoughts(
        ReplyChoice(
            choice["text"],
            choice["finish_reason"],
            refusal=choice.get("refusal", ""),
            thought=choice.get("thought", ""),
            tokens=None if tokens is None else tuple(_token(*token) for token in tokens),
            echoed=None if echoed is None else tuple(EchoedToken(*pair) for pair in echoed),
        )
    )


def _token(text: str, logprob: float, alternatives: Sequence[Sequence[Any]]) -> Token:
    return Token(text, logprob, tuple((other, value) for other, value in alternatives))
