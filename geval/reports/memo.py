"""Cache results by their inputs, so that a report computes only what has changed."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache, cached

from geval.statistics.digests import digest_of_array

Result = TypeVar("Result")
MOST_RESULTS = 4000

_results: LRUCache[bytes, Any] = LRUCache(MOST_RESULTS)
_changed = threading.Condition()


def remembered(compute: Callable[..., Result], *arguments: Any, **more: Any) -> Result:
    """`compute(*arguments, **more)`, or what it gave for the same arguments before.

    Arrays count by their contents, which must not change afterwards, everything else by its `repr`;
    the function must depend on nothing else.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"
    parts = (*arguments, *(part for pair in sorted(more.items()) for part in pair))
    return remembered_as(name, parts, lambda: compute(*arguments, **more))


def remembered_as(name: str, parts: Iterable[Any], compute: Callable[[], Result]) -> Result:
    """`compute()`, or what it gave before under the same name and parts, which are all that it
    depends on.

    Where several threads ask for the same, one computes and the others wait for it.
    """
    result: Result = _computed(digest_of(name, parts), compute)
    return result


def remembered_each(
    name: str,
    wanted: Sequence[tuple[Any, ...]],
    compute: Callable[[list[int]], Sequence[Result]],
) -> list[Result]:
    """The results for several parts, where computing them together costs less than one by one.

    Args:
        wanted: the parts that each result depends on.
        compute: takes the positions of those that are not known, and gives their results.
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
    """Forget everything, for measuring and for tests."""
    with _changed:
        _results.clear()


def digest_of(name: str, parts: Iterable[Any]) -> bytes:
    """A digest of a name and of values, as `remembered` takes them."""
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
