"""Read hidden form fields and addresses, which anybody can change. Pure."""

MOST_DIGITS = 18  # fits into a bigint, and is quick to read


def whole_number(text: str, *, default: int) -> int:
    """A whole number, 0 or more, as a page writes it; the default for anything else."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else default
