"""Additional fields of a judge's requests: a checked JSON object for the provider, such as
`{"reasoning_effort": "low"}`. Pure."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from geval.llm.requests import OWN_PARAMETERS
from geval.texts.spelling import storable

# Longer or deeper options are a mistake: they are sent with each call, and are part of each digest.
MOST_CHARACTERS = 4_000
MOST_DEPTH = 6
# PostgreSQL accepts any integer, the digest of a request only these.
MOST_INTEGER = 2**63 - 1
# Compared with names without dashes and underscores; "max_tokens" is not a secret token.
_SECRET = re.compile(
    r"apikey|authori[sz]ation|secret|passw(?:or)?d|credential|cookie|bearer|headers?$"
    r"|^(?:access|auth|id|refresh|session)?token$"
)
_SECRET_VALUE = re.compile(r"^(?:Bearer |sk-[\w-]{16})")
# Gateways would send the call to these addresses, with their own keys.
_ADDRESSES = frozenset({"apibase", "baseurl"})


def read_options(options: Any) -> dict[str, Any]:
    """Read and check options, from JSON or its text; empty for none.

    Raises:
        ValueError: they may not be sent; the message says why and what to do.
    """
    if isinstance(options, str):
        try:
            options = json.loads(options) if options.strip() else {}
        except (ValueError, RecursionError):
            raise ValueError(
                'request options are a JSON object, such as {"reasoning_effort": "low"}'
            ) from None
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError('request options are a JSON object, such as {"reasoning_effort": "low"}')
    for name in options:
        if name in OWN_PARAMETERS:
            raise ValueError(f"“{name}” is set by the judge itself; leave it out")
        if name == "text" and isinstance(options[name], Mapping) and "format" in options[name]:
            raise ValueError("“text.format” is set by the judge itself; leave it out")
    for name, value, depth in _parts(options):
        _check(name, value, depth)
    if len(json.dumps(options, ensure_ascii=False)) > MOST_CHARACTERS:
        raise ValueError(f"request options have at most {MOST_CHARACTERS} characters")
    return dict(options)


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as JSON for editing and showing; empty for none."""
    return json.dumps(options, ensure_ascii=False) if options else ""


RequestOptions = Annotated[dict[str, Any], BeforeValidator(read_options)]
# As they are stored, where text would stay text.
StoredOptions = Annotated[dict[str, Any], AfterValidator(read_options)]


def _parts(options: Mapping[str, Any]) -> Iterator[tuple[str, Any, int]]:
    """Yield each value at any depth with its name (for a list's values: the list's) and its
    depth."""
    waiting: list[tuple[str, Any, int]] = [("", options, 0)]
    while waiting:
        name, value, depth = waiting.pop()
        yield name, value, depth
        if depth > MOST_DEPTH:
            continue  # the caller raises the error
        if isinstance(value, Mapping):
            waiting += [(inner, each, depth + 1) for inner, each in value.items()]
        elif isinstance(value, list):
            waiting += [(name, each, depth + 1) for each in value]


def _check(name: Any, value: Any, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise ValueError(f"request options are nested at most {MOST_DEPTH} deep")
    if not isinstance(name, str) or storable(name) != name:
        raise ValueError("a name in request options is not a text that can be stored")
    bare = re.sub(r"[\W_]", "", name.lower())
    is_secret = isinstance(value, str) and _SECRET_VALUE.match(value)
    if is_secret or _SECRET.search(bare):
        raise ValueError(f"“{name}” looks like a key, which belongs to the endpoint; leave it out")
    if bare in _ADDRESSES:
        raise ValueError(f"“{name}” is an address, which belongs to the endpoint; leave it out")
    if value is None or isinstance(value, bool | Mapping | list):
        return
    if isinstance(value, str):
        if storable(value) != value:
            raise ValueError(f"“{name}” has characters that cannot be stored")
    elif isinstance(value, int):
        if abs(value) > MOST_INTEGER:
            raise ValueError(f"“{name}” is a number beyond 64 bits")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"“{name}” is no JSON number")
