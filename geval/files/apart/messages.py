"""Messages between the site and a reading process: pickled objects, each preceded by its length.

The limits of the process prevent a file from using up the machine's memory and time. They are not a
sandbox: both processes run as the same user and trust each other.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import IO, Any

from geval.files.limits import FileLimits
from geval.files.preview import Preview
from geval.files.rater_names import KnownNames
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults, FileError, Row
from geval.files.zipped_records import ZippedRecords

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True)
class ApartJob:
    """A request to read a file: its rows; without `defaults` its preview, using the project's names
    (`names`); its records at some `lines`; its first `records`; or the records of `members` of a
    zip. `seconds` is processor time."""

    file: InputFile
    defaults: FileDefaults | None
    limits: FileLimits
    seconds: int
    names: KnownNames | None = None
    lines: frozenset[int] = frozenset()
    members: tuple[str, ...] = ()
    records: int = 0


@dataclass(frozen=True)
class RowBatch:
    """Some rows, the errors up to that point, how many bytes were read for them, and unused
    columns."""

    rows: list[Row]
    errors: list[FileError]
    error_count: int
    bytes_read: int
    unused: dict[tuple[str, str], int]


@dataclass(frozen=True)
class Ended:
    """The end of a file; `why` says why it could not be read, "" if it could."""

    why: str = ""


@dataclass(frozen=True)
class FoundRecords:
    """Records of a file as texts, by line."""

    cells: dict[int, dict[str, str]]


@dataclass(frozen=True)
class RecordBatch:
    """Some records of a file, each with its line; of a table also its header."""

    header: tuple[str, ...]
    records: list[tuple[int, dict[str, Any]]]


@dataclass(frozen=True)
class Refused:
    """A file cannot be read; `why` says why."""

    why: str


Message = RowBatch | Preview | FoundRecords | RecordBatch | ZippedRecords | Refused | Ended


def packed_message(message: Any) -> bytes:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(content)) + content


def unpacked_message(content: bytes | memoryview) -> Any:
    return pickle.loads(content)  # noqa: S301 (our own process wrote it)


def next_message(stream: IO[bytes]) -> Any:
    """Return the next message; None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return unpacked_message(stream.read(LENGTH.unpack(head)[0]))
