"""Read hidden form fields and query strings, which anybody can change. Pure."""

MOST_DIGITS = 18  # fits in a bigint, and is quick to parse


def whole_number(text: str, *, default: int) -> int:
    """Return a whole number, 0 or more, as a page writes it; the default for anything else."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else default
