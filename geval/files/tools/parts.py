"""Read a tool's record part by part: tracks which parts were read, and errors name their place.
Pure.

A path is written as `results[2].response.output`, with numbers from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from geval.files.fields import Place, kind
from geval.files.unused import holds_something

Path = tuple[str | int, ...]
# Deeper parts are listed under the part that contains them.
DEEPEST_LISTED = 7


@dataclass
class Reading:
    """A record, the collection of its errors, and the parts that were read."""

    record: Mapping[str, Any]
    place: Place
    rows_of: Counter[tuple[int, str]] = field(default_factory=Counter)
    read: set[Path] = field(default_factory=set)
    entered: set[Path] = field(default_factory=set)

    def number_of(self, *names: Any) -> int:
        """Return the number of this record among those of its file with these names, from 1."""
        key = (hash(repr(names)), self.place.file)
        self.rows_of[key] += 1
        return self.rows_of[key]

    @property
    def root(self) -> Part:
        return Part(self, (), self.record)

    def unread(self) -> set[str]:
        """Return the non-empty parts that were not read; items of a list share a name."""
        return set(self._unread((), self.record))

    def _unread(self, path: Path, value: Any) -> Iterator[str]:
        if path in self.read or not holds_something(value):
            return
        inner: Iterator[tuple[str | int, Any]] = iter(())
        if isinstance(value, Mapping):
            inner = iter(value.items())
        elif isinstance(value, list):
            inner = iter(enumerate(value))
        if len(path) < DEEPEST_LISTED and path in self.entered:
            for name, part in inner:
                yield from self._unread((*path, name), part)
        elif path:
            yield _written(path, numbered=False)


@dataclass(frozen=True)
class Part:
    """A value in a record, which may be missing (None)."""

    reading: Reading
    path: Path
    given: Any

    @property
    def value(self) -> Any:
        """The whole value, which then counts as read."""
        self.reading.read.add(self.path)
        return self.given

    @property
    def holds(self) -> bool:
        """Whether there is a value, without reading it."""
        return holds_something(self.given)

    def __getitem__(self, name: str | int) -> Part:
        """Return a part of an object or list; a missing one has the value None."""
        self.reading.entered.add(self.path)
        value = None
        if isinstance(self.given, Mapping) and isinstance(name, str):
            value = self.given.get(name)
        elif isinstance(self.given, list) and isinstance(name, int) and name < len(self.given):
            value = self.given[name]
        return Part(self.reading, (*self.path, name), value)

    def at(self, *names: str | int) -> Part:
        part = self
        for name in names:
            part = part[name]
        return part

    def first(self, *names: str) -> Part:
        """Return the first non-empty of these parts; else the first of them."""
        return next((self[name] for name in names if self[name].holds), self[names[0]])

    def listed(self) -> Iterator[Part]:
        """Yield the parts of a list; anything else is an error."""
        if self.given is None:
            return
        if not isinstance(self.given, list):
            self.error(f"expected a list, found {kind(self.given)}")
            return
        for number in range(len(self.given)):
            yield self[number]

    def objects(self) -> Iterator[Part]:
        """Yield the objects in a list; anything else in it is an error."""
        for part in self.listed():
            if isinstance(part.given, Mapping):
                yield part
            else:
                part.error(f"expected an object, found {kind(part.given)}")

    def items(self) -> Iterator[tuple[str, Part]]:
        """Yield the fields of an object; anything else is an error."""
        if self.given is None:
            return
        if not isinstance(self.given, Mapping):
            self.error(f"expected an object, found {kind(self.given)}")
            return
        for name in self.given:
            yield str(name), self[name]

    def name(self) -> str:
        """Return a short text or whole number that names something; empty if there is none."""
        value = self.value
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.error(f"expected a name, found {kind(value)}")
            return ""
        return str(value).strip()

    def text(self) -> str | None:
        """Return a text, or None if there is nothing."""
        value = self.value
        if value is None or isinstance(value, str):
            return value
        self.error(f"expected a text, found {kind(value)}")
        return None

    def skip(self) -> None:
        """Mark this part as read, as it has nothing that a reader could miss."""
        self.reading.read.add(self.path)

    def error(self, message: str) -> None:
        self.reading.place.error(_written(self.path), message)

    @property
    def sound(self) -> bool:
        return self.reading.place.sound

    def note_unused(self, what: str) -> None:
        """List an unusable value, under a name that says why."""
        place = self.reading.place
        place.errors.unused.add(place.file, what)
        self.skip()


def _written(path: Path, *, numbered: bool = True) -> str:
    written = ""
    for name in path:
        if isinstance(name, int):
            written += f"[{name + 1}]" if numbered else "[]"
        else:
            written += f".{name}" if written else name
    return written
