"""Results as bytes that another process reads back: compressed JSON, laid out by their types.

Dataclasses, tuples, lists, dictionaries with any keys, enumerations, moments and arrays come back
equal, NaN included. Nothing is executed in reading, unlike with pickle.
"""

import base64
import enum
import hashlib
import json
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


@dataclass(frozen=True)
class Codec:
    """Between values of a type and JSON; `shape` describes the type with all that it contains."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    shape: str


def stored(value: object, kind: Any) -> bytes:
    """A value of a type as bytes.

    Raises:
        TypeError: the type contains one that cannot be stored.
    """
    return zlib.compress(json.dumps(codec_of(kind).write(value), separators=(",", ":")).encode())


def restored(content: bytes, kind: type[Result]) -> Result:
    """The value of a type that `stored` wrote."""
    return cast(Result, codec_of(cast(Any, kind)).read(json.loads(zlib.decompress(content))))


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
        return Codec(_plain, lambda value: value, str(kind))
    if origin in (Union, types.UnionType) and len(inside) == 2 and type(None) in inside:
        return _optional(next(one for one in inside if one is not type(None)))
    if origin in (tuple, list):
        return _sequence(origin, inside)
    if origin is dict:
        return _dictionary(*inside)
    if kind is np.ndarray or origin is np.ndarray:
        return Codec(_array_written, _array_read, "array")
    if kind is datetime:
        return Codec(datetime.isoformat, datetime.fromisoformat, "datetime")
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return Codec(lambda value: value.value, kind, str([*kind]))
    if is_dataclass(kind):
        return _dataclass(cast(type, kind))
    raise TypeError(f"{kind} cannot be stored; add it to evaluations/reports/stored.py.")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _optional(kind: Any) -> Codec:
    inner = codec_of(kind)
    return Codec(
        lambda value: None if value is None else inner.write(value),
        lambda value: None if value is None else inner.read(value),
        f"{inner.shape}?",
    )


def _sequence(origin: type, inside: tuple[Any, ...]) -> Codec:
    if origin is list or inside[1:] == (...,):
        one = codec_of(inside[0])
        return Codec(
            lambda values: [one.write(value) for value in values],
            lambda values: origin(one.read(value) for value in values),
            f"{origin.__name__}[{one.shape}]",
        )
    each = [codec_of(kind) for kind in inside]
    return Codec(
        lambda values: [one.write(value) for one, value in zip(each, values, strict=True)],
        lambda values: tuple(one.read(value) for one, value in zip(each, values, strict=True)),
        f"({','.join(one.shape for one in each)})",
    )


def _dictionary(key: Any, value: Any) -> Codec:
    """As pairs: keys may be tuples, which objects of JSON cannot have."""
    keys, values = codec_of(key), codec_of(value)
    return Codec(
        lambda found: [[keys.write(k), values.write(v)] for k, v in found.items()],
        lambda pairs: {keys.read(k): values.read(v) for k, v in pairs},
        f"{{{keys.shape}:{values.shape}}}",
    )


def _array_written(array: np.ndarray) -> list[Any]:
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [array.dtype.str, list(array.shape), content]


def _array_read(parts: list[Any]) -> np.ndarray:
    dtype, shape, content = parts
    return np.frombuffer(base64.b64decode(content), dtype=np.dtype(dtype)).reshape(shape)


def _dataclass(kind: type) -> Codec:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    each = [codec_of(hints[name]) for name in names]
    shape = ",".join(f"{name}:{one.shape}" for name, one in zip(names, each, strict=True))
    return Codec(
        lambda value: [
            one.write(getattr(value, name)) for name, one in zip(names, each, strict=True)
        ],
        lambda parts: kind(
            **{name: one.read(part) for name, one, part in zip(names, each, parts, strict=True)}
        ),
        f"{kind.__qualname__}({shape})",
    )
