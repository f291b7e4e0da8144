"""Values of an archive's fields, each as the kind of its column holds it."""

from decimal import Decimal, InvalidOperation
from typing import Any

from geval.files.limits import has_more_names, is_too_deep, too_deep
from geval.statistics.scales import is_number

# In one field: each that is wrong would take a kilobyte of the error. Of lists the first is all
# that is said (archive_shapes.py).
MOST_NAMES = 200_000


class WrongValueError(ValueError):
    """A value that no form would accept; the message says what is wrong with it."""


def whole_value(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError(f"is not a whole number ({str(value)[:40]})")
    return value


def number_value(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not is_number(value):
        raise WrongValueError(f"is not a number that can be stored ({str(value)[:40]})")
    return value


def decimal_value(value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise WrongValueError(f"is not an amount ({str(value)[:40]})")
    return number


def flag_value(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"is neither true nor false ({str(value)[:40]})")
    return value


def text_value(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise WrongValueError("is not a text")
    return value


def json_value(value: Any) -> Any:
    if is_too_deep(value):
        raise WrongValueError(f"is wrong: {too_deep()}")
    if has_more_names(value, MOST_NAMES):
        raise WrongValueError(f"has more than {MOST_NAMES:,} names")
    return value
