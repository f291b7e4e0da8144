"""Read YAML as plain values with their lines: only the part of YAML that JSON has as well, since
more surprises than it helps. Tags do not create objects, and a word such as `yes` or `on` is a
text."""

import re
from collections.abc import Mapping
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
_USUAL_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
TOO_DEEP = f"Values are nested more than {MOST_DEPTH} levels deep."


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


def read_document(content: bytes, path: str) -> YamlDocument:
    """Read the values of a YAML file; duplicate keys are among its problems.

    Raises:
        ProjectFileError: it is not YAML, or too large or deep to be a project.
    """
    reader = _Reader()
    try:
        if len(content) > MOST_BYTES:
            raise _RefusedError(
                1, f"The file has more than {MOST_BYTES:,} bytes; split the project."
            )
        root = yaml.compose(content.decode("utf-8-sig"), Loader=_Loader)
        values = None if root is None else reader.value_of(root, ())
    except RecursionError:
        problem = Problem(1, TOO_DEEP)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        problem = Problem(line, "This is not UTF-8; save it so.")
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        message = ", ".join(filter(None, (error.context, error.problem)))
        problem = Problem(mark.line + 1 if mark else 1, f"This is not YAML: {message}.")
    except yaml.YAMLError as error:
        before = content.decode("utf-8-sig")[: getattr(error, "position", 0)]
        message = str(error).splitlines()[0]
        problem = Problem(before.count("\n") + 1, f"This is not YAML: {message}.")
    except _RefusedError as refused:
        problem = refused.problem
    else:
        return YamlDocument(path, values, reader.lines, reader.problems)
    raise ProjectFileError(path, [problem])


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


class _Loader(yaml.SafeLoader):
    """Leaves the meanings of words to `meaning`."""

    yaml_implicit_resolvers = {}


class _RefusedError(Exception):
    def __init__(self, at: yaml.Node | int, message: str) -> None:
        self.problem = Problem(at if isinstance(at, int) else _line_of(at), message)


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


class _Reader:
    """Takes plain values from YAML's nodes, within limits; notes the line of each."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.lines: dict[Place, int] = {(): 1}
        self._count = 0

    def value_of(self, node: yaml.Node, place: Place) -> Any:
        self._count += 1
        if self._count > MOST_VALUES:
            raise _RefusedError(node, f"The file has more than {MOST_VALUES:,} values.")
        if len(place) > MOST_DEPTH:
            raise _RefusedError(node, TOO_DEEP)
        if node.tag not in _USUAL_TAGS:
            raise _RefusedError(node, f"Remove the tag {node.tag[:60]}: tags are not read.")
        self.lines.setdefault(place, _line_of(node))
        if isinstance(node, yaml.ScalarNode):
            text = _text_of(node)
            return text if node.style else meaning(text)
        if isinstance(node, yaml.SequenceNode):
            return [self.value_of(each, (*place, at)) for at, each in enumerate(node.value)]
        return self._fields_of(node, place)

    def _fields_of(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, each in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _RefusedError(key, "A name must be a word or a text.")
            name = _text_of(key)
            if name in fields:
                first = self.lines[*place, name]
                message = f"{name[:80]!r} is here twice, first in line {first}; remove one."
                self.problems.append(Problem(_line_of(key), message))
                continue
            self.lines[*place, name] = _line_of(key)
            fields[name] = self.value_of(each, (*place, name))
        return fields


def _text_of(node: yaml.ScalarNode) -> str:
    """Return a text; refuse what no database stores, and no file in UTF-8 has but by an escape."""
    text = str(node.value)
    if "\0" in text or not is_text(text):
        raise _RefusedError(
            node, 'A text has a character that cannot be stored, such as "\\uD800" or "\\0".'
        )
    return text
