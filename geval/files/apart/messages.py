"""Messages between the site and a reading process: pickled data.

The limits of the process prevent a file from using up the machine's memory and time. They are no
sandbox: both processes run as the same user. Pickles are faster than JSON for millions of rows;
reading one makes data only and calls nothing else.
"""

import io
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from pathlib import Path, PosixPath
from typing import Any

from geval.files.limits import FileLimits
from geval.files.rows import FileError, Row

_PLAIN = {("builtins", "frozenset"), ("builtins", "set"), ("collections", "Counter")}


@dataclass(frozen=True)
class ApartJob:
    """A request to send what `read` yields about the file at `path`. `seconds` is processor
    time."""

    path: Path
    limits: FileLimits
    seconds: int
    read: Callable[[], Iterator[Any]]


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


def packed_message(message: Any) -> bytes:
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked_message(content: bytes) -> Any:
    """Return a message of a reading process, which may be under the control of a file."""
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
