"""Results as bytes that another process reads back: JSON, laid out by their types, and the bytes of
their arrays behind it, all compressed.

Dataclasses, tuples, lists, dictionaries with any keys, enumerations, moments and arrays come back
equal, NaN included. Nothing is executed in reading, unlike with pickle.
"""

import enum
import hashlib
import json
import math
import struct
import types
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

Result = TypeVar("Result")
PLAIN = (str, int, float, bool, type(None), Any)


# How long the JSON is; what follows begins at a multiple of this.
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Codec:
    """Between values of a type and JSON, with the bytes of arrays beside it; `shape` describes the
    type with all that it contains."""

    write: Callable[[Any, bytearray], Any]
    read: Callable[[Any, memoryview], Any]
    shape: str


def stored(value: object, kind: Any) -> bytes:
    """A value of a type as bytes.

    Raises:
        TypeError: the type contains one that cannot be stored.
    """
    arrays = bytearray()
    text = json.dumps(codec_of(kind).write(value, arrays), separators=(",", ":")).encode()
    return zlib.compress(b"".join((_LENGTH.pack(len(text)), _padded(text), arrays)))


def restored(content: bytes | memoryview, kind: type[Result]) -> Result:
    """The value of a type that `stored` wrote. Its arrays are read-only."""
    found = memoryview(zlib.decompress(content))
    (length,) = _LENGTH.unpack_from(found)
    text = bytes(found[_LENGTH.size : _LENGTH.size + length])
    arrays = found[_LENGTH.size + len(_padded(text)) :]
    return cast(Result, codec_of(cast(Any, kind)).read(json.loads(text), arrays))


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _LENGTH.size)


def shape_of(*kinds: Any) -> str:
    """A short text that differs when types have changed, so that what was stored before cannot be
    read."""
    return hashlib.md5(  # not for security
        "".join(codec_of(kind).shape for kind in kinds).encode(), usedforsecurity=False
    ).hexdigest()


@cache
def codec_of(kind: Any) -> Codec:
    """How values of a type are written and read."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind in PLAIN or origin is Literal:
        return Codec(_plain, lambda value, _arrays: value, str(kind))
    if origin in (Union, types.UnionType) and len(inside) == 2 and type(None) in inside:
        return _optional(next(one for one in inside if one is not type(None)))
    if origin in (tuple, list):
        return _sequence(origin, inside)
    if origin is dict:
        return _dictionary(*inside)
    if kind is np.ndarray or origin is np.ndarray:
        return Codec(_array_written, _array_read, "array")
    if kind is datetime:
        return Codec(
            lambda value, _arrays: value.isoformat(),
            lambda text, _arrays: datetime.fromisoformat(text),
            "datetime",
        )
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return Codec(
            lambda value, _arrays: value.value, lambda text, _arrays: kind(text), str([*kind])
        )
    if is_dataclass(kind):
        return _dataclass(cast(type, kind))
    raise TypeError(f"{kind} cannot be stored; add it to evaluations/reports/serving/stored.py.")


def _plain(value: Any, _arrays: bytearray) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _optional(kind: Any) -> Codec:
    inner = codec_of(kind)
    return Codec(
        lambda value, arrays: None if value is None else inner.write(value, arrays),
        lambda value, arrays: None if value is None else inner.read(value, arrays),
        f"{inner.shape}?",
    )


def _sequence(origin: type, inside: tuple[Any, ...]) -> Codec:
    if origin is list or inside[1:] == (...,):
        one = codec_of(inside[0])
        return Codec(
            lambda values, arrays: [one.write(value, arrays) for value in values],
            lambda values, arrays: origin(one.read(value, arrays) for value in values),
            f"{origin.__name__}[{one.shape}]",
        )
    each = [codec_of(kind) for kind in inside]
    return Codec(
        lambda values, arrays: [
            one.write(value, arrays) for one, value in zip(each, values, strict=True)
        ],
        lambda values, arrays: tuple(
            one.read(value, arrays) for one, value in zip(each, values, strict=True)
        ),
        f"({','.join(one.shape for one in each)})",
    )


def _dictionary(key: Any, value: Any) -> Codec:
    """As pairs: keys may be tuples, which objects of JSON cannot have."""
    keys, values = codec_of(key), codec_of(value)
    return Codec(
        lambda found, arrays: [
            [keys.write(k, arrays), values.write(v, arrays)] for k, v in found.items()
        ],
        lambda pairs, arrays: {keys.read(k, arrays): values.read(v, arrays) for k, v in pairs},
        f"{{{keys.shape}:{values.shape}}}",
    )


def _array_written(array: np.ndarray, arrays: bytearray) -> list[Any]:
    """Its type, its shape and where its bytes begin: millions of numbers are no text."""
    begin = len(arrays)
    arrays += _padded(np.ascontiguousarray(array).tobytes())
    return [array.dtype.str, list(array.shape), begin]


def _array_read(parts: list[Any], arrays: memoryview) -> np.ndarray:
    dtype, shape, begin = parts
    count = math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(arrays, dtype, count, offset=begin).reshape(shape)


def _dataclass(kind: type) -> Codec:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    each = {name: codec_of(hints[name]) for name in names}
    shape = ",".join(f"{name}:{one.shape}" for name, one in each.items())
    return Codec(
        lambda value, arrays: [
            one.write(getattr(value, name), arrays) for name, one in each.items()
        ],
        lambda parts, arrays: kind(
            **{
                name: one.read(part, arrays)
                for (name, one), part in zip(each.items(), parts, strict=True)
            }
        ),
        f"{kind.__qualname__}({shape})",
    )
