"""A field that nobody reads, in a sentence that says what was probably meant."""

import difflib
from collections.abc import Sequence


def unknown_field(name: str, allowed: Sequence[str]) -> str:
    """The name, the nearest of those that are allowed, and all of them."""
    if not allowed:
        return f"{name[:80]!r} is not a field here; there are none."
    near = difflib.get_close_matches(name[:80], allowed, n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"{name[:80]!r} is not a field here.{meant} Fields: {', '.join(allowed)}."
