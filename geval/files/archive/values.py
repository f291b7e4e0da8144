"""Check values of an archive's fields against the types of their columns."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic import ValidationError

from geval.files.archive.errors import WrongValueError
from geval.files.certificates import first_problem
from geval.files.limits import has_more_names, is_too_deep, too_deep
from geval.statistics.scales import is_number

# The most errors reported for a field, as each takes a kilobyte. Of lists only the first is
# reported (shapes.py).
MOST_NAMES = 200_000


def check_field(name: str, check: Callable[[Any], object], value: Any) -> None:
    """Check the value of a field.

    Raises:
        WrongValueError: it is invalid; the message has the field's name.
    """
    try:
        check(value)
    except WrongValueError as error:
        raise WrongValueError(f"{name} {error}") from None
    except ValidationError as error:
        raise WrongValueError(f"{name}: {first_problem(error)}") from None


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
