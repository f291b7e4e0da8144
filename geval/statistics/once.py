"""A cache for results that several judges on a criterion share, such as the ranks of people's mean
ratings."""

import hashlib
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from cachetools import LRUCache

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")
# Few, as each may be as large as all outputs of a project.
MOST_KEPT = 8
# Tables are kept while nothing changes, so their digests are cached with them.
_known: dict[int, tuple[weakref.ref[np.ndarray], bytes]] = {}


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


def once(compute: Callable[Inputs, Result]) -> Callable[Inputs, Result]:
    """Cache a function's last results, by the contents of its arrays and the `repr` of its other
    arguments.

    It must depend on nothing else, and the arrays must not change afterwards. Returned arrays are
    read-only.
    """
    kept: LRUCache[bytes, Result] = LRUCache(MOST_KEPT)
    lock = threading.Lock()

    @wraps(compute)
    def found(*args: Inputs.args, **kwargs: Inputs.kwargs) -> Result:
        key = _key((*args, *sorted(kwargs.items())))
        with lock:
            if key in kept:
                return kept[key]
        result = compute(*args, **kwargs)
        if isinstance(result, np.ndarray):
            result.flags.writeable = False
        with lock:
            kept[key] = result
        return result

    return found


def _key(arguments: tuple[object, ...]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            digest.update(digest_of_array(argument))
        else:
            digest.update(repr(argument).encode())
    return digest.digest()
