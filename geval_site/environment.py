"""Read typed values from the environment; errors name the variable and the expected value."""

import os
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def text(name: str, *, default: str = "", env: Mapping[str, str] = os.environ) -> str:
    """Return the variable's text without surrounding blanks; an empty variable counts as not
    set."""
    return env.get(name, "").strip() or default


def flag(name: str, *, default: bool, env: Mapping[str, str] = os.environ) -> bool:
    value = text(name, env=env).lower()
    if not value:
        return default
    if value in TRUE | FALSE:
        return value in TRUE
    raise ImproperlyConfigured(
        f"{name} is {value!r}; write 1 or 0 (or true/false, yes/no, on/off)."
    )


def whole(name: str, *, default: int, least: int = 0, env: Mapping[str, str] = os.environ) -> int:
    value = text(name, env=env)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number.") from None
    if number < least:
        raise ImproperlyConfigured(f"{name} is {number}; it must be at least {least}.")
    return number


def megabytes(
    name: str, *, default: int, least: int = 1, env: Mapping[str, str] = os.environ
) -> int:
    """Return a size in bytes, written in whole megabytes of 2**20; `default` is in bytes."""
    return whole(name, default=default // 2**20, least=least, env=env) * 2**20


def seconds(name: str, *, default: float, env: Mapping[str, str] = os.environ) -> float:
    """Return a duration; fractions are allowed."""
    value = text(name, env=env)
    if not value:
        return default
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ImproperlyConfigured(f"{name} is {value!r}; write a number of seconds, as in 0.5.")
    return number


def money(name: str, *, default: str, env: Mapping[str, str] = os.environ) -> Decimal:
    """Return an amount, in whatever currency the site's endpoints bill."""
    value = text(name, default=default, env=env)
    try:
        amount = Decimal(value)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise ImproperlyConfigured(f"{name} is {value!r}; write an amount, as in 25.50.")
    return amount


def choice(
    name: str, *, default: str, among: tuple[str, ...], env: Mapping[str, str] = os.environ
) -> str:
    value = text(name, default=default, env=env)
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of {', '.join(among)}.")
    return value


def words(
    name: str, *, default: tuple[str, ...] = (), env: Mapping[str, str] = os.environ
) -> list[str]:
    """Return a comma-separated list."""
    value = text(name, env=env)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)


def folder(name: str, *, default: Path, env: Mapping[str, str] = os.environ) -> Path:
    value = text(name, env=env)
    return Path(value).expanduser().absolute() if value else default


def rate(name: str, *, default: str, env: Mapping[str, str] = os.environ) -> str:
    """Return a rate per second, minute, hour or day, such as `600/m`."""
    value = text(name, default=default, env=env)
    if not re.fullmatch(r"[1-9]\d*/[smhd]", value):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; write a number per s, m, h or d, as in 600/m."
        )
    return value
