"""A cache of results by the contents of their inputs, so that a report computes only what
changed."""

import hashlib
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache, cached

Result = TypeVar("Result")
# Tables are kept while nothing changes, so their digests are cached with them.
_known: dict[int, tuple[weakref.ref[np.ndarray], bytes]] = {}
# Of a report's parts, which are small: those of a few projects with all their judges.
MOST_RESULTS = 4000

_results: LRUCache[bytes, Any] = LRUCache(MOST_RESULTS)
_changed = threading.Condition()


def digest_of_array(array: np.ndarray) -> bytes:
    """Return a digest of an array's shape, type and contents, which must not change afterwards."""
    kept = _known.get(id(array))
    if kept is not None and kept[0]() is array:
        return kept[1]
    digest = hashlib.blake2b(repr((array.shape, array.dtype.str)).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).data)
    key = id(array)
    _known[key] = (weakref.ref(array, lambda _gone: _known.pop(key, None)), digest.digest())
    return _known[key][1]


def remembered(compute: Callable[..., Result], *arguments: Any) -> Result:
    """Return `compute(*arguments)`, cached by its arguments.

    Arrays count by their contents, which must not change afterwards, everything else by its `repr`;
    the function must depend on nothing else.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"
    return remembered_as(name, arguments, lambda: compute(*arguments))


def remembered_as(name: str, parts: Iterable[Any], compute: Callable[[], Result]) -> Result:
    """Return `compute()`, cached under a name and parts, which must be all that it depends on.

    If several threads ask for the same result, one computes and the others wait.
    """
    result: Result = _computed(digest_of(name, parts), compute)
    return result


def remembered_each(
    name: str,
    wanted: Sequence[tuple[Any, ...]],
    compute: Callable[[list[int]], Sequence[Result]],
) -> list[Result]:
    """Return the results for several parts, where computing them together is cheaper than one by
    one.

    Args:
        wanted: the parts that each result depends on.
        compute: takes the indexes of results that are not cached, and returns these.
    """
    keys = [digest_of(name, parts) for parts in wanted]
    with _changed:
        results = {key: _results[key] for key in keys if key in _results}
    missing = [index for index, key in enumerate(keys) if key not in results]
    if missing:
        results |= zip([keys[index] for index in missing], compute(missing), strict=True)
        with _changed:
            for index in missing:
                _results[keys[index]] = results[keys[index]]
    return [results[key] for key in keys]


@cached(_results, key=lambda key, _compute: key, condition=_changed)
def _computed(_key: bytes, compute: Callable[[], Any]) -> Any:
    return compute()


def forget() -> None:
    """Clear the cache, for measurements and tests."""
    with _changed:
        _results.clear()


def digest_of(name: str, parts: Iterable[Any]) -> bytes:
    """Return a digest of a name and values, as for `remembered`."""
    digest = hashlib.blake2b(name.encode(), digest_size=16)
    _add(digest, parts)
    return digest.digest()


def _add(digest: hashlib.blake2b, parts: Iterable[Any]) -> None:
    for value in parts:
        if isinstance(value, np.ndarray):
            digest.update(digest_of_array(value))
        elif is_dataclass(value):
            _add(digest, (getattr(value, field.name) for field in fields(value)))
        else:
            digest.update(repr(value).encode())
        digest.update(b"\0")
