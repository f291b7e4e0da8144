"""Results as bytes that another process reads back: MessagePack by their types, compressed.

Dataclasses, tuples, dictionaries with any keys, enumerations, moments and arrays come back equal,
NaN included. Nothing is executed in reading, unlike with pickle.
"""

import enum
import hashlib
import zlib
from typing import Any, TypeVar

import msgspec
import numpy as np

Result = TypeVar("Result")


def stored(value: object) -> bytes:
    """A value as bytes.

    Raises:
        TypeError: it contains one of a type that cannot be stored.
    """
    return zlib.compress(msgspec.msgpack.encode(value, enc_hook=_written))


def restored(content: bytes | memoryview, kind: type[Result]) -> Result:
    """The value of a type that `stored` wrote. Its arrays are read-only."""
    return msgspec.msgpack.decode(zlib.decompress(content), type=kind, dec_hook=_read)


def shape_of(*kinds: Any) -> str:
    """A short text that differs when types have changed, so that what was stored before cannot be
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
