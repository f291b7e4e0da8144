"""Serialise results for other processes: compressed JSON, read back by their annotations.

Dataclasses, tuples, dictionaries with any keys, enumerations of texts, times and arrays are
restored as equal, including NaN. Unlike with pickle, reading executes nothing.
"""

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import EnumType
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

Result = TypeVar("Result")
PLAIN = (str, int, float, bool, NoneType, Any, Literal)


def stored(value: object) -> bytes:
    """Serialise a value.

    Raises:
        TypeError: it contains a value of a type that cannot be stored.
    """
    return zlib.compress(json.dumps(_plain(value), separators=(",", ":")).encode())


def restored(content: bytes | memoryview, kind: type[Result]) -> Result:
    """Restore a value of a type from `stored`. Its arrays are read-only."""
    return cast(Result, _reader(cast(Any, kind))(json.loads(zlib.decompress(content))))


def shape_of(*kinds: Any) -> str:
    """Return a short text that changes with the types, when older stored values can no longer be
    read."""
    inside, waiting = {}, list(kinds)
    for kind in waiting:
        if repr(kind) not in inside:
            hints = get_type_hints(kind) if is_dataclass(kind) else {}
            inside[repr(kind)] = hints
            waiting += [*hints.values(), *get_args(kind)]
    return hashlib.md5(repr(inside).encode(), usedforsecurity=False).hexdigest()


def _plain(value: Any) -> Any:
    """A value as JSON: dictionaries are pairs where a key is not a text, such as a tuple."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, dict):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, b64encode(value.tobytes()).decode()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value)} cannot be stored; see geval/reports/stored.py.")


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what makes a value of a type from JSON."""
    origin, inside = get_origin(kind) or kind, get_args(kind)
    if origin in PLAIN:
        return float if kind is float else lambda value: value
    if origin in (Union, UnionType) and inside[1:] == (NoneType,):
        read = _reader(inside[0])
        return lambda value: None if value is None else read(value)
    if isinstance(origin, EnumType):
        return origin
    if origin is datetime:
        return datetime.fromisoformat
    if origin is np.ndarray:
        return lambda parts: np.frombuffer(b64decode(parts[2]), parts[0]).reshape(parts[1])
    if origin in (dict, Mapping):
        key, value = map(_reader, inside)
        return lambda pairs: {
            key(first): value(second)
            for first, second in (pairs.items() if isinstance(pairs, dict) else pairs)
        }
    if origin is list or inside[1:] == (...,):
        read = _reader(inside[0])
        return lambda values: origin(map(read, values))
    if origin is tuple:
        return _each(lambda *values: values, inside)
    if is_dataclass(origin):
        hints = get_type_hints(origin)
        return _each(cast(type, origin), [hints[field.name] for field in fields(origin)])
    raise TypeError(f"{kind} cannot be restored; see geval/reports/stored.py.")


def _each(make: Callable[..., Any], kinds: Any) -> Callable[[Any], Any]:
    readers = [_reader(kind) for kind in kinds]
    return lambda values: make(*(read(value) for read, value in zip(readers, values, strict=True)))
