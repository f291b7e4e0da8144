"""Cache slow reads: for some seconds in each process, and longer if reading takes long, so that it
never takes more than a small share of the time, however many people ask."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from cachetools import TLRUCache, cached

Read = TypeVar("Read")
# A value is cached for this many times the time that reading it took.
TIMES_AS_LONG = 20
# Cache size per process: counts, and arrays of ids.
MOST_BYTES = 32 * 2**20


@dataclass(frozen=True)
class _Kept:
    value: Any
    for_seconds: float

    @property
    def bytes(self) -> int:
        return 1000 + int(getattr(self.value, "nbytes", 0))


def _until(_key: Hashable, kept: _Kept, now: float) -> float:
    return now + kept.for_seconds


_kept: TLRUCache[Hashable, _Kept] = TLRUCache(MOST_BYTES, _until, getsizeof=lambda kept: kept.bytes)


def read_seldom(key: Hashable, read: Callable[[], Read], *, seconds: float) -> Read:
    """Return `read()`, or its cached value of some seconds ago.

    Args:
        key: what is read, with everything that it depends on.
        seconds: how long the value is cached at least.
    """
    value: Read = _read(key, read, seconds).value
    return value


# Of several threads that read the same key, one reads and the others wait for it.
@cached(_kept, key=lambda key, _read, _seconds: key, condition=threading.Condition())
def _read(_key: Hashable, read: Callable[[], Any], seconds: float) -> _Kept:
    began = time.monotonic()
    value = read()
    return _Kept(value, max(seconds, TIMES_AS_LONG * (time.monotonic() - began)))


def forget() -> None:
    """Clear the cache, for tests."""
    _read.cache_clear()
