"""Cache slow reads: for some seconds in each process, and longer if reading takes long, so that it
never takes more than a small share of the time, however many people ask."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cachetools import TLRUCache, cached

Read = TypeVar("Read")
# A value is cached for this many times the time that reading it took.
TIMES_AS_LONG = 20
# Cache size per process: counts, and arrays of ids.
MOST_BYTES = 32 * 2**20


# Values, with the seconds for which each is cached.
_kept: TLRUCache[Hashable, tuple[Any, float]] = TLRUCache(
    MOST_BYTES,
    lambda _key, kept, now: now + kept[1],
    getsizeof=lambda kept: 1000 + int(getattr(kept[0], "nbytes", 0)),
)


def read_seldom(key: Hashable, read: Callable[[], Read], *, seconds: float) -> Read:
    """Return `read()`, or its cached value of some seconds ago.

    Args:
        key: what is read, with everything that it depends on.
        seconds: how long the value is cached at least.
    """
    value: Read = _read(key, read, seconds)[0]
    return value


# Of several threads that read the same key, one reads and the others wait for it.
@cached(_kept, key=lambda key, _read, _seconds: key, condition=threading.Condition())
def _read(_key: Hashable, read: Callable[[], Any], seconds: float) -> tuple[Any, float]:
    began = time.monotonic()
    value = read()
    return value, max(seconds, TIMES_AS_LONG * (time.monotonic() - began))


def forget() -> None:
    """Clear the cache, for tests."""
    _read.cache_clear()
