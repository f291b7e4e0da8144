"""What both ends of a reading process say to each other: pickled objects with their length in
front.

The limits of the process keep a file from taking the machine's memory and time. They are no
sandbox: both ends are the same user, and trust each other.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings

from evaluations.corpus.preview import Preview
from evaluations.corpus.readers import InputFile
from evaluations.corpus.rows import Fault, Row, Unnamed

LENGTH = struct.Struct(">Q")
# What reading asks of the site's settings; the process apart knows no others.
SETTINGS = (
    "UNPACKED_LIMIT_BYTES",
    "FIELD_LIMIT_BYTES",
    "JSON_LIMIT_BYTES",
    "JSON_DEPTH",
    "COLUMN_LIMIT",
    "ROW_LIMIT",
    "READING_MEMORY_BYTES",
    "READING_SECONDS",
)


@dataclass(frozen=True)
class Job:
    """A file to read: its rows, or without `unnamed` its preview. `seconds` are of the
    processor."""

    file: InputFile
    unnamed: Unnamed | None
    settings: dict[str, Any]
    seconds: int


@dataclass(frozen=True)
class Part:
    """Some rows, what was wrong up to there, and how many bytes were read for them."""

    rows: list[Row]
    faults: list[Fault]
    fault_count: int
    bytes_read: int


@dataclass(frozen=True)
class Ended:
    """The file is read, or `why` says in words what kept its reader from that."""

    why: str = ""


Message = Part | Preview | Ended


def current_settings() -> dict[str, Any]:
    return {name: getattr(settings, name) for name in SETTINGS}


def packed_message(message: Any) -> bytes:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(content)) + content


def unpacked_message(content: bytes | memoryview) -> Any:
    return pickle.loads(content)  # noqa: S301 (our own process wrote it)


def next_message(stream: IO[bytes]) -> Any:
    """The next message; None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return unpacked_message(stream.read(LENGTH.unpack(head)[0]))
