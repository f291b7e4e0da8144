"""Format numbers for pages, downloads and the terminal."""

from decimal import Decimal

from geval.statistics.resampling import Interval
from geval.statistics.scales import short
from geval.statistics.types import Estimate

# A narrow space without a line break.
NARROW = "\u202f"
MOST_DIGITS = 18  # fits in a bigint, and is quick to parse


def shown(estimate: Estimate) -> str:
    """Format with two decimals and a true minus, or a dash for an undefined value."""
    return or_dash(estimate.value)


def or_dash(number: float | None) -> str:
    """Format with two decimals and a true minus, or a dash for a missing number."""
    return "–" if number is None else two_decimals(number)


def in_brackets(interval: Interval) -> str:
    """Format an interval in brackets with true minuses; empty where there is none."""
    if interval.ends is None:
        return ""
    low, high = interval.ends
    return f"[{two_decimals(low)}, {two_decimals(high)}]"


def signed(value: float, places: int = 2) -> str:
    """Format a difference with its sign and a true minus."""
    text = f"{value:+.{places}f}"
    return f"{0:.{places}f}" if float(text) == 0 else text.replace("-", "−")


def p_value(p: float) -> str:
    """Format a p-value with three decimals, never as 0."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def thin(number: float) -> str:
    """Round to an integer, with narrow spaces between thousands, as on the whole site."""
    return f"{number:,.0f}".replace(",", NARROW)


def with_decimals(number: float, places: int = 2) -> str:
    """Format with a number of decimals and a true minus; 0 has no sign."""
    return f"{number:z.{places}f}".replace("-", "−")


def with_separator(number: float, separator: str) -> str:
    """Format a number with only the decimals that it has, after a language's separator."""
    return short(number).replace(".", separator)


def two_decimals(number: float) -> str:
    """Format with two decimals and a true minus."""
    return with_decimals(number, 2)


def label_or_number(answer: float | str) -> str:
    """Format an answer: a label as it is, a number with two decimals."""
    return answer if isinstance(answer, str) else two_decimals(answer)


def money(amount: float | Decimal) -> str:
    """Format an amount in the user's currency: two decimals, none from a thousand."""
    return thin(float(amount)) if amount >= 1000 else f"{amount:.2f}"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Format a count with its noun, such as "1 run" or "2 searches"."""
    return f"{thin(number)} {singular if number == 1 else plural or singular + 's'}"


def whole_percent(share: float) -> str:
    """Format a share in whole percents, without a line break before the sign."""
    return f"{100 * share:.0f}{NARROW}%"


def percents(share: float) -> str:
    """Format a share in percents, with a decimal where it is small."""
    return f"{100 * share:.{1 if share < 0.1 else 0}f} %"


def in_percents(low: float | None, high: float | None) -> str:
    """Format an interval of shares in brackets; empty where there is none."""
    if low is None or high is None or low == high:
        return ""
    return f"[{percents(low)}, {percents(high)}]"


def in_time(seconds: float) -> str:
    """Format a duration: "40 s", "3 min", "2 h 10 min", "3 days"."""
    if seconds < 59.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{round(minutes / (24 * 60))} days"


def whole_number(text: str, *, default: int) -> int:
    """Return a whole number, 0 or more, as a hidden field or a query string has it, which anybody
    can change; the default for anything else."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else default
