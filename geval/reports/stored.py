"""Serialise results for other processes: compressed MessagePack, typed by annotations.

Dataclasses, tuples, dictionaries with any keys, enumerations, times and arrays are restored as
equal, including NaN. Unlike with pickle, reading executes nothing.
"""

import enum
import hashlib
import zlib
from typing import Any, TypeVar

import msgspec
import numpy as np

Result = TypeVar("Result")


def stored(value: object) -> bytes:
    """Serialise a value.

    Raises:
        TypeError: it contains a value of a type that cannot be stored.
    """
    return zlib.compress(msgspec.msgpack.encode(value, enc_hook=_written))


def restored(content: bytes | memoryview, kind: type[Result]) -> Result:
    """Restore a value of a type from `stored`. Its arrays are read-only."""
    return msgspec.msgpack.decode(zlib.decompress(content), type=kind, dec_hook=_read)


def shape_of(*kinds: Any) -> str:
    """Return a short text that changes with the types, when older stored values can no longer be
    read."""
    described = msgspec.json.encode(msgspec.inspect.multi_type_info(kinds), enc_hook=_named)
    return hashlib.md5(described, usedforsecurity=False).hexdigest()


def _written(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value)} cannot be stored; see geval/reports/stored.py.")


def _read(_kind: type, parts: list[Any]) -> np.ndarray:
    dtype, shape, content = parts
    return np.frombuffer(content, dtype).reshape(shape)


def _named(kind: Any) -> list[str]:
    members = kind if isinstance(kind, enum.EnumType) else ()
    return [getattr(kind, "__qualname__", str(kind)), *map(repr, members)]
