"""Cache results by their inputs, so that a report computes only what has changed."""

import hashlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")
MOST_RESULTS = 4000

_results: OrderedDict[bytes, Any] = OrderedDict()
_gates: dict[bytes, threading.Lock] = {}
_lock = threading.Lock()


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
    key = _digest(name, parts)
    with _lock:
        if key in _results:
            _results.move_to_end(key)
            found: Result = _results[key]
            return found
        gate = _gates.setdefault(key, threading.Lock())
    with gate:
        with _lock:
            if key in _results:
                computed: Result = _results[key]
                return computed
        try:
            computed = compute()
            with _lock:
                _results[key] = computed
                while len(_results) > MOST_RESULTS:
                    _results.popitem(last=False)
            return computed
        finally:
            with _lock:
                _gates.pop(key, None)


def forget() -> None:
    """Forget everything, for measuring and for tests."""
    with _lock:
        _results.clear()


def _digest(name: str, parts: Iterable[Any]) -> bytes:
    digest = hashlib.blake2b(name.encode(), digest_size=16)
    for value in parts:
        if isinstance(value, np.ndarray):
            digest.update(_of_array(value))
        else:
            digest.update(repr(value).encode())
        digest.update(b"\0")
    return digest.digest()


# Tables live as long as nothing changes, so their digests are kept with them.
_arrays: dict[int, tuple[weakref.ref[np.ndarray], bytes]] = {}


def _of_array(array: np.ndarray) -> bytes:
    known = _arrays.get(id(array))
    if known is not None and known[0]() is array:
        return known[1]
    digest = hashlib.blake2b(repr((array.shape, array.dtype.str)).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array).tobytes())
    key = id(array)
    _arrays[key] = (weakref.ref(array, lambda _gone: _arrays.pop(key, None)), digest.digest())
    return _arrays[key][1]
