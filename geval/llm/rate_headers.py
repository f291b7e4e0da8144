"""Read rate limits from a reply's headers: how many calls are left, until when, and how long to
wait. Pure.

The headers are `Retry-After` and `retry-after-ms`, OpenAI's `x-ratelimit-*`, Anthropic's
`anthropic-ratelimit-*`, and the plain `x-ratelimit-*` and `ratelimit-*` of other servers. Values
that make no sense are ignored.
"""

import datetime
import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

# Numbers as large as these are timestamps since 1970, in seconds or milliseconds.
_EPOCH_SECONDS, _EPOCH_MILLISECONDS = 1e9, 1e12
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ms|[dhms])")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_REQUESTS = (
    ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    (
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ),
    ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"),
)
_TOKENS = (
    ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    (
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ),
)

# A reply with none of these states no limits.
NAMES_LIMITS = tuple(remaining for _, remaining, _ in (*_REQUESTS, *_TOKENS))


@dataclass(frozen=True)
class RateAllowance:
    """What is left of a limit, and in how many seconds it is fully restored."""

    limit: float
    remaining: float
    resets_in: float

    @property
    def per_second(self) -> float | None:
        """How much is refilled per second, if the limit refills steadily.

        For a limit that is renewed all at once this is too high at first, never too low. The limit
        alone would not tell: windows are seconds, minutes or days.
        """
        used = self.limit - self.remaining
        return used / self.resets_in if used > 0 and self.resets_in > 0 else None


@dataclass(frozen=True)
class RateHeaders:
    """The limits that a reply names. `next_in` is in how many seconds the next call may pass, where
    the server states it in milliseconds."""

    requests: RateAllowance | None = None
    tokens: RateAllowance | None = None
    next_in: float | None = None

    def exhausted(self) -> list[RateAllowance]:
        """Return the limits that are used up."""
        named = (self.requests, self.tokens)
        return [allowance for allowance in named if allowance and allowance.remaining < 1]


def read_rate_headers(headers: Mapping[str, str], *, now: float | None = None) -> RateHeaders:
    """Read the limits in headers.

    Args:
        now: seconds since 1970, for headers with timestamps; by default the current time.
    """
    moment = time.time() if now is None else now
    return RateHeaders(
        requests=_allowance(headers, _REQUESTS, moment),
        tokens=_allowance(headers, _TOKENS, moment),
        next_in=_positive(_number(headers.get("retry-after-ms", "")), scale=0.001),
    )


def retry_seconds(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Return in how many seconds to retry; None if the server names no time in the future."""
    exactly = _positive(_number(headers.get("retry-after-ms", "")), scale=0.001)
    if exactly is not None:
        return exactly
    written = headers.get("retry-after", "")
    seconds = _number(written)
    if seconds is None:
        try:
            until = email.utils.parsedate_to_datetime(written)
        except (ValueError, IndexError, OverflowError):
            return None
        if until.tzinfo is None:
            return None
        seconds = until.timestamp() - (time.time() if now is None else now)
    return _positive(seconds)


def seconds_until(written: str, *, now: float) -> float | None:
    """Return the seconds until a reset, written as "6m0s", "120ms", seconds, a timestamp since
    1970, or RFC 3339."""
    text = written.strip().lower()
    number = _number(text)
    if number is not None:
        if number >= _EPOCH_MILLISECONDS:
            number = number / 1000 - now
        elif number >= _EPOCH_SECONDS:
            number -= now
        return max(0.0, number)
    if _DURATION.fullmatch(text):
        return sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(text))
    try:
        moment = datetime.datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, moment.timestamp() - now)


def _allowance(
    headers: Mapping[str, str], spellings: tuple[tuple[str, str, str], ...], now: float
) -> RateAllowance | None:
    for limit_name, remaining_name, reset_name in spellings:
        if remaining_name not in headers:
            continue
        limit = _number(headers.get(limit_name, ""))
        remaining = _number(headers[remaining_name])
        resets_in = seconds_until(headers.get(reset_name, ""), now=now)
        if limit is not None and remaining is not None and resets_in is not None and limit > 0:
            return RateAllowance(limit, min(max(0.0, remaining), limit), resets_in)
    return None


def _number(written: str) -> float | None:
    """Parse a finite number, else None; `1_000`, which Python accepts, is not a number."""
    try:
        number = float(written) if "_" not in written else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _positive(number: float | None, *, scale: float = 1.0) -> float | None:
    return number * scale if number is not None and number > 0 else None
