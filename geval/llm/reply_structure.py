"""Open the structure of a reply: elements, JSON, tables and marks become lines. Pure.

What is named like the rating stays, on a line of its own; all else within a structure is blanked,
so that "<analysis>Score: 2</analysis><score>4</score>" is a line "4". Every character keeps its
position.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from geval.llm.rating_names import Closeness, Names
from geval.llm.reply_words import NUMBER_WORDS, words_in

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[^\W\d][\w.:-]{0,40})(?P<attributes>(?:\s[^<>]{0,200})?)/?>"
)
_ATTRIBUTE = re.compile(
    r"\b(?P<key>name|criterion|id|value|score)\s?=\s?[\"'](?P<value>[^\"']{1,60})[\"']"
)
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
_JSON_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[{}\[\],:])"
    r"|\"(?P<double>(?:[^\"\\]|\\.|\"(?!\s{0,99}(?:[,:}\]]|$)))*)(?P<ends>\"|$)"
    r"|'(?P<single>(?:[^'\\]|\\.|'(?!\s{0,99}(?:[,:}\]]|$)))*)(?:'|$)"
    r"|(?P<bare>[^\s{}\[\],:\"']+))",
    re.S,
)
_MOST_DEPTH = 50


def blank(text: str) -> str:
    """Return as many spaces as a text has characters, with its line ends."""
    return "".join(character if character == "\n" else " " for character in text)


def _apart(text: str, start: int, end: int) -> str:
    """Blank a span but a part of it, which gets a line of its own."""
    before, inner, after = text[:start], text[start:end], text[end:]
    return f"{blank(before[:-1])}\n{inner}\n{blank(after[1:])}" if before and after else text


def opened(text: str, names: Names, *, is_cut: bool) -> str:
    """Return a reply with its structures as lines."""
    if "<" in text:
        text = _without_other_elements(_STRUCK.sub(lambda struck: blank(struck[0]), text), names)
    elif "~~" in text:
        text = _STRUCK.sub(lambda struck: blank(struck[0]), text)
    text = _MARKS.sub(_mark_alone, text)
    if "{" in text:
        text = _with_open_json(text, names, is_cut=is_cut)
    if "\\" in text:
        text = _LATEX.sub(lambda command: blank(command[0]), text)
    if "|" in text:
        text = _with_open_tables(text, names, is_cut=is_cut)
    return "\n".join(map(_checked_alone, text.split("\n"))) if _BOX.search(text) else text


def _mark_alone(mark: re.Match[str]) -> str:
    group = str(mark.lastgroup)
    if group == "result":
        return "\n" + blank(mark[0][1:])
    inner = _LATEX.sub(lambda command: blank(command[0]), mark[group])
    start = mark.start(group) - mark.start()
    end = start + len(inner)
    return _apart(mark[0][:start] + re.sub(r"[{}]", " ", inner) + mark[0][end:], start, end)


def _checked_alone(line: str) -> str:
    """Keep only the checked point of a line of boxes."""
    checked = list(_CHECKED.finditer(line))
    if len(checked) != 1:
        return blank(line) if checked or _BOX.search(line) else line
    start, end = checked[0].span("point")
    return _apart(line + "\n", start, end)[: len(line)]


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
        elif _is_open(tag, names):
            parts.append(_value_in(tag))
        else:
            parts.append(_line_of(tag[0]))
            hidden, depth = ("", 0) if tag[0].endswith("/>") else (name, 1)
    rest = text[begins:]
    parts.append(blank(rest) if hidden else rest)
    return "".join(parts)


def _is_open(tag: re.Match[str], names: Names) -> bool:
    label = next(
        (each["value"] for each in _ATTRIBUTE.finditer(tag["attributes"]) if each["key"] != "value"
         and each["key"] != "score"),
        None,
    )  # fmt: skip
    name = label or tag["name"]
    return name.casefold() in _WRAPPERS or names.of_key(name) > Closeness.NONE


def _value_in(tag: re.Match[str]) -> str:
    """Return a tag as a line with the value that its attributes hold, if they do."""
    for attribute in _ATTRIBUTE.finditer(tag["attributes"]):
        if attribute["key"] in ("value", "score"):
            offset = tag.start("attributes") - tag.start()
            return _apart(tag[0], *(offset + edge for edge in attribute.span("value")))
    return _line_of(tag[0])


def _line_of(tag: str) -> str:
    return "\n" + " " * (len(tag) - 1)


def _sign_of(tag: str, name: str) -> str:
    if name in _INLINE:
        return " " * len(tag)
    return "|" + " " * (len(tag) - 1) if name in _CELLS else _line_of(tag)


@dataclass
class _Container:
    """An open object or list of JSON: the key it is at, and what names it."""

    key: str
    is_object: bool
    label: str = ""
    next_key: str = ""
    awaits_value: bool = False


@dataclass
class _Json:
    """The values in a region of JSON-like text: for each the containers around it, its key and
    where it is."""

    end: int
    is_closed: bool = False
    values: list[tuple[tuple[_Container, ...], str, int, int]] = field(default_factory=list)


def _with_open_json(text: str, names: Names, *, is_cut: bool) -> str:
    parts: list[str] = []
    begins = 0
    while begin := _JSON_BEGINS.search(text, begins):
        region = _read_json(text, begin.start())
        inside = text[begin.start() : region.end]
        if any(key for _, key, _, _ in region.values):
            inside = _open_region(text, begin.start(), region, names, is_cut=is_cut)
        parts.append(text[begins : begin.start()] + inside)
        begins = max(region.end, begin.end())
        if begins > region.end:
            parts.append(text[region.end : begins])
    return "".join(parts) + text[begins:]


def _read_json(text: str, start: int) -> _Json:
    """Read JSON, or what is like it: single quotes, names without quotes, a comma too many; up to
    where it ends or is no such text."""
    stack: list[_Container] = []
    region = _Json(start)
    while token := _JSON_TOKEN.match(text, region.end):
        region.end = token.end()
        mark = token["mark"]
        if mark is not None:
            if not _follow(mark, stack):
                break
            if not stack:
                region.is_closed = True
                break
            continue
        group = str(token.lastgroup).replace("ends", "double")
        _add_value(region, stack, token[group], *token.span(group))
    return region


def _follow(mark: str, stack: list[_Container]) -> bool:
    """Follow a sign of JSON; return whether it may stand there."""
    if mark in "{[":
        key = stack[-1].next_key if stack else ""
        stack.append(_Container(key, mark == "{"))
        return len(stack) <= _MOST_DEPTH
    if mark in "}]":
        closed = stack.pop()
        return closed.is_object == (mark == "}")
    stack[-1].awaits_value = mark == ":"
    return True


def _add_value(region: _Json, stack: list[_Container], value: str, start: int, end: int) -> None:
    container = stack[-1]
    if container.is_object and not container.awaits_value:
        container.next_key = value
        return
    key = container.next_key if container.is_object else container.key
    if container.is_object and key.casefold() in _OBJECT_NAMES:
        container.label = value
    region.values.append((tuple(stack), key, start, end))


def _open_region(text: str, start: int, region: _Json, names: Names, *, is_cut: bool) -> str:
    """Return a region of JSON with the values that are this rating, each on its own line."""
    rated = [
        (_closeness(containers, key, names), begins, ends)
        for containers, key, begins, ends in region.values
    ]
    best = max((closeness for closeness, _, _ in rated), default=Closeness.NONE)
    least = Closeness.OVERALL if best == Closeness.OVERALL else Closeness.RATING
    if is_cut and not region.is_closed:
        least = Closeness.RATING  # a closer name may follow
    shown = list(blank(text[start : region.end]))
    for closeness, begins, ends in rated:
        if closeness >= least and begins > start:
            shown[begins - start - 1] = "\n"
            shown[begins - start : ends - start] = text[begins:ends].replace("\n", " ")
            if ends < region.end:
                shown[ends - start] = "\n"
    return "".join(shown)


def _closeness(containers: Sequence[_Container], key: str, names: Names) -> Closeness:
    """Return how closely the keys around a value name the rating; a key that does not leads
    elsewhere."""
    keys = [*(part for box in containers for part in (box.key, box.label) if part), key]
    if key.casefold() in _OBJECT_NAMES:
        return Closeness.NONE
    named = [names.of_key(each) for each in keys if each.casefold() not in _WRAPPERS]
    if not named or min(named) == Closeness.NONE:
        return Closeness.NONE
    return max(named)


_Cell = tuple[int, int]
_ROW = re.compile(r"^.*\|.*\|.*$", re.M)
_CELL = re.compile(r"[^|]+")
_HAS_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(word for word in NUMBER_WORDS if word.isascii())})\b")


def _with_open_tables(text: str, names: Names, *, is_cut: bool) -> str:
    shown = list(text)
    for rows in _tables(text):
        start, end = rows[0][0][0], rows[-1][-1][1]
        ends_reply = is_cut and "\n" not in text[end:]
        kept = _cells_of(text, rows, names, is_cut=ends_reply)
        before, after = max(0, start - 1), min(len(text), end + 1)
        shown[before:after] = blank(text[before:after])
        for begins, ends in kept:
            shown[begins:ends] = text[begins:ends]
            shown[max(begins - 1, 0)] = "\n"
            if ends < len(text):
                shown[ends] = "\n"
    return "".join(shown)


def _tables(text: str) -> Iterator[list[list[_Cell]]]:
    """Yield the tables of a text: of each row the cells."""
    rows: list[list[_Cell]] = []
    last = -1
    for match in _ROW.finditer(text):
        if rows and text[last : match.start()].strip():
            yield rows
            rows = []
        cells = [
            cell.span()
            for cell in _CELL.finditer(text, match.start(), match.end())
            if cell.start() > match.start() or cell[0].strip()
        ]
        if cells and text[cells[-1][0] : cells[-1][1]].strip() == "":
            cells.pop()
        if cells and not all(
            set(text[a:b].strip()) <= set("-:") and text[a:b].strip() for a, b in cells
        ):
            rows.append(cells)
        last = match.end()
    if rows:
        yield rows


def _cells_of(
    text: str, rows: Sequence[Sequence[_Cell]], names: Names, *, is_cut: bool
) -> list[_Cell]:
    """Return the cells that hold this rating: in the criterion's row, in its column, or the only
    one with a number."""

    def closeness(cell: _Cell) -> Closeness:
        return names.of_key(text[cell[0] : cell[1]].strip(" *_`"))

    def numbered(cells: Sequence[_Cell]) -> list[_Cell]:
        return [cell for cell in cells if _HAS_NUMBER.search(text[cell[0] : cell[1]])]

    header = rows[0] if len(rows) > 1 and not numbered(rows[0]) else []
    own = [row for row in rows[bool(header) :] if closeness(row[0]) == Closeness.CRITERION]
    if own:
        rated = [place for place, cell in enumerate(header) if place and closeness(cell)]
        return [
            cell
            for row in own
            for place, cell in enumerate(row)
            if place and (place in rated or not rated)
        ]
    columns = [place for place, cell in enumerate(header) if closeness(cell) == Closeness.CRITERION]
    if columns:
        return [row[place] for row in rows[1:] for place in columns if place < len(row)]
    cells = [cell for row in rows for cell in numbered(row)]
    is_named = any(closeness(cell) for cell in [*header, rows[-1][0]])
    labels = [row[0] for row in rows[bool(header) :] if row[0] not in cells]
    is_other = any(not closeness(cell) for cell in labels)
    return cells if len(cells) == 1 and is_named and not is_other and not is_cut else []
