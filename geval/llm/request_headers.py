"""Headers that an endpoint's calls carry beside the key, as gateways ask for. Pure."""

import re
from collections.abc import Mapping

MOST_HEADERS = 20
LONGEST_VALUE = 4_000
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x20-\x7e\t]+")
# Those of a connection, of a body and of the key are ours.
_OURS = re.compile(
    r"(?:accept|authorization|connection|content|expect|host|keep-alive|proxy|te|trailer|transfer"
    r"|upgrade|user-agent|x-stainless)(?:-.*)?",
    re.I,
)


def read_headers(written: str) -> dict[str, str]:
    """Return the headers of a text with one in each line, such as `x-team: research`.

    Raises:
        ValueError: a line is no header; the message says which, without its value.
    """
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    pairs = [line.partition(":") for line in lines]
    for number, (_name, colon, _value) in enumerate(pairs, start=1):
        if not colon:
            raise ValueError(f"Line {number} is no header. Write it as “name: value”.")
    return checked_headers({name.strip(): value.strip() for name, _colon, value in pairs})


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers that calls can carry.

    Raises:
        ValueError: they cannot; the message names the header, not its value.
    """
    if len(headers) > MOST_HEADERS:
        raise ValueError(f"There are {len(headers)} headers; at most {MOST_HEADERS} are sent.")
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"“{name[:100]}” is not the name of a header.")
        if _OURS.fullmatch(name):
            raise ValueError(f"The header {name} is set by each call itself. Leave it out.")
        if len(value) > LONGEST_VALUE or not _VALUE.fullmatch(value):
            raise ValueError(
                f"The value of {name} cannot be sent: it is empty, too long, or has characters"
                " other than those of ASCII."
            )
    return dict(headers)
