"""A cache for results that several judges on a criterion share, such as the ranks of people's mean
ratings."""

import hashlib
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from cachetools import LRUCache

from geval.statistics.digests import digest_of_array

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")
# Few, as each may be as large as all outputs of a project.
MOST_KEPT = 8


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
