"""What stands in a form's hidden fields, which a page writes and anybody can change. Pure."""

MOST_DIGITS = 18  # fits into a bigint, and is no work to read


def whole_number(text: str, *, default: int) -> int:
    """A whole number from 0 up as a page writes it; the default for anything else."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else default
