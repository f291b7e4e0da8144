"""Messages between the site and a reading process: pickled data, each preceded by its length.

The limits of the process prevent a file from using up the machine's memory and time. They are no
sandbox: both processes run as the same user. Pickles are faster than JSON for millions of rows;
reading one makes data only and calls nothing else.
"""

import io
import pickle
import struct
from dataclasses import dataclass, is_dataclass
from enum import Enum
from pathlib import PosixPath
from typing import IO, Any

from geval.files.limits import FileLimits
from geval.files.rater_names import KnownNames
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults, FileError, Row

LENGTH = struct.Struct(">Q")
_PLAIN = {("builtins", "frozenset"), ("builtins", "set"), ("collections", "Counter")}


@dataclass(frozen=True)
class ApartJob:
    """A request to read a file: its rows, or `by_column` a plain table; without `defaults` its
    preview, using the project's names (`names`); its records at some `lines`; its `column_names`;
    or the records of `members` of a zip. `seconds` is processor time."""

    file: InputFile
    limits: FileLimits
    seconds: int
    defaults: FileDefaults | None = None
    names: KnownNames | None = None
    lines: frozenset[int] | None = None
    members: tuple[str, ...] | None = None
    column_names: bool = False
    by_column: bool = False


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
class Refused:
    """A file cannot be read; `why` says why."""

    why: str


def packed_message(message: Any) -> bytes:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(content)) + content


def unpacked_message(content: bytes | memoryview) -> Any:
    return _DataUnpickler(io.BytesIO(content)).load()


class _DataUnpickler(pickle.Unpickler):
    """Builds dataclasses and enumerations of this library, paths and sets; refuses all else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if "." not in name and module.startswith(("geval.", "pathlib")):
            kind = super().find_class(module, name)
            is_class = isinstance(kind, type)
            if kind is PosixPath or (is_class and (is_dataclass(kind) or issubclass(kind, Enum))):
                return kind
        raise EOFError(f"{module}.{name} is no data")  # as if it had ended


def next_message(stream: IO[bytes]) -> Any:
    """Return the next message; None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return unpacked_message(stream.read(LENGTH.unpack(head)[0]))
