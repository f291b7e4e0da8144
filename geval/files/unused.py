"""Track which fields of a file's records are not read, so that none is dropped silently. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from geval.texts.spelling import storable

# Beyond this number, names are counted together.
MOST_NAMES = 200
OTHERS = "(other columns)"
# What a file of a batch's requests is listed as: it has no rows, but results need it.
REQUESTS = "requests of a batch, which are used with its results"
NOTHING_READ = (
    "nothing was read from this file: it has no rows, or none with a text, a rating or a score;"
    " check its columns"
)


@dataclass(frozen=True)
class UnusedColumn:
    """An unused column or field of a file, and how many rows have a value in it."""

    file: str
    column: str
    rows: int

    def __str__(self) -> str:
        return f"{self.column} in {self.file} ({self.rows:,} row{'s' if self.rows != 1 else ''})"


class Unused:
    """The unused columns of files, each with its number of non-empty rows."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], int] = {}

    def add(self, file: str, column: str, rows: int = 1) -> None:
        key = (file, column)
        if key not in self.rows:
            key = (file, storable(column) or "(no name)")
        if key not in self.rows and len(self.rows) >= MOST_NAMES:
            key = (file, OTHERS)
        self.rows[key] = self.rows.get(key, 0) + rows

    def extend(self, other: Mapping[tuple[str, str], int]) -> None:
        for (file, column), rows in other.items():
            self.add(file, column, rows)

    def columns(self) -> list[UnusedColumn]:
        return [UnusedColumn(*where, rows) for where, rows in self.rows.items()]

    def drain(self) -> dict[tuple[str, str], int]:
        rows, self.rows = self.rows, {}
        return rows


def unused_in_lines(unused: Iterable[UnusedColumn]) -> Iterator[str]:
    """Return a line for each file with what of it was not used, and in how many rows."""
    of_file: dict[str, list[str]] = {}
    for each in unused:
        of_file.setdefault(each.file, []).append(f"{each.column} ({each.rows:,})")
    for file, columns in of_file.items():
        yield f"not used in {file} (rows): {', '.join(columns)}"


def is_useless(unused: Unused) -> bool:
    """Return whether a file without rows is of no use to others, as a batch's requests are."""
    return all(column != REQUESTS for _, column in unused.rows)


class WatchedRecord(Mapping[str, Any]):
    """A record that tracks which of its fields were read."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = self.record[name]
        self.read.add(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.record)

    def __len__(self) -> int:
        return len(self.record)

    def __contains__(self, name: object) -> bool:
        return name in self.record

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.record else default

    def unread(self) -> Iterator[str]:
        """Return the non-empty fields that were not read."""
        return (
            name
            for name, value in self.record.items()
            if name not in self.read and holds_something(value)
        )


def peek(record: Mapping[str, Any], name: str) -> Any:
    """Return a field's value, without marking it as read."""
    return (record.record if isinstance(record, WatchedRecord) else record).get(name)


def holds_something(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else value not in (None, [], {})
