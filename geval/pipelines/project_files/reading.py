"""Read YAML as plain values with their lines: only the part of YAML that JSON has as well, since
more surprises than it helps. Tags do not create objects, and a word such as `yes` or `on` is a
text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from geval.files.rows import is_text

# Such files are written by hand; larger or deeper ones would only cost time and memory.
MOST_BYTES = 2**20
MOST_DEPTH = 20
# The most values in a file, counting an alias's values each time.
MOST_VALUES = 50_000
Place = tuple[str | int, ...]
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?(\.[0-9]{1,17}|[0-9]{1,17}(\.[0-9]{0,17})?)([eE][-+]?[0-9]{1,3})?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")


@dataclass(frozen=True, order=True)
class Problem:
    """An error in a line of a file, and what to do."""

    line: int
    message: str


class ProjectFileError(ValueError):
    """A file cannot be used; has all its problems, by line."""

    def __init__(self, path: str, problems: list[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(f"{path}:{each.line}: {each.message}" for each in self.problems))


@dataclass(frozen=True)
class YamlDocument:
    """A file's values, and the line of each by its place, such as ("judges", "mini", "samples")."""

    path: str
    values: Any
    lines: Mapping[Place, int]
    problems: list[Problem] = field(default_factory=list)

    def line_of(self, place: Place) -> int:
        """Return the line of a value; for a missing value that of the nearest enclosing one."""
        return next(
            self.lines[place[:length]]
            for length in range(len(place), -1, -1)
            if place[:length] in self.lines
        )


@dataclass
class _Node:
    line: int
    value: Any
    size: int = 1


def read_document(content: bytes, path: str) -> YamlDocument:
    """Read the values of a YAML file; duplicate keys are among its problems.

    Raises:
        ProjectFileError: it is not YAML, or too large or deep to be a project.
    """
    if len(content) > MOST_BYTES:
        raise ProjectFileError(
            path, [Problem(1, f"The file has more than {MOST_BYTES:,} bytes; split the project.")]
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ProjectFileError(path, [Problem(line, "This is not UTF-8; save it so.")]) from None
    reader = _Reader()
    try:
        node = reader.read(text)
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        message = ", ".join(filter(None, (error.context, error.problem)))
        raise ProjectFileError(
            path, [Problem(mark.line + 1 if mark else 1, f"This is not YAML: {message}.")]
        ) from None
    except yaml.YAMLError as error:
        line = text[: getattr(error, "position", 0)].count("\n") + 1
        message = str(error).splitlines()[0]
        raise ProjectFileError(path, [Problem(line, f"This is not YAML: {message}.")]) from None
    except _RefusedError as refused:
        raise ProjectFileError(path, [refused.problem]) from None
    lines: dict[Place, int] = {(): 1}
    return YamlDocument(path, _unwrapped(node, (), lines), lines, reader.problems)


def meaning(plain: str) -> str | int | float | bool | None:
    """Return the value of an unquoted word: a text, unless JSON has it as something else."""
    if plain in _WORDS:
        return _WORDS[plain]
    if _WHOLE.fullmatch(plain):
        return int(plain)
    if _NUMBER.fullmatch(plain) and not _LEADING_ZERO.match(plain):
        number = float(plain)
        return number if abs(number) < float("inf") else plain
    return plain


def _line_of(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _RefusedError(Exception):
    def __init__(self, event: Any, message: str) -> None:
        self.problem = Problem(_line_of(event), message)


def _check_text(event: Any) -> None:
    """Refuse what no database stores, and no file in UTF-8 has but by an escape."""
    if "\0" in event.value or not is_text(event.value):
        raise _RefusedError(
            event, 'A text has a character that cannot be stored, such as "\\uD800" or "\\0".'
        )


class _Reader:
    """Builds values from the events of YAML's parser, with limits."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._anchors: dict[str, _Node] = {}
        self._count = 0

    def read(self, text: str) -> _Node:
        events: Iterator[Any] = yaml.parse(text, Loader=yaml.SafeLoader)
        node = _Node(1, None)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if self._count:
                    raise _RefusedError(event, "A file has one document; remove this “---”.")
                node = self._node(next(events), events, 0)
        return node

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> _Node:
        line = _line_of(event)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _RefusedError(event, f"Nothing before this is named &{event.anchor}.")
            node = self._anchors[event.anchor]
            self._take(event, node.size)
            return _Node(line, node.value, node.size)
        if depth > MOST_DEPTH:
            raise _RefusedError(event, f"Values are nested more than {MOST_DEPTH} levels deep.")
        if event.tag is not None:
            raise _RefusedError(event, f"Remove the tag {event.tag[:60]}: tags are not read.")
        self._take(event, 1)
        if isinstance(event, yaml.ScalarEvent):
            _check_text(event)
            is_plain = event.style is None
            node = _Node(line, meaning(event.value) if is_plain else event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(line, events, depth)
        else:
            node = self._mapping(line, events, depth)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _take(self, event: Any, size: int) -> None:
        self._count += size
        if self._count > MOST_VALUES:
            raise _RefusedError(event, f"The file has more than {MOST_VALUES:,} values.")

    def _sequence(self, line: int, events: Iterator[Any], depth: int) -> _Node:
        nodes: list[_Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            nodes.append(self._node(event, events, depth + 1))
        return _Node(line, nodes, 1 + sum(node.size for node in nodes))

    def _mapping(self, line: int, events: Iterator[Any], depth: int) -> _Node:
        nodes: dict[str, _Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _RefusedError(event, "A name must be a word or a text.")
            _check_text(event)
            name, at = event.value, _line_of(event)
            node = self._node(next(events), events, depth + 1)
            if name in nodes:
                first = nodes[name].line
                self.problems.append(
                    Problem(at, f"{name[:80]!r} is here twice, first in line {first}; remove one.")
                )
            else:
                nodes[name] = _Node(at, node.value, node.size)
        return _Node(line, nodes, 1 + sum(node.size for node in nodes.values()))


def _unwrapped(node: _Node, place: Place, lines: dict[Place, int]) -> Any:
    """Return the plain value of a node; record the lines of everything in it."""
    if place:
        lines[place] = node.line
    if isinstance(node.value, list):
        return [_unwrapped(each, (*place, at), lines) for at, each in enumerate(node.value)]
    if isinstance(node.value, dict):
        return {name: _unwrapped(each, (*place, name), lines) for name, each in node.value.items()}
    return node.value
